"""`python -m tinyvit.train`: train a Vision Transformer, or go on with a run that was stopped."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinyvit.data import DATASETS
from tinyvit.optim import DECAYS, OPTIMIZERS
from tinyvit.shell.door import (
    make_parser,
    natural_float,
    natural_int,
    open_door,
    positive_float,
    positive_int,
    rate,
)
from tinyvit.shell.flags import add_compute_flags
from tinyvit.training.session import train

_EPILOG = """\
Without flags: the built-in 'shapes' data, a minute or two on a laptop. Where a flag is not given, the data
set's own recipe decides; the run folder's config.json says what it was.

examples:
  python -m tinyvit.train
  python -m tinyvit.train --dataset cifar10 --device gpu
  python -m tinyvit.train --dataset folder --data-dir photos --image-size 64 --model nano/8
  python -m tinyvit.train --resume runs/cifar10-1
"""


def main(args: argparse.Namespace) -> int:
    """Hand what was given to the training room; returns its exit status."""
    chosen = vars(args)
    out, resume, data_url = (chosen.pop(name, None) for name in ("out", "resume", "data_url"))
    return train(chosen, out, resume, data_url)


def parser() -> argparse.ArgumentParser:
    """The command line; flags that are not given are absent from its result."""
    p = make_parser("train", "Train a Vision Transformer from scratch.", _EPILOG)
    p.argument_default = argparse.SUPPRESS

    data = p.add_argument_group("data")
    data.add_argument("--dataset", choices=DATASETS, help="what to train on (shapes)")
    data.add_argument(
        "--data-dir", metavar="DIR", help="where the data are; CIFAR is downloaded to data/ otherwise"
    )
    data.add_argument("--data-url", metavar="URL", help="another address to download the CIFAR archive from")
    data.add_argument(
        "--image-size", type=positive_int, metavar="N", help="side of the images of a folder, in pixels"
    )
    data.add_argument(
        "--validation",
        type=natural_int,
        metavar="N",
        help="training images held out to choose the best epoch",
    )
    data.add_argument("--crop-padding", type=natural_int, metavar="N", help="crops move up to N pixels")
    data.add_argument("--flip", action=argparse.BooleanOptionalAction, help="mirror half of the images")

    model = p.add_argument_group("model")
    model.add_argument(
        "--model", metavar="NAME", help="SIZE/PATCH: nano micro mini Ti S B L H; for instance micro/4"
    )
    model.add_argument(
        "--pool", choices=("token", "mean"), help="classify the class token or the mean of the patches"
    )
    model.add_argument("--dropout", type=rate, metavar="R", help="dropout rate")
    model.add_argument("--drop-path", type=rate, metavar="R", help="stochastic depth rate of the last block")

    fit = p.add_argument_group("training")
    fit.add_argument("--epochs", type=positive_int, metavar="N", help="times that every image is seen")
    fit.add_argument("--batch-size", type=positive_int, metavar="N", help="images for each update")
    fit.add_argument(
        "--accumulate", type=positive_int, metavar="N", help="compute a batch in N parts, to save memory"
    )
    fit.add_argument("--optimizer", choices=OPTIMIZERS, help="how gradients become updates (adamw)")
    fit.add_argument("--lr", type=positive_float, metavar="X", help="highest learning rate")
    fit.add_argument("--decay", choices=DECAYS, help="of the learning rate, after the warm-up")
    fit.add_argument("--warmup-epochs", type=natural_float, metavar="X", help="epochs of linear warm-up")
    fit.add_argument("--weight-decay", type=natural_float, metavar="X", help="on matrices only; not for sgd")
    fit.add_argument("--clip", type=natural_float, metavar="X", help="largest gradient norm; 0: no clipping")
    fit.add_argument("--smoothing", type=rate, metavar="R", help="label smoothing")
    fit.add_argument("--seed", type=natural_int, metavar="N", help="of everything random (0)")

    run = p.add_argument_group("run")
    add_compute_flags(run)
    run.add_argument("--out", type=Path, metavar="RUN", help="run folder (runs/DATASET-1, -2, ...)")
    run.add_argument(
        "--resume",
        type=Path,
        nargs="?",
        const=True,
        metavar="RUN",
        help="go on with RUN, or --out, or the latest run",
    )
    return p


if __name__ == "__main__":
    open_door(parser(), main)
