"""One way in for all published weights: official .npz files, and .safetensors of timm or Hugging Face."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from tinyvit.errors import UserError
from tinyvit.files import write_atomically
from tinyvit.model import Params, ViTConfig
from tinyvit.pretrained.official import from_official, to_official
from tinyvit.pretrained.resize import with_arrays
from tinyvit.pretrained.safetensors import read_safetensors
from tinyvit.pretrained.torch_names import from_torch_names


def load_weights(path: Path, heads: int | None = None) -> tuple[ViTConfig, Params]:
    """Model and parameters (float32) of a file; whose names it uses is found out from its content.

    heads is needed only for a timm or Hugging Face file whose heads are not 64 wide. Raises UserError if the
    file is missing, damaged, or not a plain ViT.
    """
    if not path.is_file():
        raise UserError(
            f"there are no weights {path}: expected an .npz or .safetensors file, or a known name."
        )
    if path.suffix == ".safetensors":
        return from_torch_names(read_safetensors(path), path.name, heads)
    if path.suffix == ".npz":
        return from_official(read_npz(path), path.name)
    raise UserError(f"{path.name} has no ending that tinyvit knows, expected .npz or .safetensors.")


def save_official(path: Path, config: ViTConfig, params: Params) -> None:
    """Write parameters in the layout of the official .npz files, which other programs read."""
    arrays = to_official(config, params)
    write_atomically(path, lambda file: np.savez(file, **arrays))


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an .npz, never unpickling. Raises UserError if it is damaged or holds Python objects."""
    try:
        with np.load(path, allow_pickle=False) as file:
            if not isinstance(file, np.lib.npyio.NpzFile):
                raise ValueError("it holds a single array")
            if len(set(file.files)) < len(file.files):
                raise ValueError("two of its arrays have the same name")
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise UserError(f"{path.name} is no usable .npz file: {error}. Download it again.") from error


def with_new_head(config: ViTConfig, params: Params, classes: int) -> tuple[ViTConfig, Params]:
    """The same model with a head of zeros for other classes, and without pre_logits (paper, section 3.2).

    Zero weights give every class the same score, so that the first step moves the head and not the features.
    """
    new = ViTConfig(**(config.as_dict() | {"classes": classes, "pre_logits": 0}))
    shapes = {name: shape for name, shape in params.shapes.items() if not name.startswith("pre_logits.")}
    kept = Params.zeros(shapes, params.flat.dtype)
    for name in kept:
        kept[name] = params[name]
    head = {"head.weight": np.zeros((config.width, classes)), "head.bias": np.zeros(classes)}
    return new, with_arrays(kept, head)
