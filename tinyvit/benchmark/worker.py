"""A process that runs one side of a benchmark on request.

    python -m tinyvit.benchmark.worker SIDE VARIANT CASE_AS_JSON

reads a number of steps per line from standard input, and answers each with one line of JSON: how long every
step took in seconds, and the peak memory of the process in bytes; or, if there was not enough memory, what it
lacks, after which it ends. Both sides of a comparison are separate processes, so that neither is affected by
the other's threads, memory or settings.

SIDE is a module SIDE_side.py of this package with a function make_step. A side on a GPU also has its own
time_steps and peak_bytes, since what counts there are the card's clock and the card's memory.
"""

import contextlib
import ctypes
import importlib
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

from tinyvit.benchmark.case import Case
from tinyvit.shell.ending import is_lack_of_memory

_SIGNAL_AT_PARENTS_DEATH = 1  # PR_SET_PDEATHSIG of sys/prctl.h


class Worker:
    """The other end: starts such a process and communicates with it."""

    def __init__(self, case: Case, side: str, variant: str):
        self.name = f"{side} {variant}"
        command = [
            sys.executable,
            "-m",
            "tinyvit.benchmark.worker",
            side,
            variant,
            json.dumps(case.as_dict()),
        ]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, steps: int) -> tuple[list[float], int]:
        """Run this many steps; returns their times in seconds, and the peak memory so far in bytes."""
        with contextlib.suppress(BrokenPipeError):  # the process has ended, which is reported below
            self._process.stdin.write(f"{steps}\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            status = self._process.wait()
            if status == -9:  # this is how Linux ends a process that has used up the memory
                raise MemoryError(f"the {self.name} process was killed")
            raise RuntimeError(f"the {self.name} process ended with status {status}")
        answer = json.loads(line)
        if "lacks" in answer:
            raise MemoryError(answer["lacks"])
        return answer["seconds"], answer["peak_bytes"]

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


def end_with_parent() -> None:
    """Have Linux end this process as soon as the one that started it has ended, even if that was killed.

    A measurement that nobody waits for any more would keep the GPU busy, and disturb the next one.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL)


def peak_bytes() -> int:
    """The peak memory of this process so far, in bytes; 0 where the system does not report it (Windows)."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def time_steps(step: Callable[[], None], count: int) -> list[float]:
    """The seconds that each of `count` steps took."""
    seconds = []
    for _ in range(count):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return seconds


def main(arguments: Sequence[str]) -> None:
    """Answer requests until standard input ends."""
    side, variant, case = arguments
    module = importlib.import_module(f"tinyvit.benchmark.{side}_side")
    timed = getattr(module, "time_steps", time_steps)
    peak = getattr(module, "peak_bytes", peak_bytes)
    answers = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # whatever a library prints is not an answer
        try:
            step = module.make_step(Case(**json.loads(case)), variant)
            for line in sys.stdin:
                seconds = timed(step, int(line))
                print(json.dumps({"seconds": seconds, "peak_bytes": peak()}), file=answers, flush=True)
        except (MemoryError, ValueError) as error:
            if not is_lack_of_memory(error):
                raise
            print(json.dumps({"lacks": str(error)}), file=answers, flush=True)


if __name__ == "__main__":
    end_with_parent()
    main(sys.argv[1:])
