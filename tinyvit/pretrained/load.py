"""One way in for all published weights, and the ways back out."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tinyvit.errors import UserError
from tinyvit.files.atomic import write_atomically
from tinyvit.model import Params, ViTConfig
from tinyvit.pretrained.description import read_description, read_pixel_scale
from tinyvit.pretrained.npz import read_npz
from tinyvit.pretrained.official import from_official, is_official, to_official
from tinyvit.pretrained.pixels import adapt_to_pixel_scale
from tinyvit.pretrained.safetensors import read_metadata, read_safetensors, write_safetensors
from tinyvit.pretrained.torch_names import from_torch_names, to_torch_names

_READERS = {".npz": read_npz, ".safetensors": read_safetensors}


def load_weights(
    path: Path,
    heads: int | None = None,
    image_size: tuple[int, int] | int | None = None,
    dtype: str = "float32",
) -> tuple[ViTConfig, Params]:
    """Model and parameters of a file; whose names it uses is found out from its content.

    Nearly everything is read off the arrays. What they cannot tell is taken from the config.json that timm
    and Hugging Face put beside their files, if there is one; heads and image_size, if given, come before
    both. A model that was trained on pixels of another scale, as that file or preprocessor_config.json says,
    is changed to take those from -1 to 1. Raises UserError if the file is missing, damaged, or not a plain
    ViT.
    """
    if not path.is_file():
        raise UserError(
            f"there are no weights {path}: expected an .npz or .safetensors file, or a known name."
        )
    ending = path.suffix.lower()
    if ending not in _READERS:
        raise UserError(f"{path} has no ending that tinyvit knows, expected .npz or .safetensors.")
    arrays = _READERS[ending](path)
    if is_official(arrays):
        return from_official(arrays, str(path), image_size, dtype)
    given = {"heads": heads, "image_size": image_size}
    stated = read_metadata(path).get("heads", "") if ending == ".safetensors" else ""  # as we write it
    known = {"heads": int(stated)} if re.fullmatch("[0-9]{1,4}", str(stated)) else {}
    known |= read_description(path.with_name("config.json"))
    known |= {key: value for key, value in given.items() if value is not None}
    config, params = from_torch_names(arrays, str(path), known, dtype)
    if (scale := read_pixel_scale(path.parent)) is not None:
        adapt_to_pixel_scale(config, params, scale)
    return config, params


def save_official(path: Path, config: ViTConfig, params: Params) -> None:
    """Write parameters in the layout of the official .npz files, which other programs read.

    Raises UserError if the model's arithmetic is not that of the official code.
    """
    arrays = to_official(config, params)
    write_atomically(path, lambda file: np.savez(file, **arrays))


def save_safetensors(path: Path, config: ViTConfig, params: Params) -> None:
    """Write parameters as safetensors: in timm's names, or Hugging Face's if the model's eps is theirs.

    Raises UserError if the model's arithmetic is that of neither.
    """
    write_safetensors(path, to_torch_names(config, params), {"format": "pt", "heads": str(config.heads)})
