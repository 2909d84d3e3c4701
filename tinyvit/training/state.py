"""Where a run stands: what a checkpoint keeps besides arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from tinyvit.backend import array_module
from tinyvit.engine import ReferenceEngine
from tinyvit.runs.checkpoint import Checkpoint


@dataclass
class State:
    """The progress of a run. records are those of the finished epochs, one for each line of metrics.jsonl."""

    step: int = 0  # updates made
    loss_sum: float = 0.0  # of the steps of the epoch under way
    norm_sum: float = 0.0  # of their gradients' norms
    seconds: float = 0.0  # of training and evaluation, over all sittings
    best: float = -1.0  # accuracy of the best epoch
    best_loss: float = math.inf  # its loss on the same images, which decides between equals
    best_epoch: int = 0
    records: list[dict[str, Any]] = field(default_factory=list)


def restored(
    checkpoint: Checkpoint, engine: ReferenceEngine, steps_per_epoch: int, total_steps: int
) -> State | None:
    """The state of a checkpoint, its arrays copied into the engine; None if it is not of this run.

    A last epoch that was cut short, of a run that is now to be longer, counts as under way.
    """
    mine, saved = engine.training.optimizer.state, checkpoint.optimizer
    try:
        state = State(**checkpoint.progress)
        if state.records and state.step < min(len(state.records) * steps_per_epoch, total_steps):
            state.records.pop()
        done = len(state.records) * steps_per_epoch
        fits = (
            checkpoint.config == engine.config
            and {name: array.shape for name, array in mine.items()}
            == {name: array.shape for name, array in saved.items()}
            and min(done, total_steps) <= state.step <= done + steps_per_epoch
            and (not state.records or state.records[-1]["step"] == min(done, total_steps))
        )
    except (TypeError, KeyError):
        return None
    if not fits:
        return None
    asarray = array_module(engine.params.flat).asarray
    engine.params.flat[...] = asarray(checkpoint.params.flat)
    for name, array in mine.items():
        array[...] = asarray(saved[name])
    return state
