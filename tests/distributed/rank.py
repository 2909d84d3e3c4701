"""One process of a job under mpiexec: writes its number to FOLDER/RANK, then does what the other words say.

rank.py FOLDER train FLAGS...         python -m tinyvit.train FLAGS...
rank.py FOLDER early FLAGS...         the same; each block is summed early, as FOLDER/early tells
rank.py FOLDER break RANK FLAGS...    as early, but this rank fails in the backward pass of the first block
rank.py FOLDER fail RANK              this rank fails while the others wait for it
"""

import os
import sys
import time
from pathlib import Path

from tinyvit import train
from tinyvit.distributed import one_job, start
from tinyvit.engine import CpuEngine, exchange
from tinyvit.engine.cpu.blocks import Blocks
from tinyvit.shell.command import ending, run_command


def sum_early(folder):
    """Make each block of a small model worth an exchange of its own."""
    CpuEngine.least_tokens_to_fold, exchange._PIECE = 0, 1
    ready = exchange.Exchange.ready

    def noted(self, block):
        if block > 0:
            (Path(folder) / "early").touch()
        ready(self, block)

    exchange.Exchange.ready = noted


def fail_in_the_first_block():
    backward = Blocks._block_backward

    def failing(self, i, *args):
        if i == 0:
            time.sleep(0.2)  # the others wait for the sums of the later blocks
            raise OSError(28, "No space left on device", "here")
        return backward(self, i, *args)

    Blocks._block_backward = failing


if __name__ == "__main__":
    folder, what, *words = sys.argv[1:]
    ranks = start()
    (Path(folder) / f"{ranks.rank}.new").write_text(str(os.getpid()))
    (Path(folder) / f"{ranks.rank}.new").rename(Path(folder) / str(ranks.rank))
    if what in ("early", "break"):
        sum_early(folder)
    if what == "break" and ranks.rank == int(words.pop(0)):
        fail_in_the_first_block()
    if what != "fail":
        run_command(train.parser(), train.main, words)
    with one_job(), ending("rank"):
        if ranks.rank == int(words[0]):
            time.sleep(0.2)
            raise OSError(28, "No space left on device", "here")
        ranks.max(0)
