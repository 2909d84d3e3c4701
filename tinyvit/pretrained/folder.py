"""The file of weights in a folder as Hugging Face and timm publish it."""

from __future__ import annotations

import re
from pathlib import Path

from tinyvit.errors import UserError
from tinyvit.pretrained.shards import ENDING as INDEX

_WHOLE = ("model.safetensors", f"model{INDEX}")
_PART = re.compile(r"-\d+-of-\d+\.safetensors$")
_PICKLED = (".bin", ".bin.index.json", ".pth", ".pt", ".ckpt")


def weights_in(folder: Path) -> Path | None:
    """The weights in a folder: model.safetensors, or the index of its parts. None if there are none at all.

    Raises UserError if there are weights, but under another name or in a form that tinyvit does not read.
    """
    found = next((folder / name for name in _WHOLE if (folder / name).is_file()), None)
    if found or not folder.is_dir():
        return found
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    others = [name for name in names if name.endswith((".safetensors", INDEX))]
    if whole := [name for name in others if not _PART.search(name)]:
        raise UserError(
            f"{folder} holds no model.safetensors, but {', '.join(whole)}: name the file that you mean, such "
            f"as {folder / whole[0]}."
        )
    if others:
        raise UserError(
            f"{folder} holds {others[0]}, a part of a model, but no model{INDEX} that says which parts there "
            "are: fetch all files again."
        )
    if pickled := next((name for name in names if name.endswith(_PICKLED)), None):
        raise UserError(
            f"{folder} keeps its weights in {pickled}, which can run code when it is opened; tinyvit reads "
            "model.safetensors: fetch that, or open it in transformers and use save_pretrained."
        )
    return None
