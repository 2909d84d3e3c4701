"""`python -m tests.faults.killed WHERE N COMMAND ...`: run a command that is killed at its n-th such moment.

WHERE is `step`, in the middle of a step of training; or `before FILE`, `after FILE` or `half FILE`: just
before or just after a file of that name is moved into place, or when half of it is written.
"""

import importlib
import os
import signal
import sys

from tinyvit.optim import AdamW
from tinyvit.support.shell.command import run_command
from tinyvit.training import run_trainer


def main(where: str, number: int, name: str, *words: str) -> None:
    """Run the command; the process is killed at its n-th moment of that kind, counted from 1."""
    take_step, move, left = AdamW.step, os.replace, number

    def moment(kind: str) -> bool:
        """True if this is the moment to die at."""
        nonlocal left
        left -= kind == where
        return kind == where and not left

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def step(*args):
        if moment("step"):
            die()
        take_step(*args)

    def replace(source, target):
        file = os.path.basename(target)
        if moment(f"half {file}"):
            os.truncate(source, os.path.getsize(source) // 2)
            die()
        if moment(f"before {file}"):
            die()
        move(source, target)
        if moment(f"after {file}"):
            die()

    AdamW.step, os.replace = step, replace
    run_trainer.SAVE_SECONDS = -1  # a checkpoint after every step
    module = importlib.import_module(f"tinyvit.{name}")
    run_command(module.parser(), module.main, words)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
