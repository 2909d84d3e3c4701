"""`python -m tests.faults.memory`: train for ten thousand steps, and print how much memory the process has.

All that may grow is the list of records, one for each epoch: epochs here are of 32 steps.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from pathlib import Path
from unittest import mock

from tests.tiny_runs import make_photos, tiny
from tinyvit import train
from tinyvit.engine import ReferenceEngine
from tinyvit.support.shell.command import run_command
from tinyvit.training import run_trainer

LARGEST_GROWTH = 1.05  # from a tenth of the run, when all is warm, to its end


def resident() -> int:
    """Number of bytes of memory that this process has, without what is swapped out (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def main() -> int:
    """Train; returns 1 if the memory has grown."""
    p = argparse.ArgumentParser(description="Print the memory of a long run, which should not grow.")
    p.add_argument(
        "--steps", type=int, default=10_000, metavar="N", help="length of the run (default: 10000)"
    )
    steps = p.parse_args().steps
    take_step, seen = ReferenceEngine.step, []

    def step(self, plan, lr):
        result = take_step(self, plan, lr)
        if plan.step % max(1, steps // 10) == 0:
            seen.append(resident())
            print(f"step {plan.step:6,}  {seen[-1] / 1e6:7.1f} MB", file=sys.stderr, flush=True)
        return result

    with tempfile.TemporaryDirectory() as folder:
        photos = Path(folder) / "photos"
        photos.mkdir()
        more = ("--steps", steps, "--batch-size", 1, "--evaluate-every", 10)
        words = tiny(make_photos(photos), Path(folder) / "run", *more)
        patches = (
            mock.patch.object(ReferenceEngine, "step", step),
            mock.patch.object(run_trainer, "SAVE_SECONDS", 1),
        )
        with patches[0], patches[1], mock.patch.object(sys, "stdout", io.StringIO()):
            try:
                run_command(train.parser(), train.main, words)
            except SystemExit as leaving:
                assert not leaving.code, leaving.code
    growth = seen[-1] / seen[0]
    print(f"grown by {100 * (growth - 1):.1f}% from step {steps // 10:,} to step {steps:,}")
    return int(growth > LARGEST_GROWTH)


if __name__ == "__main__":
    sys.exit(main())
