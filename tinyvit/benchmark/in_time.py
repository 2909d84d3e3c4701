"""Jobs on a GPU in a given time: each command is a process of its own, its result on disk when it ends.

In the folder, results-DIGEST.json has what each command has found, and RESULTS.md is the page of it. The
digest is one of tinyvit's sources and the machine: if both are as before, a second call continues.
"""

import contextlib
import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import tinyvit
from tinyvit.benchmark.jobs import MACHINE, all_jobs
from tinyvit.benchmark.results_page import page
from tinyvit.benchmark.worker import end_with_parent
from tinyvit.errors import UserError
from tinyvit.files.atomic import write_atomically

_KILL = 9  # Windows has no name for it


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
    again = f"python -m tinyvit.bench --device gpu --minutes {minutes:g} --out {shlex.quote(str(out))}"

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
