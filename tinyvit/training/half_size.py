"""The first epochs of a run on images of half the height and width: they teach what is coarse, at less cost.

An image of half the size has a quarter of the patches, so a step takes about a quarter of the time. Positions
that are computed, not learned, have no parameters: the same arrays then serve images of either size. So there
are two engines over one set of parameters, and each epoch, with its evaluation, is for one of them. A patch
has the position of its row and column, whatever the size of the image: until the first epoch at full size,
the model is of little use there.

Source: progressive resizing, as in EfficientNetV2 (Tan and Le 2021, arXiv 2104.00298, section 4).
"""

from dataclasses import replace

from tinyvit.engine import ReferenceEngine
from tinyvit.errors import UserError
from tinyvit.model import ViTConfig, layout
from tinyvit.model.cost import multiply_adds
from tinyvit.runs.settings import Settings


def half_size(config: ViTConfig) -> ViTConfig:
    """The same model for images of half the size. Raises UserError if its parameters would be others."""
    H, W = config.image_size
    side = 2 * config.pixels_per_patch
    if H % side or W % side:
        raise UserError(
            f"images of {H} x {W} pixels cannot begin at half their size: both sides would have to be "
            f"multiples of {side} pixels, two patches. Omit --half-size, or choose a smaller patch size."
        )
    half = replace(config, image_size=(H // 2, W // 2))
    if [row.shape for row in layout(half)] != [row.shape for row in layout(config)]:
        raise UserError(
            f"positions of the kind {config.position} are learned for images of one size, so none can begin "
            "at half of it: expected --position sincos or none, or no --half-size."
        )
    return half


def mean_cost(share: float, config: ViTConfig) -> float:
    """Multiply-adds of one forward pass on an image, if this share of the images has half the size."""
    small = multiply_adds(half_size(config)) if share else 0
    return share * small + (1 - share) * multiply_adds(config)


class Stages:
    """Which engine takes the steps of an epoch, and what steps cost. half is that for half the size, if any.

    A cost is in steps at full size.
    """

    def __init__(
        self, settings: Settings, steps_per_epoch: int, engine: ReferenceEngine, half: ReferenceEngine | None
    ):
        self._epochs = round(settings.half_size * settings.epochs) if half else 0
        self._half_steps = self._epochs * steps_per_epoch
        self._engine, self._half = engine, half
        self._cost = multiply_adds(half.config) / multiply_adds(engine.config) if half else 1.0

    def engine(self, epoch: int) -> ReferenceEngine:
        """The engine for an epoch, counted from 0."""
        return self._half if self._half and epoch < self._epochs else self._engine

    def cost(self, step: int) -> float:
        """The cost of a step, counted from 1."""
        return self._cost if step <= self._half_steps else 1.0

    def cost_left(self, step: int, total: int) -> float:
        """The cost of all steps after this one."""
        at_half = max(0, min(self._half_steps, total) - step)
        return total - step - at_half + at_half * self._cost
