"""`python -m tests.fuzz --minutes M`: give damaged files to every reader, for as long as wanted.

Every input must be read, or be refused with one line that names the file, within a time and a memory that
the reader states. The files for which that fails are kept, and named by their reader.
"""

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz.guard import fuzz
from tests.fuzz.readers import READERS
from tinyvit.support.figures import counted

FINE = ("read", "refused")


def main() -> int:
    p = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__.partition(":")[2].strip())
    p.add_argument("--minutes", type=float, default=10, metavar="M", help="in total (default: 10)")
    p.add_argument("--only", choices=READERS, action="append", metavar="READER", help=", ".join(READERS))
    p.add_argument("--seed", type=int, help="of what is damaged (default: another one each time)")
    p.add_argument(
        "--out",
        type=Path,
        default=Path(".fuzz"),
        help="for scratch files, and what fails (.fuzz); archives are faster in memory, as in /dev/shm",
    )
    args = p.parse_args()
    seed = int(time.time()) if args.seed is None else args.seed
    names = args.only or list(READERS)
    print(f"seed {seed}, {args.minutes:g} minutes for {counted(len(names), 'reader')}")
    good, bad = 0, 0
    for name in names:
        started = time.monotonic()
        counts, slowest = fuzz(name, args.out.resolve() / name, seed, 10**9, 60 * args.minutes / len(names))
        rate = counts.total() / (time.monotonic() - started)
        shown = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
        print(f"{name:14}{counts.total():10,}  {rate:6,.0f}/s  slowest {slowest:5.2f} s  {shown}", flush=True)
        good += sum(counts[what] for what in FINE)
        bad += sum(count for what, count in counts.items() if what not in FINE)
    where = f"; the files are in {args.out}/*/found" if bad else ""
    print(f"{good + bad:,} inputs, of which {bad:,} failed{where}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
