"""`python -m tinyvit.export WEIGHTS OUT`: write a model as others read it: official, timm, Hugging Face."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinyvit.front import load
from tinyvit.pretrained.loading import check_has_head
from tinyvit.pretrained.save import check_free
from tinyvit.shell.command import make_parser, run_command
from tinyvit.shell.flags import add_checkpoint_flag, add_weights_flags
from tinyvit.shell.progress import Progress

_EPILOG = """\
WEIGHTS is what tinyvit.finetune takes. How the model is written is told by the name OUT:

  NAME.npz            as the official code writes it: tanh GELU, epsilon 1e-6, as tinyvit.train makes them
  NAME.safetensors    in timm's names, for exact GELU and 1e-6, or Hugging Face's, for exact GELU and 1e-12
  NAME                a folder that Hugging Face's from_pretrained opens, whatever GELU and epsilon

examples:
  python -m tinyvit.export runs/cifar10-1 cifar10.npz
  python -m tinyvit.export runs/folder-1 my-flowers
"""


def main(args: argparse.Namespace) -> None:
    """Load the model, write it, say where."""
    report = Progress().download(args.weights)
    check_free(args.out)  # before anything is downloaded
    model = load(args.weights, checkpoint=args.checkpoint, heads=args.heads, report=report)
    check_has_head(args.weights, model)
    model = model.at_resolution(args.resolution, args.position_resize)
    model.save(args.out, "official" if args.out.suffix.lower() == ".npz" else None)
    print(f"wrote {args.out}: {model.params.count:,} parameters")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("export", "Write a model as others read it: official, timm, Hugging Face.", _EPILOG)
    p.add_argument("weights", metavar="WEIGHTS", help="a run folder, a file of weights, or a known name")
    p.add_argument("out", type=Path, metavar="OUT", help="a name: .npz, .safetensors, or a folder")
    add_weights_flags(p)
    add_checkpoint_flag(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
