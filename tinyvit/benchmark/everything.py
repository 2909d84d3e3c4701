"""All checks and measurements on a GPU, one after another, for the minutes in which one is there.

Every part is a process of its own, so that one that fails or hangs costs its own time and nothing else. After
each part, results.json and report.md are written anew. An interrupted run is continued by the same command:
what the same code has already done well is kept.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tinyvit.benchmark.facts import commit
from tinyvit.benchmark.on_gpu import usable_gpu
from tinyvit.benchmark.parts import Part, all_parts
from tinyvit.benchmark.report import report
from tinyvit.errors import UserError
from tinyvit.files.atomic import write_atomically


def run(out: Path, data_dir: Path | None) -> int:
    """Run all parts; returns the exit status, 1 if any failed. Raises UserError if there is no GPU."""
    usable_gpu()
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write the results to {out}: {error.strerror or error}.") from error
    return carry_out(all_parts(out, data_dir), out)


def carry_out(parts: Sequence[Part], out: Path) -> int:
    """Run these parts, with their results in the folder `out`."""
    before = _earlier(out)
    results: list[dict[str, Any]] = []
    for part in parts:
        record = _kept(part, before)
        if record is None:
            record = _record(part, "running", 0.0)
            try:
                record = _run(part, out)
            except KeyboardInterrupt:
                record["status"] = "interrupted"
                raise
            finally:
                _write(out, [*results, record], before, parts)
        results.append(record)
        print(f"{record['seconds']:7.1f} s  {record['title']}: {record['status']}", flush=True)
    _write(out, results, {}, parts)
    print(f"\nreport: {out / 'report.md'}")
    return int(any(record["status"].startswith(("failed", "stopped")) for record in results))


def _run(part: Part, out: Path) -> dict[str, Any]:
    """Run one part, and say what came of it."""
    if part.left_out:
        return _record(part, f"left out: {part.left_out}", 0.0)
    start = time.perf_counter()
    with open(out / _output(part), "wb") as stdout, open(out / f"{part.name}.log", "wb") as stderr:
        try:
            process = subprocess.Popen(
                part.command,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=os.environ | part.environment,
                start_new_session=True,  # with its own children, so that they can be ended together
            )
        except OSError as error:
            return _record(part, f"failed: {error.strerror or error}", 0.0)
        try:
            status = process.wait(part.limit)
            word = "ok" if status == 0 else f"failed with status {status}"
        except subprocess.TimeoutExpired:
            word = f"stopped after {part.limit} s"
        finally:
            _end(process)
    return _record(part, word, time.perf_counter() - start)


def _end(process: subprocess.Popen) -> None:
    """End a process and all that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:  # all have ended by themselves
        pass
    except AttributeError:  # Windows
        process.kill()
    process.wait()


def _record(part: Part, status: str, seconds: float) -> dict[str, Any]:
    return {
        "name": part.name,
        "title": part.title,
        "command": list(part.command),
        "output": _output(part),
        "commit": commit(),
        "status": status,
        "seconds": seconds,
    }


def _output(part: Part) -> str:
    return f"{part.name}.{'json' if part.is_json else 'txt'}"


def _earlier(out: Path) -> dict[str, dict[str, Any]]:
    """What results.json says of an earlier run, by the names of the parts."""
    try:
        return {
            record["name"]: record
            for record in json.loads((out / "results.json").read_text("utf-8"))["parts"]
        }
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _kept(part: Part, before: dict[str, dict[str, Any]]) -> dict[str, Any] | None:
    """The earlier record of a part that need not be run again."""
    found = before.get(part.name, {})
    same = all(
        found.get(key) == value for key, value in (("command", list(part.command)), ("commit", commit()))
    )
    is_known = not commit().endswith("+")  # files with changes may have changed again
    return found if same and is_known and found.get("status") == "ok" else None


def _write(
    out: Path, results: list[dict[str, Any]], before: dict[str, dict[str, Any]], parts: Sequence[Part]
) -> None:
    """Write results.json and report.md; parts still to come keep what an earlier run says of them."""
    names = {record["name"] for record in results}
    later = [before[part.name] for part in parts if part.name in before and part.name not in names]
    records = [_with_result(record, out) for record in (*results, *later)]
    text = json.dumps({"parts": records}, indent=2)
    write_atomically(out / "results.json", lambda file: file.write(text.encode()))
    write_atomically(out / "report.md", lambda file: file.write(report(records).encode()))


def _with_result(record: dict[str, Any], out: Path) -> dict[str, Any]:
    """The record, with what the part printed: its JSON, or its last lines."""
    try:
        text = (out / record["output"]).read_text("utf-8", errors="replace")
        errors = (out / f"{record['name']}.log").read_text("utf-8", errors="replace")
    except OSError:
        return record
    record = record | {
        "last_lines": text.rstrip().splitlines()[-3:],
        "errors": errors.rstrip().splitlines()[-3:],
    }
    if record["output"].endswith(".json"):
        try:
            record["result"] = json.loads(text)
        except ValueError:
            return record
        record["last_lines"] = []
    return record
