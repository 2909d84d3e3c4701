"""`python -m tinyvit.export WEIGHTS OUT`: write a model in official, timm or Hugging Face format."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinyvit.errors import UserError
from tinyvit.pretrained.hugging_face import save_hugging_face
from tinyvit.pretrained.load import save_official, save_safetensors
from tinyvit.pretrained.loading import at_resolution, check_has_head, class_names, load_any
from tinyvit.shell.command import make_parser, run_command
from tinyvit.shell.flags import add_checkpoint_flag, add_weights_argument, add_weights_flags
from tinyvit.shell.progress import Progress

_EPILOG = """\
The ending of OUT decides the format:

  NAME.npz          the official one, for models that compute as the official
                    code does (tanh GELU, epsilon 1e-6), which includes all that
                    were trained here
  NAME.safetensors  arrays named as timm names them, if the model has exact GELU
                    and epsilon 1e-6, or as Hugging Face does, if it has exact
                    GELU and epsilon 1e-12
  NAME              a folder that from_pretrained of Hugging Face opens, for any
                    GELU and epsilon

examples:
  python -m tinyvit.export runs/cifar10-1 cifar10.npz
  python -m tinyvit.export runs/folder-1 my-flowers
"""


def main(args: argparse.Namespace) -> None:
    """Load the model, write it, and say where."""
    out: Path = args.out
    if out.exists():
        raise UserError(f"{out} already exists and is left as it is: choose another name.")
    ending = out.suffix.lower()
    if ending not in ("", ".npz", ".safetensors"):
        raise UserError(
            f"{out} ends in {out.suffix}: expected .npz, .safetensors, or no ending for a folder."
        )
    config, params = load_any(args.weights, Progress(), args.heads, args.checkpoint)
    check_has_head(args.weights, config)
    config, params = at_resolution(config, params, args.resolution, args.position_resize)
    if ending == ".npz":
        save_official(out, config, params)
    elif ending == ".safetensors":
        save_safetensors(out, config, params)
    else:
        save_hugging_face(out, config, params, class_names(args.weights, config.classes))
    print(f"wrote {out}: {params.count:,} parameters")


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
