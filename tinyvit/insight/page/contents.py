"""The contents of a page: a model's configuration, its parameters as text, its classes, and sample images."""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

import numpy as np

from tinyvit.backend import to_numpy
from tinyvit.data import ImageSet, one_of_each, to_input
from tinyvit.insight.pictures.colours import HEAT_COLOURS
from tinyvit.model import Model, Params, ViTConfig
from tinyvit.model.cost import multiply_adds, parameter_count
from tinyvit.model.later import fields_known_to
from tinyvit.support.errors import UserError

MOST_PARAMETERS = 8_000_000  # 21 MB of text
MOST_MULTIPLY_ADDS = 2_000_000_000  # a few seconds in a browser
IN_FULL = 500_000  # parameters up to which a page also holds what float16 cannot

EACH = 5  # images of a class at most
MOST_BYTES = 400_000  # of pixels, for all samples together
NO_LABEL = -1  # of a sample whose class is unknown


# The fields of the configuration that the page reads, besides tokens, patches and grid.
_FIELDS = (
    *("image_size", "patch_size", "width", "mlp_width", "heads", "layers", "classes", "pool", "pre_logits"),
    *("gelu", "eps", "position", "position_at"),
)


def check_page_can_run(config: ViTConfig) -> None:
    """Raise UserError for models that the page cannot run: those that are no plain ViT, or too large."""
    if config.has_resnet:
        kind = "hybrid" if config.has_transformer else "ResNet"
        raise UserError(f"a page cannot run a {kind}, only a plain ViT: choose another format.")
    if config.predicts != "image":
        what = "patches" if config.predicts_patches else "an embedding of the image"
        raise UserError(f"a page shows classes, but this model predicts {what}: fine-tune it first.")
    if config.classes < 2:
        raise UserError("a page shows classes, but this model has no head: fine-tune it first.")
    if config.channels != 3:
        raise UserError(
            f"a page shows images of 3 channels, not of {config.channels}: choose another format."
        )
    if others := config.later_parts.keys() - fields_known_to("page"):
        raise UserError(
            f"a page runs the paper's ViT, not one with {', '.join(sorted(others))}: choose another format."
        )
    count, cost = parameter_count(config), multiply_adds(config)
    if count > MOST_PARAMETERS:
        raise UserError(
            f"the model has {count:,} parameters, and a page holds at most {MOST_PARAMETERS:,}: choose a "
            "smaller model."
        )
    if cost > MOST_MULTIPLY_ADDS:
        raise UserError(
            f"a forward pass takes {cost / 1e9:.1f} billion multiply-adds, and a page does at most "
            f"{MOST_MULTIPLY_ADDS / 1e9:.0f} billion: choose a smaller model or --resolution."
        )


def page_contents(model: Model, samples: Samples, subtitle: str) -> dict[str, Any]:
    """Everything that the page's JavaScript reads, as JSON can hold it."""
    config, params = model.config, model.params
    return {
        "subtitle": subtitle,
        "config": {name: getattr(config, name) for name in _FIELDS}
        | {"tokens": config.tokens, "patches": config.patches, "grid": config.grid},
        "classes": list(model.names),
        "rows": [(row.name, row.shape) for row in params.rows],
        "weights": as_halves(params),
        "samples": {"labels": samples.labels.tolist(), "pixels": as_text(samples.images)},
        "heat": HEAT_COLOURS.tolist(),
    }


def as_halves(params: Params) -> list[str]:
    """The parameters in the order of their table, as texts whose numbers add up to them.

    The first text holds them rounded to float16. Of a small model, a second one holds what that lost, also in
    float16, so that the page computes the same logits to four digits. Raises UserError for a number that is
    too large for float16.
    """
    flat = np.concatenate([to_numpy(params[row.name]).ravel() for row in params.rows])
    with np.errstate(over="ignore"):
        rounded = flat.astype("<f2")
    if not np.isfinite(rounded).all():
        raise UserError(
            f"a parameter is {abs(flat).max():.3g}, but a page stores numbers up to 65504: choose another "
            "format."
        )
    halves = [rounded]
    if flat.size <= IN_FULL:
        halves.append((flat - rounded).astype("<f2"))
    return [as_text(half) for half in halves]


def as_text(array: np.ndarray) -> str:
    """The bytes of an array in base64."""
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")


class Samples(NamedTuple):
    """Images (n, H, W, 3), uint8, of the model's size, and labels (n,): their classes, or NO_LABEL."""

    images: np.ndarray
    labels: np.ndarray

    @classmethod
    def none(cls, config: ViTConfig) -> Samples:
        """No samples: the page then starts with a sheet to draw on."""
        return cls(np.empty((0, *config.image_size, 3), np.uint8), np.empty(0, np.int64))


def choose_samples(config: ViTConfig, images: ImageSet) -> Samples:
    """The first few images of each class, sorted by class; fewer if they are large or the classes many."""
    room = max(1, MOST_BYTES // (3 * config.image_size[0] * config.image_size[1]))
    chosen = one_of_each(images.labels, min(room, EACH * config.classes))
    chosen = chosen[np.argsort(images.labels[chosen], kind="stable")]
    inputs = to_input(images.images[chosen], np.dtype(np.float32), config.image_size)  # (n, H, W, 3), -1 to 1
    return Samples((inputs * 127.5 + 127.5).round().clip(0, 255).astype(np.uint8), images.labels[chosen])
