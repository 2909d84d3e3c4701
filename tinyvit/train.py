"""`python -m tinyvit.train`: train a Vision Transformer, or go on with a run that was stopped."""

from __future__ import annotations

import argparse

from tinyvit.shell.command import make_parser, run_command
from tinyvit.shell.training_flags import add_data_flags, add_fit_flags, add_run_flags
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
    apart = {name: chosen.pop(name, None) for name in ("out", "resume", "config", "data_url")}
    return train(chosen, **apart)


def parser() -> argparse.ArgumentParser:
    """The command line; flags that are not given are absent from its result."""
    p = make_parser("train", "Train a Vision Transformer from scratch.", _EPILOG)
    p.argument_default = argparse.SUPPRESS

    add_data_flags(p)

    model = p.add_argument_group("model")
    model.add_argument(
        "--model", metavar="NAME", help="SIZE/PATCH: nano micro milli mini Ti S B L H; for instance micro/4"
    )
    model.add_argument(
        "--pool", choices=("token", "mean"), help="classify the class token or the mean of the patches"
    )

    add_fit_flags(p)
    add_run_flags(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
