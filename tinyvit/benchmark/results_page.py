"""What was measured on a GPU as a page of Markdown, whose tables are ready for MEASUREMENTS.md."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from tinyvit.benchmark.gpu_table import gpu_table
from tinyvit.benchmark.jobs import Job
from tinyvit.benchmark.on_gpu import RIVAL, WAYS

_SPEED = """\
| images/s | tinyvit | of the roofline | memory, MB | PyTorch, autocast | all weights in bf16 | speed |
|---|---:|---:|---:|---:|---:|---|"""
_COMMANDS = "| command | result | seconds | its last line |\n|---|---|---:|---|"
_LINES = 15  # the last that a failed command has printed, and the last of its errors


def page(facts: Mapping[str, str], records: Mapping[str, dict], jobs: Sequence[Job], command: str) -> str:
    """The page of these records, by their commands; facts are of the machine and the sources."""
    dates = sorted(record["date"] for record in records.values())
    facts = {**facts, "measured": f"{dates[0]} to {dates[-1]}"}
    found = [record["result"] for record in records.values() if "sides" in record.get("result", {})]
    left = [f"- {job.name}: {job.missing or f'{job.seconds} s'}" for job in jobs if job.left(records)]
    failed = {each: record for each, record in records.items() if record["status"] != "ok"}
    sections = [
        f"# tinyvit on {facts['card']}",
        "\n".join(f"- {name}: {value}" for name, value in facts.items()),
        f"`{command}`. PyTorch is {RIVAL}; its speed is 1. Medians of pairs in turn, and their range.",
        "\n".join((_SPEED, *_speeds(found))),
        "\n".join((_COMMANDS, *(_row(each, record) for each, record in records.items()))),
        *(("Not done yet:\n\n" + "\n".join(left),) if left else ()),
        *(f"`{each}`:\n\n{_block(_last(record))}" for each, record in failed.items()),
        *(_block([gpu_table(result)]) for result in found if "kernels" in result),
    ]
    return "\n\n".join(sections) + "\n"


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


def _row(command: str, record: Mapping) -> str:
    last = record["output"].rpartition("\n")[2].replace("|", "\\|")
    return f"| `{command}` | {record['status']} | {record['seconds']:.0f} | {last} |"


def _last(record: Mapping) -> list[str]:
    return [line for name in ("output", "errors") for line in record[name].splitlines()[-_LINES:]]


def _block(lines: Sequence[str]) -> str:
    return "\n".join(("```", *lines, "```"))
