"""The flags of training from scratch and of fine-tuning: data, optimisation, run folder."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinyvit.optim import DECAYS, OPTIMIZERS
from tinyvit.shell.command import natural_float, natural_int, positive_float, positive_int, rate
from tinyvit.shell.flags import add_compute_flags, add_source_flags


def add_data_flags(parser: argparse.ArgumentParser) -> None:
    """What to train on, and how its images are varied."""
    data = parser.add_argument_group("data")
    add_source_flags(data)
    data.add_argument(
        "--validation",
        type=natural_int,
        metavar="N",
        help="training images held out to choose the best epoch",
    )
    data.add_argument("--crop-padding", type=natural_int, metavar="N", help="crops move up to N pixels")
    data.add_argument("--flip", action=argparse.BooleanOptionalAction, help="mirror half of the images")


def add_fit_flags(parser: argparse.ArgumentParser) -> None:
    """How to train."""
    fit = parser.add_argument_group("training")
    length = fit.add_mutually_exclusive_group()
    length.add_argument("--epochs", type=positive_int, metavar="N", help="times that every image is seen")
    length.add_argument("--steps", type=positive_int, metavar="N", help="updates in all, instead of epochs")
    fit.add_argument("--batch-size", type=positive_int, metavar="N", help="images for each update")
    fit.add_argument(
        "--accumulate", type=positive_int, metavar="N", help="compute a batch in N parts, to save memory"
    )
    fit.add_argument(
        "--optimizer", choices=OPTIMIZERS, help="how gradients become updates (adamw; sgd in fine-tuning)"
    )
    fit.add_argument("--lr", type=positive_float, metavar="X", help="highest learning rate")
    fit.add_argument("--decay", choices=DECAYS, help="of the learning rate, after the warm-up")
    fit.add_argument("--warmup-epochs", type=natural_float, metavar="X", help="epochs of linear warm-up")
    fit.add_argument("--weight-decay", type=natural_float, metavar="X", help="on matrices only; not for sgd")
    fit.add_argument("--clip", type=natural_float, metavar="X", help="largest gradient norm; 0: no clipping")
    fit.add_argument("--smoothing", type=rate, metavar="R", help="label smoothing")
    fit.add_argument("--seed", type=natural_int, metavar="N", help="of everything random (0)")
    fit.add_argument("--dropout", type=rate, metavar="R", help="dropout rate")
    fit.add_argument("--drop-path", type=rate, metavar="R", help="stochastic depth rate of the last block")


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """Where to compute, where the run is kept, and which one to go on with."""
    run = parser.add_argument_group("run")
    add_compute_flags(run)
    run.add_argument("--out", type=Path, metavar="RUN", help="run folder (runs/DATASET-1, -2, ...)")
    run.add_argument(
        "--resume",
        type=Path,
        nargs="?",
        const=True,
        metavar="RUN",
        help="resume RUN, or --out, or the latest run; with --epochs or --steps, make it longer",
    )
    run.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="repeat a run from its config.json; other flags override it",
    )
