"""What a model may be saved over: what an earlier save or export has left there, and nothing else."""

import os
from pathlib import Path

from tinyvit.errors import UserError
from tinyvit.files.npz import is_sealed
from tinyvit.files.reading import open_regular
from tinyvit.runs.checkpoint import is_checkpoint, load_checkpoint

_FILES = {"model.safetensors", "config.json", "preprocessor_config.json"}  # of a folder
# What tinyvit writes near the start of a .safetensors, .onnx and .html file
_MARKS = b'"writer":"tinyvit"', b"\x12\x07tinyvit", b'<meta name="generator" content="tinyvit">'
_NEAR = 10_000  # bytes


def check_replaceable(path: Path) -> None:
    """Raise UserError if there is anything of that name but a model or page that tinyvit has saved.

    Checkpoints of a run, which hold its progress, and links that lead nowhere are not replaced either.
    """
    if os.path.lexists(path) and not _is_saved(path):
        raise UserError(
            f"{path} already exists and will not be overwritten: only a model or page that tinyvit "
            "has saved or exported is, and no checkpoint of a run. Choose another name, or move it away."
        )


def _is_saved(path: Path) -> bool:
    try:
        if path.is_dir():
            return {file.name for file in path.iterdir()} <= _FILES and _is_saved(path / "model.safetensors")
        with open_regular(path) as file:
            start, sealed = file.read(_NEAR), is_sealed(file)
        if path.suffix.lower() != ".npz":
            return any(mark in start for mark in _MARKS)
        return sealed and not (is_checkpoint(path) and load_checkpoint(path).progress)
    except (OSError, UserError):
        return False
