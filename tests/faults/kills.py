"""`python -m tests.faults.kills`: kill -9 runs at random moments, resume them, compare what they end with.

Each is a run of train or of finetune, and is killed again and again until it has ended by itself. It must
then have the same bits as a run that was left alone. Processes are forked, so this needs Linux or macOS.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from tests.faults.forks import command, ended, start
from tests.tiny_runs import assert_same_run, make_photos, tiny
from tinyvit.training import run_trainer

EPOCHS = 6


def words_of(name: str, photos: Path, base: Path, out: Path) -> list[str]:
    """The command line of a run, with everything that is random in it."""
    words = tiny(photos, out, "--epochs", str(EPOCHS), "--dropout", "0.1", "--drop-path", "0.1")
    if name == "finetune":
        at = words.index("--model")
        words = [str(base), *words[:at], *words[at + 2 :]]
    return words


def main() -> int:
    """Kill as often as asked; returns 1 if a run did not survive it."""
    p = argparse.ArgumentParser(description="Kill runs at random moments, and compare what they end with.")
    p.add_argument("--times", type=int, default=50, metavar="N", help="number of kills (default: 50)")
    p.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the moments (default: 0)")
    args = p.parse_args()
    random, kills, found, whole = Random(args.seed), 0, Counter(), {}
    run_trainer.SAVE_SECONDS = 0.05  # many checkpoints to be killed at
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "photos").mkdir()
        photos = make_photos(work / "photos")
        for name in ("train", "finetune"):
            began = time.monotonic()
            assert ended(start(command(name, words_of(name, photos, work / "train", work / name)))) == 0
            whole[name] = time.monotonic() - began
        while kills < args.times:
            name, run = random.choice(list(whole)), work / "run"
            status, before = None, kills
            while status is None:
                again = (run / "config.json").exists()
                words = ["--resume", str(run)] if again else words_of(name, photos, work / "train", run)
                found[f"{name}: " + ("no run" if not again else _step(run))] += kills > before
                limit = random.uniform(0, 1.05 * whole[name]) if kills < args.times else None
                status = ended(start(command(name, words)), limit)
                kills += status is None
            print(f"{kills:4} kills  {name}: ended with status {status} after {kills - before}", flush=True)
            assert status == 0, f"a run ended with status {status}"
            assert_same_run(run, work / name)
            shutil.rmtree(run)
    print(f"{kills} kills, every run ended with the same bits; what was found after them:")
    for where, count in sorted(found.items()):
        print(f"  {count:4}  {where}")
    return 0


def _step(run: Path) -> str:
    return "a checkpoint" if (run / "last.npz").exists() else "no checkpoint"


if __name__ == "__main__":
    sys.exit(main())
