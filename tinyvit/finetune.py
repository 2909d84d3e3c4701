"""`python -m tinyvit.finetune WEIGHTS`: adapt a trained model to other classes, or to larger images."""

import argparse
from pathlib import Path

from tinyvit.flags import (
    SIZE_OF_MODEL,
    add_training_flags,
    add_weights_argument,
    settings_and_others,
)
from tinyvit.insight.pictures.of_runs import RunPictures
from tinyvit.support.errors import UserError
from tinyvit.support.shell.command import make_parser, run_command
from tinyvit.training.recipes import FINE_TUNING, FINE_TUNING_STEPS
from tinyvit.training.session import train
from tinyvit.training.settings import Group, Settings

_EPILOG = """\
The head of the model is replaced with a new one, initialised to zero. Unless flags say otherwise, training
then is as in Table 4 of the paper: SGD with momentum, cosine decay, clipped gradients, and batches of 512
images, or fewer if the data set is small. The learning rate is 0.01 (0.001 if you choose another
optimiser). Training takes 5 epochs or 500 steps, whichever is longer, and half of the images are mirrored.
Of photos in a folder, random boxes are taken, of 65 to 100 % of their area: see --crop-scale.

examples:
  python -m tinyvit.finetune runs/cifar10-1 --dataset cifar100 --data-dir data
  python -m tinyvit.finetune Ti_16-384 --dataset folder --data-dir photos --resolution 224 --steps 200
  python -m tinyvit.finetune --resume runs/folder-1
"""
_USUAL = FINE_TUNING | SIZE_OF_MODEL
_USUAL |= {
    "epochs": f"{FINE_TUNING['epochs']}, or as many as make {FINE_TUNING_STEPS} updates",
    "batch_size": "512, or few enough for 16 batches an epoch",
    "accumulate": "parts of 64 images",
    "optimizer": "sgd; with --lora, adamw",
    "lr": "0.01; without sgd, 0.001",
    "crop_scale": "0.65 for photos, otherwise 1",
}


def main(args: argparse.Namespace) -> int:
    """Train with the flags that were given; returns the exit status."""
    chosen, run_options = settings_and_others(args)
    weights = chosen.get("weights")
    repeated = run_options["config"] and Settings.load(run_options["config"])
    if not (weights or run_options["resume"] or (repeated and repeated.weights)):
        raise UserError(
            "WEIGHTS to start from are missing: give a run folder, a file or a known name (see --help)."
        )
    if weights is not None:
        path = Path(weights)
        is_file = path.suffix.lower() in (".npz", ".safetensors")
        chosen["model"] = path.stem if is_file else path.name or weights
    return train(chosen, **run_options, pictures=RunPictures())


def parser() -> argparse.ArgumentParser:
    """The command line; flags that are not given are absent from the result."""
    p = make_parser("finetune", __doc__, _EPILOG)
    p.argument_default = argparse.SUPPRESS
    add_weights_argument(p, nargs="?")
    groups = Group.DATA, Group.AUGMENTATION, Group.WEIGHTS, Group.TRAINING, Group.RUN
    add_training_flags(p, *groups, usual=_USUAL, without={"recipe"})
    return p


if __name__ == "__main__":
    run_command(parser(), main)
