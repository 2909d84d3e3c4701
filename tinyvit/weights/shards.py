"""The weights in a folder: one safetensors file, or several with an index of which contains which array.

{"metadata": {..}, "weight_map": {"vit.layernorm.bias": "model-00002-of-00002.safetensors", ..}}
"""

import os
import re
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from tinyvit.errors import UserError
from tinyvit.files.reading import read_json
from tinyvit.weights.safetensors import read_safetensors
from tinyvit.weights.torch_files import TORCH_ENDINGS

ENDING = ".safetensors.index.json"


def read_shards(index: Path) -> dict[str, np.ndarray]:
    """All arrays of the files that an index names.

    Every file must be in the folder of the index and contain exactly the arrays that the index lists for it.
    Raises UserError if that is not so, if a file is damaged, or if the index is unreadable.
    """
    names_in: dict[str, set[str]] = defaultdict(set)
    for name, file in read_index(index).items():
        names_in[file].add(name)
    arrays: dict[str, np.ndarray] = {}
    for file, expected in sorted(names_in.items()):
        found = read_safetensors(index.with_name(file))
        if odd := sorted(expected ^ found.keys()):
            has = "lacks" if odd[0] in expected else "also contains"
            raise _bad(index, f"{file} {has} {odd[0]!r}", "Download all files again")
        arrays |= found
    return arrays


def read_index(index: Path) -> dict[str, str]:
    """The file that contains each array, by the array's name. Raises UserError like read_shards."""
    try:
        file_of = read_json(index)["weight_map"]
        pairs = list(file_of.items())
    except OSError as error:
        raise UserError(f"cannot read {index}: {error.strerror or error}.") from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise _bad(
            index, f"it does not say which file contains what ({error})", "Download it again"
        ) from error
    for _, file in pairs:
        if not _is_plain_name(file):
            raise _bad(index, f"{file!r} is not the name of a .safetensors file beside it", "Do not trust it")
    for file in sorted({file for _, file in pairs}):
        if not os.path.isfile(index.with_name(file)):  # unlike is_file, not an error for a name too long
            raise _bad(index, f"{file} is missing", "Download it too, into the same folder")
    return file_of


def _is_plain_name(file: object) -> bool:
    """Whether this names a file in the folder itself on every system, without a path or a drive."""
    return isinstance(file, str) and file.endswith(".safetensors") and not set(file) & set("/\\:\0")


def _bad(index: Path, why: str, remedy: str) -> UserError:
    return UserError(f"{index} cannot be used: {why}. {remedy}.")


_WHOLE = ("model.safetensors", f"model{ENDING}")
_PART = re.compile(r"-\d+-of-\d+\.safetensors$")
_PICKLED = (*TORCH_ENDINGS, ".bin.index.json", ".ckpt")


def weights_in(folder: Path) -> Path | None:
    """The weights in a folder: model.safetensors, or the index of its parts. None if there are no weights.

    Raises UserError if there are weights, but under another name or in a format that tinyvit does not read.
    """
    found = next((folder / name for name in _WHOLE if os.path.isfile(folder / name)), None)
    if found or not os.path.isdir(folder):  # unlike is_dir, not an error for a name too long
        return found
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    others = [name for name in names if name.endswith((".safetensors", ENDING))]
    if whole := [name for name in others if not _PART.search(name)]:
        raise UserError(
            f"{folder} contains no model.safetensors, but {', '.join(whole)}: give the file that you mean, "
            f"such as {folder / whole[0]}."
        )
    if others:
        raise UserError(
            f"{folder} contains {others[0]}, a part of a model, but no model{ENDING} that lists the parts: "
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
