"""Optimisers, clipping, learning-rate schedules and averaging, all on the flat parameter buffer."""

from tinyvit.model.params import Params
from tinyvit.optim.adam import Adam, AdamW
from tinyvit.optim.average import Average, averaged
from tinyvit.optim.clip import clip_norm
from tinyvit.optim.muon import Muon
from tinyvit.optim.schedule import DECAYS, learning_rate
from tinyvit.optim.sgd import SGD
from tinyvit.optim.sharded import Sharded

Optimizer = SGD | Adam | Muon | Sharded  # anything with step(grads, lr, step) and state
OPTIMIZERS = ("adamw", "adam", "sgd", "muon")


def make_optimizer(name: str, params: Params, weight_decay: float = 0.0, momentum: float = 0.9) -> Optimizer:
    """The optimiser called 'adamw', 'adam', 'sgd' or 'muon'; SGD has no weight decay (paper, Table 4)."""
    if name == "sgd":
        return SGD(params, momentum)
    return {"adam": Adam, "adamw": AdamW, "muon": Muon}[name](params, weight_decay=weight_decay)


__all__ = [
    "DECAYS",
    "OPTIMIZERS",
    "SGD",
    "Adam",
    "AdamW",
    "Average",
    "Muon",
    "Optimizer",
    "averaged",
    "clip_norm",
    "learning_rate",
    "make_optimizer",
]
