"""A case to time, and the sides of a comparison, each timed in a process of its own, in turn (A B A B).

So no side is affected by another's threads, memory or settings, and a drift in speed affects all of them. A
side is named 'MODULE VARIANT', such as 'torch eager': the module MODULE_side.py of this package has the
functions make_step(case, variant), time_steps(case, step, count) and peak_bytes(case).
"""

import contextlib
import importlib
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from tinyvit.model import ViTConfig, preset
from tinyvit.support.errors import UserError
from tinyvit.support.shell.ending import is_lack_of_memory

CLASSES = 10  # for small images; large images have 1000, as in ImageNet


@dataclass(frozen=True)
class Case:
    """One case to time; mode is 'train' (a whole step, with clipping and AdamW) or 'infer' (only logits).

    device is 'cpu' or 'gpu'. On a CPU, all is computed in float32 on that many threads; on a GPU, precision
    is fp32, tf32 or bf16, and threads have no meaning.
    """

    model: str
    image_size: int
    batch: int
    mode: str
    threads: int
    precision: str = "fp32"
    device: str = "cpu"

    @property
    def config(self) -> ViTConfig:
        """The model; ten classes for small images, 1000 for large ones."""
        return preset(self.model, self.image_size, CLASSES if self.image_size < 200 else 1000)

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Random images (B, H, W, 3) uint8 and labels (B,); their contents do not affect the time."""
        rng = np.random.default_rng(0)
        shape = (self.batch, self.image_size, self.image_size, 3)
        images = rng.integers(0, 256, shape, dtype=np.uint8)
        return images, rng.integers(0, self.config.classes, self.batch)

    def as_dict(self) -> dict:
        """The fields, for JSON; Case(**fields) restores the case."""
        return asdict(self)


@dataclass
class Timing:
    """Median seconds per step in each round of one side, and its peak memory in bytes (0: unknown)."""

    name: str
    seconds: list[float] = field(default_factory=list)
    peak_bytes: int = 0

    @property
    def median(self) -> float:
        return float(np.median(self.seconds))


def time_sides(case: Case, names: Sequence[str], rounds: int, steps: int, warm_up: int) -> list[Timing]:
    """Time the sides in alternation: `warm_up` steps of each, then `rounds` x `steps`.

    A side after the first that fails is reported on standard error, and left out.
    """
    sides = [Side(case, name) for name in names]
    try:
        for side in list(sides):
            try:
                side.run(warm_up)
            except RuntimeError as error:
                if side is sides[0]:
                    raise
                print(f"{error}: it is left out", file=sys.stderr, flush=True)
                side.close()
                sides.remove(side)
        timings = [Timing(side.name) for side in sides]
        for _ in range(rounds):
            for side, timing in zip(sides, timings, strict=True):
                seconds, timing.peak_bytes = side.run(steps)
                timing.seconds.append(float(np.median(seconds)))
        return timings
    finally:
        for side in sides:
            side.close()


def ratios(fast: Timing, slow: Timing) -> np.ndarray:
    """The speed of the first side relative to the second, for each pair of rounds: (rounds,)."""
    return np.array(slow.seconds) / np.array(fast.seconds)


class Side:
    """A process that carries out a case in one way, as often as it is asked to."""

    def __init__(self, case: Case, name: str):
        self.name = name
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_answer, args=(theirs, case, name), daemon=True)
        self._process.start()
        theirs.close()  # now the pipe ends when the process does

    def run(self, steps: int) -> tuple[list[float], int]:
        """Run this many steps; returns their times in seconds, and the peak memory so far in bytes."""
        try:
            self._pipe.send(steps)
            answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            self._process.join()
            status = self._process.exitcode
            if status == -9:  # this is how Linux ends a process that has used up the memory
                raise MemoryError(f"the {self.name} process was killed") from error
            raise RuntimeError(f"the {self.name} process ended with status {status}") from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(2)  # enough, unless it is in the middle of something
        self._process.terminate()
        self._process.join()


def _answer(pipe: Connection, case: Case, name: str) -> None:
    """In the process: answer requests until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the command, which then ends this process
    module, variant = name.split(" ", 1)
    side = importlib.import_module(f"tinyvit.bench.{module}_side")
    with contextlib.redirect_stdout(sys.stderr), contextlib.suppress(EOFError):  # stdout is for the results
        try:
            step = side.make_step(case, variant)
            while True:
                pipe.send((side.time_steps(case, step, pipe.recv()), side.peak_bytes(case)))
        except UserError as error:
            pipe.send(error)
        except (MemoryError, ValueError) as error:
            if not is_lack_of_memory(error):
                raise
            pipe.send(MemoryError(str(error)))


def host_seconds(step: Callable[[], object], count: int) -> list[float]:
    """The seconds that each of `count` steps took, by the clock of the CPU."""
    seconds = []
    for _ in range(count):
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    return seconds


def card_seconds(
    step: Callable[[], object], count: int, event: Callable[[], Any], elapsed: Callable[[Any, Any], float]
) -> list[float]:
    """The same by the clock of a GPU: events are recorded between steps that are sent one after another."""
    events = [event() for _ in range(count + 1)]
    events[0].record()
    for each in events[1:]:
        step()
        each.record()
    events[-1].synchronize()
    return [1e-3 * elapsed(a, b) for a, b in pairwise(events)]


def peak_resident_bytes() -> int:
    """The peak memory of this process so far, in bytes; 0 where the system does not report it (Windows)."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak
