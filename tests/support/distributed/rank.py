"""One process of a job under mpiexec: writes its number to FOLDER/RANK, then does what the other words say.

rank.py FOLDER train FLAGS...    python -m tinyvit.train FLAGS...
rank.py FOLDER fail RANK         this rank fails while the others wait for it
"""

import os
import sys
import time
from pathlib import Path

from tinyvit import train
from tinyvit.support.distributed import one_job, start
from tinyvit.support.shell.command import ending, run_command

if __name__ == "__main__":
    folder, what, *words = sys.argv[1:]
    ranks = start()
    (Path(folder) / f"{ranks.rank}.new").write_text(str(os.getpid()))
    (Path(folder) / f"{ranks.rank}.new").rename(Path(folder) / str(ranks.rank))
    if what != "fail":
        run_command(train.parser(), train.main, words)
    with one_job(), ending("rank"):
        if ranks.rank == int(words[0]):
            time.sleep(0.2)
            raise OSError(28, "No space left on device", "here")
        ranks.max(0)
