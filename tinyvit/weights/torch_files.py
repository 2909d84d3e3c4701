"""Reading what PyTorch has pickled, .pth, .pt and .bin, safely: tensors only."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.errors import UserError

TORCH_ENDINGS = (".pth", ".pt", ".bin")
_KNOWN_TO_NUMPY = ("torch.float16", "torch.float32", "torch.float64")
# Under which keys the parameters are found in files that hold more, such as an optimiser's state.
_INNER = ("state_dict", "model", "model_state_dict", "teacher", "module")


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
    if not os.path.isfile(path):
        raise UserError(f"there are no weights {path}: expected a .pth, .pt or .bin file.")
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
