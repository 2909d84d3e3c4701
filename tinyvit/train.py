"""`python -m tinyvit.train`: train a Vision Transformer, or continue a run that was stopped."""

from __future__ import annotations

import argparse

from tinyvit.model import SIZES, usual_name
from tinyvit.model.config import PLACES, POSITIONS
from tinyvit.runs.settings import Settings
from tinyvit.shell.command import make_parser, positive_int, run_command
from tinyvit.shell.training_flags import add_data_flags, add_fit_flags, add_run_flags
from tinyvit.training.session import train

_EPILOG = """\
Without flags, a small model is trained on the built-in pictures, which takes one to three minutes on a
laptop. Settings not given by a flag come from a recipe for the data set; config.json in the run folder
records them all.

examples:
  python -m tinyvit.train
  python -m tinyvit.train --dataset cifar10 --device gpu
  python -m tinyvit.train --dataset folder --data-dir photos --image-size 64 --model nano/8
  python -m tinyvit.train --resume runs/cifar10-1
"""


def main(args: argparse.Namespace) -> int:
    """Train with the flags that were given; returns the exit status."""
    chosen = vars(args)
    apart = {name: chosen.pop(name, None) for name in ("out", "resume", "config", "data_url")}
    return train(chosen, **apart)


def parser() -> argparse.ArgumentParser:
    """The command line; flags that are not given are absent from the result."""
    p = make_parser("train", __doc__, _EPILOG)
    p.argument_default = argparse.SUPPRESS

    add_data_flags(p, usual_size="64")

    sizes = ", ".join(usual_name(f"{size}/1").partition("/")[0] for size in SIZES)
    model = p.add_argument_group("model")
    model.add_argument(
        "--model",
        metavar="SIZE/PATCH",
        help=f"model to train, such as micro/4: SIZE is one of {sizes}, and PATCH is the side of a patch in "
        "pixels; or a hybrid such as R26+S/32",
    )
    model.add_argument(
        "--pool",
        choices=("token", "mean"),
        help=f"classify by the class token or by the mean of the patches (default: {Settings.pool})",
    )
    model.add_argument(
        "--position",
        choices=POSITIONS,
        help="position embedding: a learned vector for each patch, for each row and column, fixed sines and "
        f"cosines, a learned vector for each offset between patches, or none (default: {Settings.position})",
    )
    model.add_argument(
        "--position-at",
        choices=PLACES,
        help="where positions are added: once, in every block with a table for each, or in every block with "
        "one shared table (default: stem; for relative, blocks)",
    )

    for flag, what in (
        ("--layers", "number of blocks"),
        ("--width", "width of the tokens"),
        ("--mlp-width", "width of the hidden layer of each MLP"),
        ("--heads", "number of attention heads"),
    ):
        model.add_argument(
            flag, type=positive_int, metavar="N", help=f"{what}, in place of the model's own number"
        )

    add_fit_flags(p)
    add_run_flags(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
