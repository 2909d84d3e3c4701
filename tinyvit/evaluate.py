"""`python -m tinyvit.evaluate RUN`: how good a trained model is, class by class."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tinyvit.engine import make_engine
from tinyvit.errors import UserError
from tinyvit.runs.folder import RunFolder
from tinyvit.shell.command import make_parser, run_command
from tinyvit.shell.flags import add_compute_flags, add_run_argument, chosen_device
from tinyvit.shell.progress import Progress, percent
from tinyvit.training.evaluation import evaluate
from tinyvit.training.session import load_data_of_run


def main(args: argparse.Namespace) -> None:
    """Load the run's checkpoint and data, evaluate, print."""
    run = RunFolder.open(args.run)
    device = chosen_device(args)
    checkpoint = run.load(args.checkpoint)
    dataset = load_data_of_run(run, args.data_dir, Progress())
    images = getattr(dataset, args.split)
    if images is None:
        raise UserError(f"{args.run} was trained without a validation split: choose --split test or train.")
    engine = make_engine(checkpoint.config, checkpoint.params.to(device.xp), threads=args.threads)
    result = evaluate(engine, images)
    width = max(map(len, dataset.classes))
    for name, accuracy in zip(dataset.classes, result.by_class, strict=True):
        print(f"{name:{width}}  {percent(None if np.isnan(accuracy) else accuracy)}")
    print(f"\n{args.checkpoint}.npz on {len(images):,} {args.split} images: ", end="")
    print(f"accuracy {100 * result.accuracy:.2f}%, loss {result.loss:.4f}")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("evaluate", "Accuracy and loss of a trained model, class by class.")
    add_run_argument(p)
    p.add_argument("--split", choices=("test", "validation", "train"), default="test", help="(default: test)")
    p.add_argument("--data-dir", type=Path, metavar="DIR", help="where the data are, if not where they were")
    add_compute_flags(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
