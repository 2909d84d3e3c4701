"""The stages of a run: small images first, then some of the patches of whole ones, at last everything.

    half size       the first epochs see images of half the height and width: a quarter of the patches
    some patches    the next ones see some patches of each image, chosen at random
    everything      the last quarter of the epochs, if the stage before it exists, sees all of them

A step on half of the patches takes half of the time, and teaches more than half as much. Positions that are
computed, not learned, have no parameters, so that the same arrays serve images of either size. A patch has
the position of its row and column, whatever the size of the image: before its first epoch at full size, the
model is of little use there. So each stage has an engine of its own, over one set of parameters, and an epoch
is evaluated at the size that it was trained at.

Sources: EfficientNetV2 (Tan and Le 2021, arXiv 2104.00298, section 4) grows images in the course of a run;
PatchDropout (Liu et al. 2022, arXiv 2208.07220) and FLIP (Li et al. 2022, arXiv 2212.00794) drop patches, the
latter until shortly before the end.
"""

from dataclasses import dataclass, replace

from tinyvit.errors import UserError
from tinyvit.model import ViTConfig, layout
from tinyvit.model.cost import multiply_adds
from tinyvit.runs.settings import Settings

EVERYTHING = 0.25  # of the epochs, in which no patch is dropped any more


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


@dataclass(frozen=True)
class Stage:
    """The first epochs, up to `end`, that no stage before it has; the model as it is in them; and what an
    image costs, as a share of what it costs at last."""

    end: int
    config: ViTConfig
    cost: float


def stages_of(settings: Settings, config: ViTConfig) -> list[Stage]:
    """The stages of a run of this model. Raises UserError if the model cannot have one of them."""
    epochs = settings.epochs
    small = round(settings.half_size * epochs)
    some = max(small, epochs - round(EVERYTHING * epochs)) if settings.patch_dropout else small
    each = []
    if small:
        each.append((small, half_size(config)))
    if some > small:
        each.append((some, replace(config, patch_dropout=settings.patch_dropout)))
    each.append((epochs, config))
    whole = multiply_adds(config)
    return [Stage(end, its, multiply_adds(its, its.trained_tokens) / whole) for end, its in each]


def mean_cost(settings: Settings, config: ViTConfig) -> float:
    """What an image costs on average over a run, as a share of what it costs at last."""
    return Course(stages_of(settings, config), 1).cost_left(0, settings.epochs) / settings.epochs


class Course:
    """The stages of a run with so many steps in an epoch: which one an epoch is in, and what steps cost.

    A cost is in steps that see everything.
    """

    def __init__(self, stages: list[Stage], steps_per_epoch: int):
        self.stages, self._steps = stages, steps_per_epoch

    def number(self, epoch: int) -> int:
        """The number of the stage that an epoch is in; both are counted from 0."""
        return next((i for i, stage in enumerate(self.stages) if epoch < stage.end), len(self.stages) - 1)

    def cost(self, step: int) -> float:
        """The cost of a step, counted from 1."""
        return self.stages[self.number((step - 1) // self._steps)].cost

    def cost_left(self, step: int, total: int) -> float:
        """The cost of all steps after this one."""
        ends = [min(stage.end * self._steps, total) for stage in self.stages[:-1]] + [total]
        begins = [max(begin, step) for begin in [0, *ends[:-1]]]
        return sum(
            stage.cost * max(0, end - begin)
            for stage, begin, end in zip(self.stages, begins, ends, strict=True)
        )
