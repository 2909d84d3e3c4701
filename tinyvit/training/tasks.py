"""What a run learns: to classify images, or to predict corrupted patches; and how the loop measures it."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from tinyvit.data import ImageSet
from tinyvit.engine import ReferenceEngine
from tinyvit.model import ViTConfig
from tinyvit.objectives import Objective, loss_and_grads, masked_patches, patch_targets
from tinyvit.runs.settings import Settings
from tinyvit.training.evaluation import Evaluation, PatchEvaluation, evaluate, evaluate_patches


@dataclass(frozen=True)
class Task:
    """An objective to train with, and a way to measure a model on a set of images.

    The best epoch is the one with the lowest loss, if by_loss, and otherwise the most accurate one.
    blind_loss is that of a model that knows nothing.
    """

    objective: Objective
    evaluate: Callable[[ReferenceEngine, ImageSet], Evaluation | PatchEvaluation]
    by_loss: bool
    blind_loss: float


def task_of(settings: Settings, config: ViTConfig) -> Task:
    """The task of a run with these settings, for a model of this shape."""
    if settings.target is None:
        objective = partial(loss_and_grads, smoothing=settings.smoothing)
        return Task(objective, evaluate, False, math.log(max(config.classes, 2)))
    what: dict[str, Any] = {"target": settings.target, "corrupt": settings.corrupt}
    return Task(
        partial(masked_patches.loss_and_grads, **what),
        partial(evaluate_patches, **what, seed=settings.seed),
        True,
        patch_targets.blind_loss(config, settings.target),
    )
