"""Watching a worker: if it hangs or dies, the file that it was reading is kept, and another one goes on."""

import contextlib
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

from tests.fuzz.readers import READERS
from tests.fuzz.worker import SECONDS

REPOSITORY = Path(__file__).parents[2]
SILENT = 3 * SECONDS  # seconds after which a worker hangs, and start-up takes
MOST_DEATHS = 20


def fuzz(name: str, folder: Path, seed: int, count: int, seconds: float) -> tuple[Counter, float]:
    """Give a reader so many damaged files, or as many as the seconds allow.

    Returns how often each outcome came, and the seconds of computing that the slowest input took. Files that
    caused anything but 'read' or 'refused' are in folder/found; what the worker printed is in stderr.txt.
    """
    total, slowest, first = Counter(), 0.0, 0
    for _ in range(MOST_DEATHS):
        last = _watch(name, folder, seed, first, count - first, seconds)
        total += Counter(last["counts"])
        slowest = max(slowest, last["slowest"])
        if last.get("done"):
            break
        total[last["death"]] += 1
        seconds -= last["seconds"]
        first = max(first, last["next"]) + 1000  # beyond those that were not reported any more
    return total, slowest


def _watch(name: str, folder: Path, seed: int, first: int, count: int, seconds: float) -> dict:
    """The last report of one worker; if it died, with 'death', and the seconds that it had."""
    words = [sys.executable, "-m", "tests.fuzz.worker", name, folder, seed, first, count, seconds]
    one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "stderr.txt", "ab") as said:  # libtiff says something about every damaged TIFF
        worker = subprocess.Popen(
            [str(word) for word in words],
            cwd=REPOSITORY,
            env=os.environ | one,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_pass_on, args=(worker.stdout, lines), daemon=True).start()
    last, reports = {"next": first, "counts": {}, "slowest": 0.0}, 0
    death = "hung"
    try:
        while line := _next(lines):
            last, reports = json.loads(line), reports + 1
        if worker.wait() == 0 and last.get("done"):
            return last
        death = f"died with status {worker.returncode}"
    except queue.Empty:
        worker.kill()
        worker.wait()
    file = folder / "scratch" / READERS[name].file
    (folder / "found").mkdir(exist_ok=True, parents=True)
    if file.exists():
        shutil.copy(file, folder / "found" / f"{name}-{death.replace(' ', '-')}")
    return last | {"death": death, "seconds": reports}


def _next(lines: queue.Queue[str]) -> str:
    """The next line. queue.Empty if none comes for long; while both processes are stopped, no time passes."""
    for _ in range(SILENT):
        with contextlib.suppress(queue.Empty):
            return lines.get(timeout=1)
    raise queue.Empty


def _pass_on(stream, lines: queue.Queue) -> None:
    for line in stream:
        lines.put(line)
    lines.put("")
