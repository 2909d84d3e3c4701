"""One process of a job under mpiexec: writes its number to FOLDER/RANK, then does what the other words say.

rank.py FOLDER train FLAGS...         python -m tinyvit.train FLAGS...
rank.py FOLDER break RANK FLAGS...    the same, but this rank fails in the backward pass of the first block
rank.py FOLDER fail RANK              this rank fails while the others wait for it
"""

import os
import sys
import time
from pathlib import Path

from tinyvit import train
from tinyvit.distributed import one_job, start
from tinyvit.engine import CpuEngine
from tinyvit.engine.cpu.blocks import Blocks
from tinyvit.shell.command import ending, run_command


def fail_in_the_first_block():
    CpuEngine.least_tokens_to_fold = 0
    backward = Blocks._block_backward

    def failing(self, i, *args):
        if i == 0:
            time.sleep(0.2)  # the others wait for the sum
            raise OSError(28, "No space left on device", "here")
        return backward(self, i, *args)

    Blocks._block_backward = failing


if __name__ == "__main__":
    folder, what, *words = sys.argv[1:]
    ranks = start()
    (Path(folder) / f"{ranks.rank}.new").write_text(str(os.getpid()))
    (Path(folder) / f"{ranks.rank}.new").rename(Path(folder) / str(ranks.rank))
    if what == "break" and ranks.rank == int(words.pop(0)):
        fail_in_the_first_block()
    if what != "fail":
        run_command(train.parser(), train.main, words)
    with one_job(), ending("rank"):
        if ranks.rank == int(words[0]):
            time.sleep(0.2)
            raise OSError(28, "No space left on device", "here")
        ranks.max(0)
