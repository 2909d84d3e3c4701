"""One process that reads damaged files: `python -m tests.fuzz.worker READER FOLDER SEED FIRST COUNT SECONDS`.

Input number n depends only on the reader, the seed and n. The process reports on standard output, a line of
JSON at least every second, what became of the inputs so far. It limits its own memory, and interrupts what
takes too long; if it dies all the same, the file that it was reading is still in the folder.
"""

import hashlib
import json
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.fuzz.readers import READERS, Reader
from tinyvit.support.errors import UserError

SECONDS = 20  # of computing that an input may take; one that waits is noticed by the guard
REPORT_SECONDS = 1.0


class TooSlow(BaseException):
    """An input took too long."""


def inputs(reader: Reader, name: str, seed: int, first: int, count: int):
    """Damaged files, by number."""
    with tempfile.TemporaryDirectory() as folder:
        seeds = reader.seeds(Path(folder))
    for number in range(first, first + count):
        rng = random.Random(f"{name} {seed} {number}")
        yield number, reader.damage(rng, rng.choice(seeds), seeds) if number else seeds[0]


def _stop(number: int, frame: object) -> None:
    raise TooSlow


def outcome(reader: Reader, folder: Path) -> str:
    """'read', 'refused', or what is wrong with how the reader ended."""
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        reader.read(folder)
    except UserError as error:
        return _fault_of(str(error), Path(reader.file).name) or "refused"
    except TooSlow:
        return "too slow"
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "read"


def _fault_of(message: str, file: str) -> str:
    if "fit into memory" in message:
        return "too much memory"
    if len(message) > 2000 or any(ord(letter) < 32 for letter in message):
        return "a message that is no line"
    return (
        ""
        if any(word in message for word in (file, "/model", ".json", ".npz"))
        else "a message without a name"
    )


def limit_memory(more: int) -> None:
    """Let this process take so many bytes more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main(name: str, folder: str, seed: str, first: str, count: str, seconds: str) -> None:
    reader, scratch, keep = READERS[name], Path(folder) / "scratch", Path(folder) / "found"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    reader.prepare(scratch)
    path = scratch / reader.file

    counts, reported, end, slowest = Counter(), time.monotonic(), time.monotonic() + float(seconds), 0.0
    for number, content in inputs(reader, name, int(seed), int(first), int(count)):
        if not counts:  # once the first is made, everything that it needs has been imported
            path.write_bytes(content)
            reader.read(scratch)
            limit_memory(reader.memory)
        path.write_bytes(content)
        started = time.process_time()
        result = outcome(reader, scratch)
        slowest = max(slowest, time.process_time() - started)
        counts[result] += 1
        if result not in ("read", "refused"):
            keep.mkdir(exist_ok=True)
            kept = f"{name}-{hashlib.sha256(content).hexdigest()[:12]}"
            (keep / kept).write_bytes(content)
        if time.monotonic() - reported > REPORT_SECONDS:
            reported = time.monotonic()
            print(json.dumps({"next": number + 1, "counts": counts, "slowest": slowest}), flush=True)
        if time.monotonic() > end:
            break
    print(json.dumps({"next": number + 1, "counts": counts, "slowest": slowest, "done": True}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
