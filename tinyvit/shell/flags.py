"""Flags that several doors have, spelled and explained alike."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinyvit.shell.door import thread_count


def add_compute_flags(parser: argparse._ActionsContainer) -> None:
    """--device and --threads."""
    parser.add_argument(
        "--device", choices=("auto", "cpu", "gpu"), help="where to compute; auto takes a GPU if there is one"
    )
    parser.add_argument("--threads", type=thread_count, metavar="N", help="CPU threads (all cores)")


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """RUN, and which of its checkpoints."""
    parser.add_argument("run", type=Path, metavar="RUN", help="a run folder of tinyvit.train")
    parser.add_argument(
        "--checkpoint", choices=("best", "last"), default="best", help="which checkpoint (default: best)"
    )
