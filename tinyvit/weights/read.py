"""Reading published weights of every kind from their files.

What PyTorch has pickled (.pth, .pt and .bin) is read safely: tensors only.
"""

import os
import re
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.model import Params, ViTConfig
from tinyvit.support.errors import UserError
from tinyvit.support.files.npz import is_sealed, names_in_npz, read_npz
from tinyvit.weights.description import is_described_by_timm, read_description
from tinyvit.weights.equivalent import OWN_PIXELS, adapt_to_pixel_scale
from tinyvit.weights.naming import DINOV2, TIMM, naming_of, usual_names, usual_pixels
from tinyvit.weights.official import from_official, is_official
from tinyvit.weights.preprocessing import read_pixel_scale
from tinyvit.weights.safetensors import (
    INDEX,
    names_in_safetensors,
    read_index,
    read_metadata,
    read_safetensors,
    read_shards,
)
from tinyvit.weights.torch_names import from_torch_names

TORCH_ENDINGS = (".pth", ".pt", ".bin")
_KNOWN_TO_NUMPY = ("torch.float16", "torch.float32", "torch.float64")
# Under which keys the parameters are found in files that hold more, such as an optimiser's state.
_INNER = ("state_dict", "model", "model_state_dict", "teacher", "module")
_WHOLE = ("model.safetensors", f"model{INDEX}")
_PART = re.compile(r"-\d+-of-\d+\.safetensors$")
_PICKLED = (*TORCH_ENDINGS, ".bin.index.json", ".ckpt")


def load_weights(
    path: Path,
    heads: int | None = None,
    image_size: tuple[int, int] | int | None = None,
    dtype: str = "float32",
) -> tuple[ViTConfig, Params]:
    """The configuration and parameters in a file; the library it is from is recognised by its array names.

    Nearly everything follows from the arrays. The rest is taken from the config.json that timm and Hugging
    Face publish with their files, if there is one, or from the metadata of tinyvit's own .safetensors files;
    heads and image_size, if given, take precedence, but heads may not contradict those metadata. A model
    trained on another scale of pixels, as stated in that config.json or in preprocessor_config.json, or
    implied by the names of its arrays, is adapted to pixels from -1 to 1; a warning says so where this scale
    is only assumed. path may be the index of a model in several files. Raises UserError if a file is missing,
    damaged, or not a plain ViT, or itself states that it has other heads.
    """
    arrays, ending = read_arrays(path), _ending(path)
    if is_official(arrays):
        return from_official(arrays, str(path), image_size, dtype)
    given = {"heads": heads, "image_size": image_size}
    metadata = read_metadata(path) if ending == ".safetensors" else {}
    own = _own_metadata(metadata)
    if heads not in (None, own.get("heads", heads)):
        raise UserError(f"{path} itself states that it has {own['heads']} heads: omit heads (--heads).")
    description = path.with_name("config.json")
    known = own or read_description(description)  # beside a file of ours, it is of another model
    known |= {key: value for key, value in given.items() if value is not None}
    is_described = description.is_file() and not own
    config, params = from_torch_names(arrays, str(path), known, dtype, described=is_described)
    if OWN_PIXELS.items() <= metadata.items():
        return config, params
    scale = read_pixel_scale(path.parent)
    if scale is None:
        scale = usual_pixels(naming_of(arrays, str(path)), usual_names(arrays).values())
    if scale is not None:
        return adapt_to_pixel_scale(config, params, scale, str(path))
    warnings.warn(
        f"{path} does not state the scale of its pixels: -1 to 1 is assumed, a mean and std of 0.5. If it was"
        " trained on another, put the preprocessor_config.json of its makers beside it, or write one, as in "
        '{"do_resize": false, "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}.',
        stacklevel=2,
    )
    return config, params


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays in a file of any kind, by their names there. Raises UserError as load_weights does."""
    read, _ = _READERS[_ending(path)]
    return read(path)


def is_by_tinyvit(path: Path) -> bool:
    """True if this is a .safetensors file that save_safetensors wrote."""
    is_safetensors = os.path.isfile(path) and path.suffix.lower() == ".safetensors"
    return is_safetensors and "heads" in _own_metadata(read_metadata(path))


def is_own(path: Path) -> bool:
    """True if tinyvit wrote this file of weights; then those beside it are of other models."""
    if path.suffix.lower() != ".npz" or not os.path.isfile(path):
        return is_by_tinyvit(path)
    with open(path, "rb") as file:
        return is_sealed(file)


def usual_position_resize(path: Path) -> str:
    """The way in which the library that wrote a file resizes position embeddings (see ops.resize).

    This is 'corners' for the official code, 'bicubic' for Hugging Face and torchvision, and 'antialias' for
    timm. It is 'bilinear' for timm's .npz files and for official ones next to timm's config.json, because
    that is how timm resizes what it reads from .npz files. Only the names of arrays are read. Raises
    UserError if the file is missing, damaged, or from an unknown library.
    """
    ending = _ending(path)
    _, read_names = _READERS[ending]
    names = read_names(path)
    library = None if is_official(names) else naming_of(names, str(path))
    beside_timm = not is_own(path) and is_described_by_timm(path.with_name("config.json"))
    if ending == ".npz" and (library is TIMM or beside_timm):
        return "bilinear"
    if library is DINOV2 and library.registers in usual_names(names).values():
        return "antialias"  # unlike DINOv2 without registers
    return library.resize if library else "corners"


def _own_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata of a file of save_safetensors beside its arrays."""
    known: dict[str, Any] = {}
    if re.fullmatch("[0-9]{1,4}", heads := str(metadata.get("heads", ""))):
        known["heads"] = int(heads)
    if found := re.fullmatch("([0-9]{1,5})x([0-9]{1,5})", str(metadata.get("image_size", ""))):
        known["image_size"] = int(found[1]), int(found[2])
    return known


