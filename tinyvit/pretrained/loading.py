"""A model from whatever names one: a run, a checkpoint, a file of weights, a folder, a known name."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tinyvit.errors import UserError
from tinyvit.files.download import Report
from tinyvit.model import Model
from tinyvit.model.model import M
from tinyvit.ops.resize import METHODS
from tinyvit.pretrained.description import read_class_names
from tinyvit.pretrained.folder import weights_in
from tinyvit.pretrained.imagenet import imagenet_classes
from tinyvit.pretrained.known import find_weights
from tinyvit.pretrained.load import load_weights, usual_position_resize
from tinyvit.pretrained.pixels import for_colour
from tinyvit.pretrained.preprocessing import PhotoFit, read_preprocessing
from tinyvit.pretrained.resize import at_image_size
from tinyvit.runs.checkpoint import is_checkpoint, load_checkpoint
from tinyvit.runs.folder import RunFolder


def load_any(
    source: str, report: Report | None = None, heads: int | None = None, checkpoint: str = "best"
) -> Model:
    """The model of a run folder, a checkpoint, a file of weights, or a known name, in main memory.

    A known name is downloaded, once, which report(done_bytes, total_bytes) follows. heads is for a file that
    does not tell how many there are, checkpoint says which one of a run. A model for grey images becomes one
    for colour images that looks at their grey. Raises UserError if the source is none of these, is damaged,
    is for images of other channels, or if heads contradicts the shapes of its arrays.
    """
    model = _load(_weights_within(source), report, heads, checkpoint)
    config = model.config
    if heads not in (None, config.heads):
        raise UserError(f"{source} has {config.heads} heads by its own account: omit --heads.")
    if config.channels not in (1, 3):
        raise UserError(
            f"{source} is for images of {config.channels} channels, expected 3, or 1 for grey: tinyvit reads "
            "colour photos. Choose another checkpoint."
        )
    config, params = for_colour(config, model.params)
    if not np.isfinite(params.flat).all():
        raise UserError(f"{source} holds numbers that are not finite: fetch it, or train it, again.")
    classes = model.classes or class_names(source, config.classes)
    return Model(config, params, classes, usual_method(source))


def check_has_head(source: str, model: Model) -> None:
    """Raise UserError for a model without a head, where classes are needed."""
    if not model.has_head:
        raise UserError(
            f"{source} has no head, and so no classes: fine-tune it with tinyvit.finetune, or use its "
            "features with tinyvit.fewshot."
        )


def class_names(source: str, count: int) -> tuple[str, ...]:
    """What the classes of that source are called: by its config.json, ImageNet's if there are 1000, or ()."""
    path, names = Path(source), None
    if path.exists():
        names = read_class_names((path if path.is_dir() else path.parent) / "config.json", count)
    if names is None and count == 1000:
        names = imagenet_classes()
    return names or ()


def _load(source: str, report: Report | None, heads: int | None, which: str) -> Model:
    path = Path(source)
    if not path.is_dir():
        path = find_weights(source, report)
    if path.is_dir() or is_checkpoint(path):
        checkpoint = RunFolder.open(path).load(which) if path.is_dir() else load_checkpoint(path)
        return Model(checkpoint.config, checkpoint.params, checkpoint.classes)
    return Model(*load_weights(path, heads))


def _weights_within(source: str) -> str:
    """A folder as Hugging Face publishes it stands for the weights in it, all else for itself."""
    folder = Path(source)
    if any((folder / name).exists() for name in ("best.npz", "last.npz")):  # a run, perhaps exported into
        return source
    return str(weights_in(folder) or source)


def usual_method(source: str) -> str:
    """How position embeddings of that source are resized by the library it is from (see ops.resize)."""
    path = Path(_weights_within(source))
    if path.is_file() and not is_checkpoint(path):
        return usual_position_resize(path)
    return "corners"  # a run computes as the official code does, and all known names are the official code's


def photo_fit(source: str) -> PhotoFit | None:
    """How photos are to be resized for that source, if the files beside its weights say so."""
    path = Path(_weights_within(source))
    return read_preprocessing(path.parent) if path.is_file() and not is_checkpoint(path) else None


def at_resolution(model: M, resolution: int | None, position_resize: str | None = None) -> M:
    """The same model for square images of that side, as it is for None.

    Position embeddings are resized as position_resize says, or else as the library does that the model is
    from. Raises UserError if no whole patches fit.
    """
    P = model.config.patch_size
    if position_resize not in (None, *METHODS):
        raise UserError(f"position_resize is {position_resize!r}, expected one of {', '.join(METHODS)}.")
    if resolution is None:
        if position_resize:
            raise UserError("--position-resize says how to get to another --resolution: give one.")
        return model
    if resolution % P:
        below, above = resolution // P * P, (resolution // P + 1) * P
        raise UserError(
            f"images of {resolution} x {resolution} pixels cannot be cut into the model's patches of {P} x "
            f"{P}: choose --resolution {f'{below} or {above}' if below else above}."
        )
    return at_image_size(model, resolution, position_resize or model.position_resize)
