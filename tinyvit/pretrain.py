"""`python -m tinyvit.pretrain`: train a Vision Transformer without labels, by predicting masked patches."""

import argparse

from tinyvit.flags import add_training_flags, settings_and_others
from tinyvit.insight.pictures.of_runs import RunPictures
from tinyvit.support.shell.command import make_parser, run_command
from tinyvit.training.recipes import PRE_TRAINING
from tinyvit.training.session import train
from tinyvit.training.settings import Group, Settings

_EPILOG = """\
Half of the patches of every image are chosen, nine in ten of these are hidden or replaced, and the model
learns to predict what all of the chosen ones look like (appendix B.1.2 of the paper). Labels are not used.
Settings not given by a flag come from the recipe that tinyvit.train has for the data set and the device;
config.json in the run folder records them all.
tinyvit.finetune then starts from the run, with a new head for the classes of any data set.

examples:
  python -m tinyvit.pretrain
  python -m tinyvit.pretrain --dataset cifar10 --epochs 20
  python -m tinyvit.finetune runs/cifar10-1 --dataset cifar10
  python -m tinyvit.pretrain --resume runs/cifar10-1
"""


def main(args: argparse.Namespace) -> int:
    """Train with the flags that were given; returns the exit status."""
    chosen, run_options = settings_and_others(args)
    repeated = run_options["config"] and Settings.load(run_options["config"])
    if not run_options["resume"] and not (repeated and repeated.target):
        chosen.setdefault("target", PRE_TRAINING["target"])
    return train(chosen, **run_options, pictures=RunPictures())


def parser() -> argparse.ArgumentParser:
    """The command line; flags that are not given are absent from the result."""
    p = make_parser("pretrain", __doc__, _EPILOG)
    p.argument_default = argparse.SUPPRESS
    groups = Group.DATA, Group.AUGMENTATION, Group.MODEL, Group.TASK, Group.TRAINING, Group.RUN
    of_labels = {"recipe", "smoothing", "balanced"}
    add_training_flags(p, *groups, usual=PRE_TRAINING, without=of_labels)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
