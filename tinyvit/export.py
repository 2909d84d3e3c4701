"""`python -m tinyvit.export WEIGHTS OUT`: write a model as others read it: official, timm, Hugging Face."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinyvit.errors import UserError
from tinyvit.pretrained.hugging_face import save_hugging_face
from tinyvit.pretrained.load import save_official, save_safetensors
from tinyvit.pretrained.loading import at_resolution, check_has_head, class_names, load_any, photo_fit
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
    out: Path = args.out
    if out.exists():
        raise UserError(f"{out} is there already, and is left as it is: give another name.")
    ending = out.suffix.lower()
    if ending not in ("", ".npz", ".safetensors"):
        raise UserError(f"{out} ends in {out.suffix}: expected .npz, .safetensors, or no dot for a folder.")
    config, params = load_any(args.weights, Progress(), args.heads, args.checkpoint)
    check_has_head(args.weights, config)
    config, params = at_resolution(config, params, args.resolution, args.position_resize, args.weights)
    if ending == ".npz":
        save_official(out, config, params)
    elif ending == ".safetensors":
        save_safetensors(out, config, params)
    else:
        save_hugging_face(
            out, config, params, class_names(args.weights, config.classes), photo_fit(args.weights)
        )
    print(f"wrote {out}: {params.count:,} parameters")


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
