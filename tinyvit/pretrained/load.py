"""One door for all weights: a run of one's own, an official .npz, or a timm or Hugging Face .safetensors."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from tinyvit.errors import UserError
from tinyvit.files import write_atomically
from tinyvit.model import Params, ViTConfig
from tinyvit.pretrained.official import from_official, is_official, to_official
from tinyvit.pretrained.resize import with_arrays
from tinyvit.pretrained.safetensors import read_safetensors
from tinyvit.pretrained.torch_names import from_torch_names
from tinyvit.training.checkpoint import load_checkpoint


def load_weights(path: Path, heads: int | None = None) -> tuple[ViTConfig, Params]:
    """Model and parameters (float32) from a file of any kind that tinyvit reads, found out from its content.

    heads is needed only for a timm or Hugging Face file whose heads are not 64 wide. Raises UserError if
    the file is missing, damaged, or not a plain ViT.
    """
    if not path.is_file():
        raise UserError(
            f"there are no weights {path}: expected an .npz or .safetensors file, or a known name."
        )
    if path.suffix == ".safetensors":
        return from_torch_names(read_safetensors(path), path.name, heads)
    if path.suffix != ".npz":
        raise UserError(f"{path.name} has no ending that tinyvit knows, expected .npz or .safetensors.")
    arrays = read_npz(path)
    if "config" in arrays and "head.weight" not in arrays and not is_official(set(arrays)):
        checkpoint = load_checkpoint(path)
        return checkpoint.config, checkpoint.params
    return from_official(arrays, path.name)


def save_official(path: Path, config: ViTConfig, params: Params) -> None:
    """Write parameters in the layout of the official .npz files, which other programs read."""
    arrays = to_official(config, params)
    write_atomically(path, lambda file: np.savez(file, **arrays))


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an .npz, never unpickling. Raises UserError if it is damaged or holds Python objects."""
    try:
        with np.load(path, allow_pickle=False) as file:
            names = file.files
            if len(set(names)) < len(names):
                raise UserError(
                    f"{path.name} holds two arrays of the same name: it is damaged. Download it again."
                )
            return {name: file[name] for name in names}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise UserError(f"{path.name} is no usable .npz file ({error}). Download it again.") from error


def with_new_head(config: ViTConfig, params: Params, classes: int) -> tuple[ViTConfig, Params]:
    """The same model with a head of zeros for other classes, and no pre_logits layer (paper, section 3.2).

    Zero weights give every class the same score: the first steps then move the head, not the features.
    """
    new = ViTConfig(**(config.as_dict() | {"classes": classes, "pre_logits": 0}))
    kept = Params.zeros(
        {n: shape for n, shape in params.shapes.items() if "pre_logits" not in n}, params.flat.dtype
    )
    for name in kept:
        kept[name] = params[name]
    head = {"head.weight": np.zeros((config.width, classes)), "head.bias": np.zeros(classes)}
    return new, with_arrays(kept, head)
