"""A model from whatever names one: a run, a checkpoint, a file of weights, a folder, a known name."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tinyvit.errors import UserError
from tinyvit.files.download import Report
from tinyvit.model import Model
from tinyvit.pretrained.description import read_class_names
from tinyvit.pretrained.imagenet import imagenet_classes
from tinyvit.pretrained.known import find_weights
from tinyvit.pretrained.load import load_weights
from tinyvit.pretrained.resize import at_image_size
from tinyvit.runs.checkpoint import is_checkpoint, load_checkpoint
from tinyvit.runs.folder import RunFolder


def load_any(
    source: str, report: Report | None = None, heads: int | None = None, checkpoint: str = "best"
) -> Model:
    """The model of a run folder, a checkpoint, a file of weights, or a known name, in main memory.

    A known name is downloaded, once, which report(done_bytes, total_bytes) follows. heads is for a file that
    does not tell how many there are, checkpoint says which one of a run. Raises UserError if the source is
    none of these, is damaged, is not for images of three channels, or if heads contradicts the shapes of its
    arrays.
    """
    model = _load(_weights_within(source), report, heads, checkpoint)
    config = model.config
    if heads not in (None, config.heads):
        raise UserError(f"{source} has {config.heads} heads by its own account: omit --heads.")
    if config.channels != 3:
        raise UserError(f"{source} is for images of {config.channels} channels, tinyvit reads three.")
    if not np.isfinite(model.params.flat).all():
        raise UserError(f"{source} holds numbers that are not finite: fetch it, or train it, again.")
    model.classes = model.classes or class_names(source, config.classes)
    return model


def check_has_head(source: str, model: Model) -> None:
    """Raise UserError for a model without a head (one class): it has features, but names no classes."""
    if not model.has_head:
        raise UserError(
            f"{source} has no head, and so no classes: fine-tune it with tinyvit.finetune, or ask its "
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


def at_resolution(model: Model, resolution: int | None, position_resize: str | None = None) -> Model:
    """The same model for square images of that side, as it is for None. Raises UserError if none fit."""
    P = model.config.patch_size
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
    return at_image_size(model, resolution, position_resize or "corners")


def _load(source: str, report: Report | None, heads: int | None, which: str) -> Model:
    path = Path(source)
    if not path.is_dir():
        path = find_weights(source, report)
    if path.is_dir() or is_checkpoint(path):
        checkpoint = RunFolder.open(path).load(which) if path.is_dir() else load_checkpoint(path)
        return Model(checkpoint.config, checkpoint.params, checkpoint.classes)
    return Model(*load_weights(path, heads))


def _weights_within(source: str) -> str:
    """A folder as Hugging Face gives it away stands for the weights in it, all else for itself."""
    folder = Path(source)
    if (folder / "best.npz").exists():  # a run, to which somebody has exported it perhaps
        return source
    for other in ("pytorch_model.bin", "model.safetensors.index.json"):
        if (folder / other).exists() and not (folder / "model.safetensors").exists():
            raise UserError(
                f"{source} keeps its weights in {other} or parts, tinyvit reads one model.safetensors: save "
                "it again with save_pretrained(folder, safe_serialization=True, max_shard_size='100GB')."
            )
    path = folder / "model.safetensors"
    return str(path) if path.is_file() else source
