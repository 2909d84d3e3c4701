"""`python -m tinyvit.info MODEL|FILE|RUN`: how large a model is, what it costs, what it is made of."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from tinyvit.analysis.summary import default_image, presets_table, summary
from tinyvit.errors import UserError
from tinyvit.front import load
from tinyvit.model import SIZES, ViTConfig, is_preset, preset, usual_name
from tinyvit.pretrained.known import KNOWN
from tinyvit.shell.command import make_parser, positive_int, run_command
from tinyvit.shell.flags import add_heads_flag
from tinyvit.shell.progress import Progress

_EPILOG = """\
MODEL is a preset, SIZE/PATCH; where --image-size and --classes are not given, it is described for CIFAR-10
(32 pixels, 10 classes) or, of the official sizes, for ImageNet (224 pixels, 1000 classes). FILE and RUN are
what tinyvit.finetune takes. Without any: all presets, beside the paper's Table 1.

examples:
  python -m tinyvit.info
  python -m tinyvit.info B/16 --image-size 384
  python -m tinyvit.info runs/shapes-1
"""


def main(args: argparse.Namespace) -> None:
    """Find the model and print what is known of it."""
    if args.model is None:
        if args.image_size or args.classes or args.heads:
            raise UserError("--image-size, --classes and --heads are of a MODEL, FILE or RUN: name one.")
        print(presets_table())
    else:
        config, name = _find(args.model, args.image_size, args.classes, args.heads)
        print(summary(config, name))


def _find(
    model: str, image_size: int | None, classes: int | None, heads: int | None
) -> tuple[ViTConfig, str]:
    """The configuration that a word means, and what to call it.

    ViT-B_16 and its like are both a preset and known weights: a preset, for nothing need be downloaded.
    """
    given = Path(model).exists() or model.endswith((".npz", ".safetensors"))
    if not given and is_preset(model):
        if heads:
            raise UserError("a preset has its own number of heads: leave --heads away, or name a file.")
        name = usual_name(model)
        side, count = default_image(name)
        return preset(model, image_size or side, classes or count), name
    if not given and model.lower() not in map(str.lower, KNOWN):
        raise UserError(
            f"{model} is no model, file, run folder or known name: expected SIZE/PATCH such as B/16 (SIZE "
            f"one of {', '.join(SIZES)}), an .npz or .safetensors file, a run folder, or one of "
            f"{', '.join(KNOWN)}."
        )
    config = load(model, heads=heads, report=Progress().download(model)).config
    size, count = image_size or config.image_size, classes or config.classes
    return replace(config, image_size=size, classes=count), model


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("info", "How large a model is, what it costs, what it is made of.", _EPILOG)
    p.add_argument("model", nargs="?", metavar="MODEL", help="a preset, a file of weights, or a run folder")
    p.add_argument("--image-size", type=positive_int, metavar="N", help="side of its images, in pixels")
    p.add_argument("--classes", type=positive_int, metavar="C", help="how many classes its head has")
    add_heads_flag(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
