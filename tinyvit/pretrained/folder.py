"""Finding the weights in a folder published by Hugging Face or timm."""

import os
import re
from pathlib import Path

from tinyvit.errors import UserError
from tinyvit.pretrained.shards import ENDING as INDEX

_WHOLE = ("model.safetensors", f"model{INDEX}")
_PART = re.compile(r"-\d+-of-\d+\.safetensors$")
_PICKLED = (".bin", ".bin.index.json", ".pth", ".pt", ".ckpt")


def weights_in(folder: Path) -> Path | None:
    """The weights in a folder: model.safetensors, or the index of its parts. None if there are no weights.

    Raises UserError if there are weights, but under another name or in a format that tinyvit does not read.
    """
    found = next((folder / name for name in _WHOLE if os.path.isfile(folder / name)), None)
    if found or not os.path.isdir(folder):  # unlike is_dir, not an error for a name too long
        return found
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
        raise UserError(
            f"{folder} has its weights in {pickled}, which can run code when it is opened; tinyvit reads "
            "model.safetensors: download that, or open the model in transformers and use save_pretrained."
        )
    return None
