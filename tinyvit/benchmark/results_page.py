"""What was measured on a GPU as a page of Markdown, whose tables are ready for MEASUREMENTS.md."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from tinyvit.benchmark.gpu_table import gpu_table
from tinyvit.benchmark.jobs import Job
from tinyvit.benchmark.on_gpu import RIVAL, WAYS

_SPEEDS = """\
| images/s | tinyvit | of the roofline | memory, MB | PyTorch, autocast | all weights in bf16 | speed |
|---|---:|---:|---:|---:|---:|---|"""
_COMMANDS = "| command | result | seconds | its last line |\n|---|---|---:|---|"
_MOST = 2000  # characters that a failed command has printed last, and of its errors


def page(facts: Mapping[str, str], records: Mapping[str, dict], jobs: Sequence[Job], command: str) -> str:
    """The page of these records, by their commands; facts are of the machine and the sources."""
    rows, failures = [], []
    for each, record in records.items():
        last = record["output"].rpartition("\n")[2].replace("|", "\\|")
        rows.append(f"| `{each}` | {record['status']} | {record['seconds']:.0f} | {last} |")
        if record["status"] != "ok":
            said = [record[stream][-_MOST:] for stream in ("output", "errors") if record[stream]]
            failures.append("\n".join((f"`{each}`:\n\n```", *said, "```")))
    dates = sorted(record["date"] for record in records.values())
    found = [record["result"] for record in records.values() if "sides" in record.get("result", {})]
    left = [f"- {job.name}: {job.missing or f'{job.seconds} s'}" for job in jobs if job.left(records)]
    sections = (
        f"# tinyvit on {facts['card']}, {dates[0]} to {dates[-1]}",
        "\n".join(f"- {name}: {value}" for name, value in facts.items()),
        f"`{command}`. The last column is the speed beside PyTorch ({RIVAL}) in pairs timed in turn: their "
        "median and range.",
        "\n".join((_SPEEDS, *_speeds(found))),
        "\n".join((_COMMANDS, *rows)),
        "\n".join(("Not done yet:\n", *left)) if left else "",
        *failures,
        *(f"```\n{gpu_table(result)}\n```" for result in found if "kernels" in result),
    )
    return "\n\n".join(filter(None, sections)) + "\n"


def _speeds(found: Iterable[dict]) -> Iterator[str]:
    """A row for each case and engine: alone, and beside the ways of PyTorch that were measured."""
    cases: dict[str, list[dict]] = {}
    for result in found:
        cases.setdefault(f"{result['case']} {result['sides'][0]['name']}", []).append(result)
    for results in cases.values():
        case, own, share = results[0]["case"], results[0]["sides"][0], results[0].get("share_of_roofline")
        rivals = [
            (side, result["ratios"][side["name"]]) for result in results for side in result["sides"][1:]
        ]
        speed = {side["name"].split()[-1]: f"{side['images_per_second']:,.0f}" for side, _ in rivals}
        _, ratios = min(rivals, key=lambda rival: rival[0]["ms_per_step"], default=(None, None))
        cells = (
            f"{case['mode']}, {case['model']}, batch {case['batch']:,}, {own['name'].split()[-1]}",
            f"{own['images_per_second']:,.0f}",
            f"{100 * share:.0f} %" if share else "",
            f"{own['peak_bytes'] / 1e6:,.0f}",
            *(speed.get(way, "") for way in WAYS),
            f"**{np.median(ratios):.2f}** ({min(ratios):.2f} to {max(ratios):.2f})" if ratios else "",
        )
        yield f"| {' | '.join(cells)} |"
