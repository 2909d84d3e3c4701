"""All that is measured and checked on a GPU, in a given time, the most important first.

    python -m tests.lab.gpu_report --minutes 9 --out results

Each command is a process of its own, its result on disk when it ends. In the folder, results-DIGEST.json has
what each command has found, and RESULTS.md is the page of it. The digest is one of tinyvit's sources and the
machine: if both are as before, the same call continues with what is not done yet.
"""

import argparse
import contextlib
import ctypes
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

import numpy as np

import tinyvit
from tests.lab.speed import RIVAL, WAYS, speed_table
from tinyvit.support.errors import UserError
from tinyvit.support.files.atomic import write_atomically
from tinyvit.support.shell.command import positive_float, some_path
from tinyvit.support.shell.ending import ending

MACHINE = "python -m tests.lab.ceilings"  # 15 s, before all others
_AGREEMENT = "python -m tests.lab.agreement"
_KILL = 9  # Windows has no name for it
_SIGNAL_AT_PARENTS_DEATH = 1  # PR_SET_PDEATHSIG of sys/prctl.h

_SPEEDS = """\
| images/s | tinyvit | of the roofline | memory, MB | PyTorch, autocast | all weights in bf16 | speed |
|---|---:|---:|---:|---:|---:|---|"""
_COMMANDS = "| command | result | seconds | its last line |\n|---|---|---:|---|"
_MOST = 2000  # characters that a failed command has printed last, and of its errors


class Job(NamedTuple):
    """Commands that may take so many seconds together; missing says why, if they cannot be run here.

    Each prints a JSON object, or text of which the last line says what came of it.
    """

    name: str
    seconds: int
    commands: Sequence[str]
    missing: str = ""

    def left(self, records: Mapping[str, dict]) -> list[str]:
        """The commands of which these records, by commands, do not say that they have ended well."""
        return [each for each in self.commands if records.get(each, {}).get("status") != "ok"]


def all_jobs() -> list[Job]:
    """The jobs after MACHINE. Those up to the plain path take nine minutes; a second call does the others."""
    tests, tool = Path(__file__).resolve().parents[1], "compute-sanitizer"
    no_torch = "" if find_spec("torch") else "PyTorch is not installed"
    no_tool = "" if shutil.which(tool) else f"{tool}, a part of the CUDA toolkit, is not on the PATH"
    ways, others = [f"--way {way}" for way in WAYS], [("train", 128), ("train", 2048), ("infer", 512)]
    return [
        Job("agreement with the reference", 60, [_AGREEMENT]),
        Job("train, batch 512", 60, _speed("train", 512)),
        Job("train, batch 512, beside PyTorch", 150, _speed("train", 512, *ways), no_torch),
        Job("tests", 200, [f"python -m pytest -m gpu -p no:cacheprovider {quote(str(tests))}"]),
        Job("the plain path", 20, _speed("train", 512, "--engine reference")[:1]),
        *(Job(f"{mode}, batch {n:,}", 60, _speed(mode, n)) for mode, n in others),
        *(
            Job(f"{mode}, batch {n:,}, beside PyTorch", 200, _speed(mode, n, *ways), no_torch)
            for mode, n in others
        ),
        Job("gradients", 120, ["python -m tinyvit.gradcheck --device gpu"]),
        Job("memory", 240, [f"{tool} --error-exitcode 1 {_AGREEMENT}"], no_tool),
        Job("races", 240, [f"{tool} --error-exitcode 1 --tool racecheck {_AGREEMENT}"], no_tool),
        Job("accuracy", 240, ["python -m tinyvit.train --device gpu --recipe gpu-2-minutes"]),
    ]


def _speed(mode: str, batch: int, *more: str) -> list[str]:
    """For both models, tinyvit alone and kernel by kernel, or in each of the ways that `more` has."""
    start = f"python -m tests.lab.speed --mode {mode} --batch-size {batch}"
    return [
        f"{start} {each} --model {model}"
        for each in more or ("--precision bf16",)
        for model in ("Ti/4", "S/4")
    ]


