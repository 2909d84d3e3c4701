"""Checkpoints: .npz files of plain arrays and JSON texts, with nothing that needs unpickling.

config              JSON: the model's ViTConfig
progress            JSON: the progress of the run (see training.state)
settings            JSON: the settings of the run; empty in a file that does not belong to one
classes             JSON: names of the classes; empty in a run, whose config.json has them
origin              JSON: how the library that the model comes from resizes positions and fits photos, if
                    not as tinyvit does
param/NAME          every parameter or, with --ema, its running average
training/weights    with --ema, the parameters themselves, flat
optimizer/NAME      every array of the optimiser's state, flat
sealed              text: the file ends in a checksum of everything before it (see files.npz)

best.npz, which is never resumed, has neither optimizer/NAME nor training/weights. Checkpoints of earlier
versions, without a checksum, are read too.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tinyvit.backend import Array, to_numpy
from tinyvit.data.photos import PhotoFit
from tinyvit.model import Params, ViTConfig, layout
from tinyvit.ops.resize import METHODS
from tinyvit.support.distributed import on_rank_zero
from tinyvit.support.errors import UserError, class_name
from tinyvit.support.files import parse_json
from tinyvit.support.files.atomic import write_atomically
from tinyvit.support.files.npz import SEALED, add_seal, names_in_npz, read_npz

# The numbers in a record of an epoch, if it has them.
_FIGURES = {"lr", "grad_norm", "images_per_second", "seconds", "train_loss"}
_FIGURES |= {"val_loss", "val_accuracy", "test_loss", "test_accuracy"}
_REMEDY = "It is damaged or not a checkpoint: use the other one of last.npz and best.npz, or train again."


@dataclass
class Checkpoint:
    """A model and, for resuming its training, the optimiser's state and the progress made.

    If params are a running average, weights (flat) are what training continues from. position_resize and
    photo_fit are those of tinyvit.Model.
    """

    config: ViTConfig
    params: Params
    optimizer: dict[str, Array] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    weights: Array | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    position_resize: str = "corners"
    photo_fit: PhotoFit | None = None


@on_rank_zero
def save_checkpoint(path: Path, checkpoint: Checkpoint, previous: Path | None = None) -> None:
    """Write a checkpoint atomically; the one that it replaces, if any, is then found at previous.

    Raises UserError if it cannot be written.
    """
    params = Params(to_numpy(checkpoint.params.flat), checkpoint.params.rows)
    arrays = {
        "config": np.array(json.dumps(checkpoint.config.as_dict())),
        "progress": np.array(json.dumps(checkpoint.progress)),
        "classes": np.array(json.dumps(list(checkpoint.classes))),
        "settings": np.array(json.dumps(checkpoint.settings)),
        SEALED: np.array("sha256"),
    }
    if checkpoint.photo_fit or checkpoint.position_resize != "corners":
        fit = asdict(checkpoint.photo_fit) if checkpoint.photo_fit else None
        origin = {"position_resize": checkpoint.position_resize, "photo_fit": fit}
        arrays["origin"] = np.array(json.dumps(origin))
    arrays |= {f"param/{name}": params[name] for name in params}
    arrays |= {f"optimizer/{name}": to_numpy(array) for name, array in checkpoint.optimizer.items()}
    if checkpoint.weights is not None:
        arrays["training/weights"] = to_numpy(checkpoint.weights)

    def write(file: BinaryIO) -> None:
        np.savez(file, **arrays)  # type: ignore[arg-type]
        add_seal(file)

    write_atomically(path, write, previous)


def is_checkpoint(path: Path) -> bool:
    """True if a file is one of tinyvit's checkpoints, rather than weights in another layout."""
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
        config = ViTConfig(**_content(arrays, "config"))
        progress = _checked_progress(_content(arrays, "progress"))
        classes = _content(arrays, "classes") if "classes" in arrays else []
        if not isinstance(classes, list) or not all(isinstance(name, str) for name in classes):
            raise ValueError("the names of its classes are not texts")
        if classes and len(classes) != config.classes:
            raise ValueError(f"there are {len(classes)} class names for {config.classes} classes")
        settings = _content(arrays, "settings") if "settings" in arrays else {}
        if not isinstance(settings, dict):
            raise ValueError("its settings are not those of a run")
        position_resize, photo_fit = _origin(_content(arrays, "origin") if "origin" in arrays else {})
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise UserError(
            f"{path} is not a checkpoint of tinyvit.train: its model description is missing or unreadable. "
            "Use last.npz or best.npz from a run folder."
        ) from error
    params, optimizer = _read_params(path, config, arrays), _section(arrays, "optimizer/")
    weights = arrays.get("training/weights")
    _check_finite(
        path, {"param": params.flat, **optimizer} | ({} if weights is None else {"weights": weights})
    )
    names = tuple(map(class_name, classes))
    return Checkpoint(
        config, params, optimizer, progress, names, weights, settings, position_resize, photo_fit
    )


