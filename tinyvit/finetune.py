"""`python -m tinyvit.finetune WEIGHTS`: adapt a trained model to other images, in higher resolution too."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinyvit.errors import UserError
from tinyvit.shell.command import make_parser, run_command
from tinyvit.shell.flags import add_weights_flags
from tinyvit.shell.training_flags import add_data_flags, add_fit_flags, add_run_flags
from tinyvit.training.session import train

_EPILOG = """\
WEIGHTS is a run folder, an .npz or .safetensors file, or a known name such as Ti_16-384 or ViT-B_16. The
head is replaced by zeros, and training goes as in the paper's Table 4: SGD with momentum at 0.01, clipping,
cosine, batches of 512 images, or fewer where the data set is small, for 5 epochs, or 500 steps if that is
longer; half of the images are mirrored.

examples:
  python -m tinyvit.finetune runs/cifar10-1 --dataset cifar100 --data-dir data
  python -m tinyvit.finetune Ti_16-384 --dataset folder --data-dir photos --resolution 224 --steps 200
  python -m tinyvit.finetune --resume runs/folder-1
"""


def main(args: argparse.Namespace) -> int:
    """Hand what was given to the training room; returns its exit status."""
    chosen = vars(args)
    apart = {name: chosen.pop(name, None) for name in ("out", "resume", "config", "data_url")}
    weights = chosen.get("weights")
    if not weights and not apart["resume"] and not apart["config"]:
        raise UserError(
            "there are no WEIGHTS to start from: name a run folder, a file or a known name (see --help)."
        )
    if weights is not None:
        path = Path(weights)
        is_file = path.suffix.lower() in (".npz", ".safetensors")
        chosen["model"] = path.stem if is_file else path.name or weights
    return train(chosen, **apart)


def parser() -> argparse.ArgumentParser:
    """The command line; flags that are not given are absent from its result."""
    p = make_parser("finetune", "Fine-tune a trained model on other images.", _EPILOG)
    p.argument_default = argparse.SUPPRESS
    p.add_argument(
        "weights", metavar="WEIGHTS", nargs="?", help="a run folder, a file of weights, or a known name"
    )
    add_data_flags(p)
    add_weights_flags(p)
    add_fit_flags(p)
    add_run_flags(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
