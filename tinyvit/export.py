"""`python -m tinyvit.export WEIGHTS OUT`: write a model in official, timm or Hugging Face format."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinyvit.front import load
from tinyvit.pretrained.loading import check_has_head, class_names
from tinyvit.pretrained.save import check_free
from tinyvit.shell.command import make_parser, run_command
from tinyvit.shell.flags import add_checkpoint_flag, add_weights_argument, add_weights_flags
from tinyvit.shell.progress import Progress

_EPILOG = """\
The ending of OUT decides the format:

  NAME.npz          the official format, for models that compute as the
                    official code does (tanh GELU, epsilon 1e-6), which
                    includes all models trained with tinyvit
  NAME.safetensors  arrays named as timm names them, if the model has exact GELU
                    and epsilon 1e-6, or as Hugging Face does, if it has exact
                    GELU and epsilon 1e-12
  NAME              a folder that Hugging Face's from_pretrained opens, for any
                    GELU and epsilon; only this format keeps the names of classes

examples:
  python -m tinyvit.export runs/cifar10-1 cifar10.npz
  python -m tinyvit.export runs/folder-1 my-flowers
"""


def main(args: argparse.Namespace) -> None:
    """Load the model, write it, and say where."""
    report = Progress().download(args.weights)
    check_free(args.out)  # before anything is downloaded
    model = load(args.weights, checkpoint=args.checkpoint, heads=args.heads, report=report)
    check_has_head(args.weights, model)
    model = model.at_resolution(args.resolution, args.position_resize)
    model.save(args.out, "official" if args.out.suffix.lower() == ".npz" else None)
    print(f"wrote {args.out}: {model.params.count:,} parameters")
    if model.classes and class_names(str(args.out), model.config.classes) != model.classes:
        print(
            f"the names of its {len(model.classes)} classes are not included, since this format has no place "
            "for them; a folder (OUT without an ending) has"
        )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("export", __doc__, _EPILOG)
    add_weights_argument(p)
    p.add_argument("out", type=Path, metavar="OUT", help="file (.npz or .safetensors) or folder to write")
    add_weights_flags(p)
    add_checkpoint_flag(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