def _content(arrays: dict[str, np.ndarray], name: str) -> Any:
    """The value of a JSON string."""
    if arrays[name].shape != () or arrays[name].dtype.kind != "U":
        raise ValueError(f"{name} is not a text")
    try:
        text = str(arrays[name])
    except SystemError:  # as Python says of a number that is no character
        raise ValueError(f"{name} is not a text") from None
    return parse_json(text)


def _origin(stated: dict[str, Any]) -> tuple[str, PhotoFit | None]:
    """position_resize and photo_fit; one of the errors of nonsense if they are not what they should be."""
    method, fit = stated.get("position_resize", "corners"), stated.get("photo_fit")
    if method not in METHODS:
        raise ValueError(f"there is no method {method!r} for positions")
    if fit is None:
        return method, None
    numbers = {
        name: tuple(map(int, fit[name])) for name in ("frame", "size", "border", "edge") if name in fit
    }
    return method, PhotoFit(**fit | numbers)


def _checked_progress(progress: Any) -> dict[str, Any]:
    """The progress; ValueError if its records are not those of epochs."""
    records = progress.get("records", []) if isinstance(progress, dict) else None
    if not isinstance(records, list) or not all(is_record(record) for record in records):
        raise ValueError("its progress is not that of a run")
    changed = progress.get("changed", [])
    if not isinstance(changed, list) or not all(map(is_change, changed)):
        raise ValueError("its changes of settings are not those of a run")
    return progress


def is_record(record: Any) -> bool:
    """True if this can be the record of an epoch: its number and step, and other numbers that it may have."""
    if not isinstance(record, dict) or not {"epoch", "step"} <= record.keys():
        return False
    return all(_fits(name, value) for name, value in record.items())


def is_change(change: Any) -> bool:
    """True for a change of settings: the first step and epoch it holds for, and [old, new] by setting."""
    if not isinstance(change, dict) or not {"epoch", "step"} <= change.keys():
        return False
    places = all(type(change[name]) is int for name in ("epoch", "step"))
    pairs = (pair for name, pair in change.items() if name not in ("epoch", "step"))
    return places and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)


def _fits(name: str, value: Any) -> bool:
    if name in ("epoch", "step"):
        return type(value) is int and value > 0
    return name not in _FIGURES or value is None or type(value) in (int, float)


def _check_finite(path: Path, arrays: Mapping[str, Array]) -> None:
    """Raise UserError if an array of a checkpoint contains anything but finite numbers."""
    for name, array in arrays.items():
        if array.dtype.kind == "U" or not np.isfinite(array).all():
            raise UserError(f"{path} is damaged: {name} contains what is not a finite number. {_REMEDY}")


def _read_params(path: Path, config: ViTConfig, arrays: dict[str, np.ndarray]) -> Params:
    """The parameters, checked to have the shapes that the configuration requires."""
    stored = _section(arrays, "param/")
    if config.layers + sum(config.resnet or ()) > len(stored):  # before a table of that length is made
        raise UserError(
            f"{path} does not match its own model: it describes {config.layers:,} layers, the file has "
            f"{len(stored):,} parameters. Use another checkpoint, or train again."
        )
    rows = layout(config)
    for row in rows:
        array = stored.get(row.name)
        if array is None or array.shape != row.shape:
            has = "no such parameter" if array is None else f"shape {array.shape}"
        elif array.dtype.kind != "f":
            has = f"dtype {array.dtype}, which is not floating point"
        else:
            continue
        raise UserError(
            f"{path} does not match its own model: {row.name} should have shape {row.shape}, the file has "
            f"{has}. Use another checkpoint, or train again."
        )
    if extra := sorted(stored.keys() - {row.name for row in rows}):
        raise UserError(
            f"{path} does not match its own model: the file has a parameter {extra[0]}, the model has none "
            "of that name. Use another checkpoint, or train again."
        )
    params = Params.zeros(rows, np.result_type(*(stored[row.name] for row in rows)))
    for name in params:
        params[name] = stored[name]
    return params


def _section(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
