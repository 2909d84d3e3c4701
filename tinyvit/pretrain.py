"""`python -m tinyvit.pretrain`: train a Vision Transformer without labels, by predicting masked patches."""

import argparse

from tinyvit.objectives.patch_targets import TARGETS
from tinyvit.runs.settings import Settings
from tinyvit.shell.command import make_parser, rate, run_command
from tinyvit.shell.training_flags import (
    add_data_flags,
    add_fit_flags,
    add_model_flags,
    add_run_flags,
    settings_and_others,
)
from tinyvit.training.recipes import PRE_TRAINING
from tinyvit.training.session import train

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
    return train(chosen, **run_options)


def parser() -> argparse.ArgumentParser:
    """The command line; flags that are not given are absent from the result."""
    p = make_parser("pretrain", __doc__, _EPILOG)
    p.argument_default = argparse.SUPPRESS
    add_data_flags(p, usual_size="64")
    add_model_flags(p, "what is to classify later: a class token, or the mean of the patches")
    task = p.add_argument_group("task")
    task.add_argument(
        "--target",
        choices=TARGETS,
        help="what to predict of a patch: its mean colour, one of 512; the patch downsized to 4 x 4 pixels "
        f"of those colours; or all its pixels (default: {PRE_TRAINING['target']})",
    )
    task.add_argument(
        "--corrupt",
        type=rate,
        metavar="R",
        help=f"share of the patches to corrupt and predict (default: {Settings.corrupt:g})",
    )
    add_fit_flags(p, labels=False)
    add_run_flags(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
