"""`python -m tinyvit.train`: train a Vision Transformer or a ResNet, or continue a run that was stopped."""

import argparse

from tinyvit.flags import add_training_flags, settings_and_others
from tinyvit.insight.pictures.of_runs import RunPictures
from tinyvit.support.shell.command import make_parser, run_command
from tinyvit.training.recipes import WITH_MACHINES
from tinyvit.training.session import train
from tinyvit.training.settings import Group

_EPILOG = """\
Without flags, a small model is trained on the built-in pictures, which takes one to four minutes on two
CPU cores. Settings not given by a flag come from the named recipe or, without --recipe, from one for the data
set and the device; config.json in the run folder records them all. The defaults above hold where a
recipe says nothing else. tinyvit.recipe lists the named recipes, and what they have reached.

examples:
  python -m tinyvit.train
  python -m tinyvit.train --dataset cifar10 --device gpu
  python -m tinyvit.train --recipe cpu-20-minutes
  python -m tinyvit.train --dataset folder --data-dir photos --image-size 64 --model nano/8
  python -m tinyvit.train --resume runs/cifar10-1
"""


def main(args: argparse.Namespace) -> int:
    """Train with the flags that were given; returns the exit status."""
    chosen, run_options = settings_and_others(args)
    return train(chosen, **run_options, pictures=RunPictures())


def parser() -> argparse.ArgumentParser:
    """The command line; flags that are not given are absent from the result."""
    p = make_parser("train", __doc__, _EPILOG)
    p.argument_default = argparse.SUPPRESS
    groups = Group.DATA, Group.AUGMENTATION, Group.MODEL, Group.TRAINING, Group.RUN
    recipes = f"that for the data set and the device, of {WITH_MACHINES}, or one without a name"
    add_training_flags(p, *groups, usual={"recipe": recipes})
    return p


if __name__ == "__main__":
    run_command(parser(), main)