def measure(minutes: float, out: Path) -> int:
    """Carry out as many jobs as the time allows; returns the exit status, 1 if any has failed.

    A job does not begin if it may take longer than what is left. What has failed before comes last. Raises
    UserError if there is no GPU, or if the folder cannot be used.
    """
    deadline = time.monotonic() + 60 * minutes
    first = run(MACHINE, min(60, 60 * minutes))  # 15 s, but the libraries may still have to be read from disk
    if first["status"] != "ok":
        line = first["errors"].rpartition("\n")[2]
        raise UserError(
            line.partition(": error: ")[2] or f"the GPU was not examined: {first['status']}. {line}"
        )
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write into {out}: {error.strerror}. Choose another --out.") from error
    facts, jobs = first["result"]["machine"] | {"sources": sources()}, all_jobs()
    store = out / f"results-{hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]}.json"
    records = json.loads(store.read_bytes()) if store.exists() else {}
    again = f"python -m tests.lab.gpu_report --minutes {minutes:g} --out {quote(str(out))}"

    def keep(command: str, record: dict) -> None:
        records[command] = record
        text = page(facts | first["result"]["ceilings"], records, jobs, again)
        write_atomically(store, lambda file: file.write(json.dumps(records, indent=1).encode()))
        write_atomically(out / "RESULTS.md", lambda file: file.write(text.encode()))
        print(f"{record['seconds']:7.1f} s  {record['status']}: {command}", flush=True)

    keep(MACHINE, first)
    for job in sorted(jobs, key=lambda job: any(command in records for command in job.commands)):
        start = time.monotonic()
        if not job.missing and start + job.seconds <= deadline:
            for command in job.left(records):
                if (seconds := start + job.seconds - time.monotonic()) > 0:
                    keep(command, run(command, seconds))
    print(f"\n{out / 'RESULTS.md'} also says what is not done yet; the same command continues with it")
    return int(any(record["status"] != "ok" for record in records.values()))


def run(command: str, seconds: float) -> dict[str, Any]:
    """The record of a command, which is ended after so many seconds, and with it all that it has started."""
    words = [sys.executable if word == "python" else word for word in shlex.split(command)]
    start = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            start_new_session=True,
            preexec_fn=end_with_parent if sys.platform == "linux" else None,
        )
        try:
            status = process.wait(seconds)
            said = f"failed with status {status}" if status else "ok"
        except subprocess.TimeoutExpired:
            said = f"ended after {seconds:.0f} s, its time"
        finally:
            with contextlib.suppress(OSError):  # all have ended by themselves
                getattr(os, "killpg", os.kill)(process.pid, _KILL)
            process.wait()
        record: dict[str, Any] = {"status": said, "seconds": time.monotonic() - start}
        record["date"] = datetime.now().astimezone().isoformat(" ", "minutes")
        for name, file in (("output", output), ("errors", errors)):
            file.seek(0)
            record[name] = file.read().decode(errors="replace").strip()
    with contextlib.suppress(ValueError):
        record |= {"result": json.loads(record["output"]), "output": ""}
    return record


def sources() -> str:
    """A digest of tinyvit's own files, by which results of other code are told."""
    folder, digest = Path(tinyvit.__file__).parent, hashlib.sha256()
    for path in sorted(path for kind in ("py", "cu", "cuh") for path in folder.rglob(f"*.{kind}")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\n" + path.read_bytes())
    return digest.hexdigest()[:12]


def end_with_parent() -> None:
    """Have Linux end this process as soon as the one that started it has ended, even if that was killed.

    A measurement that nobody waits for any more would keep the GPU busy, and disturb the next one.
    """
    ctypes.CDLL(None).prctl(_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL)


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
        *(f"```\n{speed_table(result)}\n```" for result in found if "kernels" in result),
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


def main(argv: Sequence[str] | None = None) -> int:
    """Measure; returns the exit status."""
    p = argparse.ArgumentParser(prog="tests.lab.gpu_report", description=__doc__.partition("\n")[0])
    p.add_argument("--minutes", type=positive_float, required=True, metavar="M", help="the time there is")
    p.add_argument("--out", type=some_path, required=True, metavar="OUT", help="folder of the results")
    args = p.parse_args(argv)
    return measure(args.minutes, args.out)


if __name__ == "__main__":
    with ending("tests.lab.gpu_report"):
        status = main()
    sys.exit(status)
