"""Optimisers, clipping, learning-rate schedules and averaging, all on the flat parameter buffer."""

from typing import Any

from tinyvit.model.params import Params
from tinyvit.optim.adam import Adam, AdamW
from tinyvit.optim.average import Average, averaged
from tinyvit.optim.clip import clip_norm
from tinyvit.optim.interface import Optimizer
from tinyvit.optim.lora import LoRA
from tinyvit.optim.muon import Muon
from tinyvit.optim.rates import frozen_blocks, rates
from tinyvit.optim.schedule import DECAYS, learning_rate
from tinyvit.optim.sgd import SGD
from tinyvit.optim.subset import SubsetOptimizer

OPTIMIZERS: dict[str, Any] = {"adamw": AdamW, "adam": Adam, "sgd": SGD, "muon": Muon}
_DECOUPLED = ("adamw", "muon")  # from the gradient, so that the decay acts on all weights alike


def usual_weight_decay(name: str) -> float:
    """The weight decay of the optimiser of that name where none was chosen.

    It is 0 for Adam: with an L2 penalty of 0.05, a ViT learns far less (see optim.adam).
    """
    return 0.05 if name in _DECOUPLED else 0.0


def usual_learning_rate(name: str, otherwise: float) -> float:
    """The learning rate where none was chosen: 0.05 for SGD, whose steps are as small as the gradient is."""
    return 0.05 if name == "sgd" else otherwise


def make_optimizer(name: str, params: Params, weight_decay: float = 0.0, momentum: float = 0.9) -> Optimizer:
    """The optimiser called 'adamw', 'adam', 'sgd' or 'muon'; SGD has no weight decay (paper, Table 4)."""
    if name == "sgd":
        return SGD(params, momentum)
    return OPTIMIZERS[name](params, weight_decay=weight_decay)


__all__ = [
    "DECAYS",
    "OPTIMIZERS",
    "SGD",
    "Adam",
    "AdamW",
    "Average",
    "LoRA",
    "Muon",
    "Optimizer",
    "SubsetOptimizer",
    "averaged",
    "clip_norm",
    "frozen_blocks",
    "learning_rate",
    "make_optimizer",
    "rates",
    "usual_learning_rate",
    "usual_weight_decay",
]
