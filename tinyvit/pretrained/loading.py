"""A model from whatever names one: a run, a checkpoint, a file of weights, a folder, a known name."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig
from tinyvit.pretrained.description import read_class_names
from tinyvit.pretrained.imagenet import imagenet_classes
from tinyvit.pretrained.known import find_weights
from tinyvit.pretrained.load import load_weights
from tinyvit.pretrained.resize import at_image_size
from tinyvit.runs.checkpoint import is_checkpoint, load_checkpoint
from tinyvit.runs.folder import RunFolder
from tinyvit.shell.progress import Progress

Model = tuple[ViTConfig, Params]


def load_any(source: str, progress: Progress, heads: int | None = None, checkpoint: str = "best") -> Model:
    """Model and parameters of a run folder, a checkpoint, a file of weights, or a known name.

    A known name is downloaded, once. heads is for a file that does not tell how many there are, checkpoint
    says which one of a run. Raises UserError if the source is none of these, is damaged, is not for images of
    three channels, or if heads contradicts the shapes of its arrays.
    """
    config, params = _load(_weights_within(source), progress, heads, checkpoint)
    if heads not in (None, config.heads):
        raise UserError(f"{source} has {config.heads} heads by its own account: leave --heads away.")
    if config.channels != 3:
        raise UserError(f"{source} is for images of {config.channels} channels, tinyvit reads three.")
    if not np.isfinite(params.flat).all():
        raise UserError(f"{source} holds numbers that are not finite: fetch it, or train it, again.")
    return config, params


def check_has_head(source: str, config: ViTConfig) -> None:
    """Raise UserError for a model without a head (one class): it has features, but names no classes."""
    if config.classes == 1:
        raise UserError(
            f"{source} has no head, and so no classes: fine-tune it with tinyvit.finetune, or ask its "
            "features with tinyvit.fewshot."
        )


def class_names(source: str, count: int) -> tuple[str, ...]:
    """What the classes of that source are called: by its config.json, or ImageNet's if there are 1000."""
    path, names = Path(source), None
    if path.exists():
        names = read_class_names((path if path.is_dir() else path.parent) / "config.json", count)
    if names is None and count == 1000:
        names = imagenet_classes()
    return names or tuple(f"class {c}" for c in range(count))


def _load(source: str, progress: Progress, heads: int | None, which: str) -> Model:
    path = Path(source)
    if not path.is_dir():
        path = find_weights(source, progress.download(source))
    if path.is_dir() or is_checkpoint(path):
        checkpoint = RunFolder.open(path).load(which) if path.is_dir() else load_checkpoint(path)
        return checkpoint.config, checkpoint.params
    return load_weights(path, heads)


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


def at_resolution(
    config: ViTConfig, params: Params, resolution: int | None, position_resize: str | None = None
) -> Model:
    """The same model for square images of that side, as it is for None. Raises UserError if none fit."""
    P = config.patch_size
    if resolution is None:
        if position_resize:
            raise UserError("--position-resize says how to get to another --resolution: give one.")
        return config, params
    if resolution % P:
        below, above = resolution // P * P, (resolution // P + 1) * P
        raise UserError(
            f"images of {resolution} x {resolution} pixels cannot be cut into the model's patches of {P} x "
            f"{P}: choose --resolution {f'{below} or {above}' if below else above}."
        )
    return at_image_size(config, params, resolution, position_resize or "corners")
