"""Checkpoints: .npz files of plain arrays and JSON texts, with nothing that needs unpickling.

config              JSON: the model's ViTConfig
progress            JSON: the progress of the run (see training.state)
settings            JSON: the settings of the run; empty in a file that does not belong to one
classes             JSON: names of the classes; empty in a run, whose config.json has them
param/NAME          every parameter or, with --ema, its running average
training/weights    with --ema, the parameters themselves, flat
optimizer/NAME      every array of the optimiser's state, flat

best.npz, which is never resumed, has neither of the last two.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.backend import Array, to_numpy
from tinyvit.errors import UserError
from tinyvit.files.atomic import write_atomically
from tinyvit.files.npz import names_in_npz, read_npz
from tinyvit.model import Params, ViTConfig, layout

_REMEDY = "It is damaged or not a checkpoint: use the other one of last.npz and best.npz, or train again."


@dataclass
class Checkpoint:
    """A model and, for resuming its training, the optimiser's state and the progress made.

    If params are a running average, weights (flat) are what training goes on with.
    """

    config: ViTConfig
    params: Params
    optimizer: dict[str, Array] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    weights: Array | None = None
    settings: dict[str, Any] = field(default_factory=dict)


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint atomically. Raises UserError if it cannot be written."""
    params = Params(to_numpy(checkpoint.params.flat), checkpoint.params.rows)
    arrays = {
        "config": np.array(json.dumps(checkpoint.config.as_dict())),
        "progress": np.array(json.dumps(checkpoint.progress)),
        "classes": np.array(json.dumps(list(checkpoint.classes))),
        "settings": np.array(json.dumps(checkpoint.settings)),
    }
    arrays |= {f"param/{name}": params[name] for name in params}
    arrays |= {f"optimizer/{name}": to_numpy(array) for name, array in checkpoint.optimizer.items()}
    if checkpoint.weights is not None:
        arrays["training/weights"] = to_numpy(checkpoint.weights)
    write_atomically(path, lambda file: np.savez(file, **arrays))


def is_checkpoint(path: Path) -> bool:
    """Whether a file is one of tinyvit's checkpoints, rather than weights in another layout."""
    try:
        return "progress" in names_in_npz(path)
    except UserError:
        return False


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint into NumPy arrays. Raises UserError if it is missing, damaged or something else."""
    if not path.exists():
        raise UserError(
            f"there is no checkpoint {path}: expected a run folder made by tinyvit.train, with a "
            "checkpoint in it."
        )
    arrays = read_npz(path, _REMEDY)
    try:
        config = ViTConfig(**json.loads(str(arrays["config"])))
        progress = json.loads(str(arrays["progress"]))
        classes = tuple(json.loads(str(arrays.get("classes", "[]"))))
        settings = dict(json.loads(str(arrays.get("settings", "{}"))))
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{path} is not a checkpoint of tinyvit.train: its model description is missing or unreadable. "
            "Use last.npz or best.npz from a run folder."
        ) from error
    params, optimizer = _read_params(path, config, arrays), _section(arrays, "optimizer/")
    weights = arrays.get("training/weights")
    return Checkpoint(config, params, optimizer, progress, classes, weights, settings)


def _read_params(path: Path, config: ViTConfig, arrays: dict[str, np.ndarray]) -> Params:
    """The parameters, checked to have the shapes that the configuration requires."""
    rows, found = layout(config), _section(arrays, "param/")
    for name, shape in ((row.name, row.shape) for row in rows):
        if name not in found or found[name].shape != shape:
            has = f"shape {found[name].shape}" if name in found else "no such parameter"
            raise UserError(
                f"{path} does not match its own model: {name} should have shape {shape}, the file has {has}. "
                "Use another checkpoint, or train again."
            )
    params = Params.zeros(rows, found["head.weight"].dtype)
    for name in params:
        params[name] = found[name]
    return params


def _section(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