def _ending(path: Path) -> str:
    """The ending of an existing file of weights; UserError if it does not exist or has another ending."""
    if not os.path.isfile(path):  # unlike is_file, not an error for a name too long
        raise UserError(
            f"there are no weights {path}: expected an .npz or .safetensors file, or a known name."
        )
    name = path.name.lower()
    ending = next((ending for ending in _READERS if name.endswith(ending)), None)
    if name.endswith(".onnx"):
        raise UserError(
            f"{path} is a program for other libraries, which tinyvit writes but does not read: give the run, "
            "or the .npz or .safetensors file, from which it was exported."
        )
    if ending is None:
        raise UserError(
            f"{path} is not a type of file that tinyvit reads, expected .npz or .safetensors; or, with "
            "PyTorch installed, .pth, .pt or .bin."
        )
    return ending


def weights_in(folder: Path) -> Path | None:
    """The weights in a folder: model.safetensors, or the index of its parts. None if there are no weights.

    Raises UserError if there are weights, but under another name or in a format that tinyvit does not read.
    """
    path = next((folder / name for name in _WHOLE if os.path.isfile(folder / name)), None)
    if path or not os.path.isdir(folder):  # unlike is_dir, not an error for a name too long
        return path
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    others = [name for name in names if name.endswith((".safetensors", INDEX))]
    if whole := [name for name in others if not _PART.search(name)]:
        raise UserError(
            f"{folder} contains no model.safetensors, but {', '.join(whole)}: give the file that you mean, "
            f"such as {folder / whole[0]}."
        )
    if others:
        raise UserError(
            f"{folder} contains {others[0]}, a part of a model, but no model{INDEX} that lists the parts: "
            "download all files again."
        )
    if pickled := next((name for name in names if name.endswith(_PICKLED)), None):
        if os.path.isfile(folder / "pytorch_model.bin") and find_spec("torch"):
            return folder / "pytorch_model.bin"
        raise UserError(
            f"{folder} has its weights in {pickled}, which can run code when it is opened; tinyvit reads "
            "model.safetensors: download that, or open the model in transformers and use save_pretrained. "
            "With PyTorch installed, pytorch_model.bin is read too."
        )
    return None


def read_torch(path: Path) -> dict[str, np.ndarray]:
    """The arrays in a PyTorch file. Raises UserError without PyTorch, or if it holds other things.

    Such a file can run code when it is opened in full; torch.load(weights_only=True) reads tensors alone.
    """
    try:
        import torch  # here, as only these files need it
    except ImportError:
        raise UserError(
            f"{path} is a PyTorch file, which can run code when it is opened, and which PyTorch alone "
            "reads safely: install it, or convert the file with safetensors.torch.save_file."
        ) from None
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # pickle and torch raise many kinds
        line = next(iter(str(error).splitlines()), type(error).__name__)
        raise UserError(
            f"{path} cannot be read as tensors alone ({line}): it is damaged, or holds more than weights. "
            "Choose a .safetensors file."
        ) from error
    while isinstance(content, dict) and (inner := next(filter(content.__contains__, _INNER), None)):
        rest = [key for key, value in content.items() if key != inner and _is_model(value)]
        content = content[inner]
        if rest:
            warnings.warn(
                f"{path} holds several models, of which {inner!r} is read, and not {', '.join(rest)}: to "
                "read another, save it to a file of its own.",
                stacklevel=1,
            )
    tensors = content.items() if isinstance(content, dict) else ()
    arrays = {str(name): _as_array(tensor) for name, tensor in tensors if isinstance(tensor, torch.Tensor)}
    if not arrays:
        raise UserError(f"{path} has no tensors by name: expected the state_dict of a model.")
    return arrays


def _is_model(content: Any) -> bool:
    """True for a dictionary of tensors, of which several are matrices."""
    return isinstance(content, dict) and sum(getattr(value, "ndim", 0) > 1 for value in content.values()) > 1


def _as_array(tensor: Any) -> np.ndarray:
    """A tensor as NumPy has it: numbers that NumPy lacks, such as bfloat16, in float32."""
    tensor = tensor.detach()
    is_foreign = tensor.is_floating_point() and str(tensor.dtype) not in _KNOWN_TO_NUMPY
    return (tensor.float() if is_foreign else tensor).numpy()


# How each kind of file is read, and how only the names of its arrays are.
_READERS = {
    ".npz": (read_npz, names_in_npz),
    ".safetensors": (read_safetensors, names_in_safetensors),
    INDEX: (read_shards, read_index),
    **dict.fromkeys(TORCH_ENDINGS, (read_torch, read_torch)),
}
