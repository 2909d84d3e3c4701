"""`python -m tinyvit.info MODEL`: show how large a model is, what it costs, and what it is made of."""

import argparse
from dataclasses import replace
from pathlib import Path

from tinyvit.api import load
from tinyvit.flags import WEIGHTS, add_flags
from tinyvit.insight.summary import default_image, presets_table, summary
from tinyvit.model import RESNETS, SIZES, ViTConfig, is_preset, preset, usual_name
from tinyvit.model.presets import OFFICIAL, SMALL
from tinyvit.support.errors import UserError, did_you_mean
from tinyvit.support.figures import call
from tinyvit.support.shell.command import make_parser, path_text, pixel_count, positive_int, run_command
from tinyvit.support.shell.progress import Progress
from tinyvit.training.recipes import followed
from tinyvit.training.run_folder import RunFolder
from tinyvit.weights.known import KNOWN, is_hub_name, is_known

_EPILOG = """\
MODEL is a preset, such as B/16 or resnet-50, or whatever tinyvit.finetune accepts: a run folder, a file of
weights, or a known name. A preset is described for ImageNet (224 pixels, 1000 classes) if it is one of the
official ones, and for CIFAR-10 (32 pixels, 10 classes) otherwise, unless --image-size and --classes say
differently.
Without MODEL, all presets are listed next to the figures in Table 1 of the paper.

examples:
  python -m tinyvit.info
  python -m tinyvit.info B/16 --image-size 384
  python -m tinyvit.info runs/shapes-1
"""


def main(args: argparse.Namespace) -> None:
    """Find the model and print what is known about it."""
    if args.model is None:
        if args.image_size or args.classes or args.heads:
            raise UserError("--image-size, --classes and --heads need a MODEL: give one.")
        print(presets_table())
    else:
        config, name = _find(args.model, args.image_size, args.classes, args.heads)
        print(summary(config, name))
        if (run := Path(args.model) / "best.npz").exists():
            settings = RunFolder.open(run.parent).settings()
            if recipe := followed(settings):
                print(f"\ntrained by the recipe {recipe}: see {call('recipe')} {settings.recipe}")


def _find(
    model: str, image_size: int | None, classes: int | None, heads: int | None
) -> tuple[ViTConfig, str]:
    """The configuration that the argument refers to, and its name.

    Names such as ViT-B_16 are both presets and known weights; the preset wins, since it needs no download.
    """
    given = Path(model).exists() or model.endswith((".npz", ".safetensors"))
    if not given and is_preset(model):
        if heads:
            raise UserError("a preset has a fixed number of heads: omit --heads, or give a file.")
        name = usual_name(model)
        side, count = default_image(name)
        return preset(model, image_size or side, classes or count), name
    on_hub = is_hub_name(model) and not model.rpartition("/")[2].isdigit()  # which a preset's name may be
    if not (given or is_known(model) or on_hub):
        hint = did_you_mean(model, [*map(usual_name, SMALL + OFFICIAL), *KNOWN])
        raise UserError(
            f"{model} is not a model, a file, a run folder or a known name{hint}: expected SIZE/PATCH such "
            f"as B/16 or R26+S/32 (SIZE one of {', '.join(SIZES)}), "
            f"{', '.join(f'resnet-{size}' for size in RESNETS)}, an .npz or .safetensors file, a run folder, "
            f"a model on Hugging Face's hub, or one of {', '.join(KNOWN)}."
        )
    config = load(model, heads=heads, report=Progress().download(model)).config
    if classes:
        config = replace(config, classes=classes, pre_logits=0, predicts="image", head_bias=True)
    if image_size:
        config = replace(config, image_size=(image_size, image_size))
    return config, model


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("info", __doc__, _EPILOG)
    p.add_argument(
        "model",
        type=path_text,
        nargs="?",
        metavar="MODEL",
        help=f"a preset such as B/16, a run folder, {WEIGHTS}",
    )
    p.add_argument(
        "--image-size", type=pixel_count, metavar="N", help="describe the model for images of N x N pixels"
    )
    p.add_argument(
        "--classes", type=positive_int, metavar="C", help="describe the model with a head for C classes"
    )
    add_flags(p, "heads")
    return p


if __name__ == "__main__":
    run_command(parser(), main)
