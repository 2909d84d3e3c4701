"""The progress of a run: what a checkpoint stores in addition to arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinyvit.backend import Array, array_module
from tinyvit.engine import ReferenceEngine
from tinyvit.errors import UserError
from tinyvit.runs.checkpoint import Checkpoint


@dataclass
class State:
    """The progress of a run. records holds the finished epochs, one for each line of metrics.jsonl."""

    step: int = 0  # updates made
    loss_sum: float = 0.0  # over the steps of the current epoch
    norm_sum: float = 0.0  # of the gradient norms of those steps
    seconds: float = 0.0  # of training and evaluation, resumed or not
    best: float = -1.0  # accuracy of the best epoch
    best_loss: float = math.inf  # its loss on the same images, which breaks ties
    best_epoch: int = 0
    records: list[dict[str, Any]] = field(default_factory=list)


def restored(
    checkpoint: Checkpoint, path: Path, engine: ReferenceEngine, steps_per_epoch: int, total_steps: int
) -> State:
    """The state in a checkpoint from path; its arrays are copied into the engine.

    If the run is now to be longer, a last epoch that was cut short counts as unfinished. Raises UserError if
    the checkpoint does not belong to this run.
    """
    mine, saved = engine.training.optimizer.state, checkpoint.optimizer
    try:
        state = State(**checkpoint.progress)
        if state.records and state.step < min(len(state.records) * steps_per_epoch, total_steps):
            state.records.pop()
            if state.best_epoch > len(state.records):  # it is judged again when it is complete
                state.best, state.best_loss, state.best_epoch = _best_of(state.records)
        done = min(len(state.records) * steps_per_epoch, total_steps)
        fits = (
            checkpoint.config == engine.config
            and _shapes(mine) == _shapes(saved)
            and done <= state.step <= done + steps_per_epoch
            and (not state.records or state.records[-1]["step"] == done)
        )
    except (TypeError, KeyError):
        fits = False
    if not fits:
        raise UserError(
            f"{path} does not match this run's model, optimiser or amount of data: "
            "restore the run folder and its data, or start a new run."
        )
    asarray = array_module(engine.params.flat).asarray
    engine.params.flat[...] = asarray(checkpoint.params.flat)
    for name, array in mine.items():
        array[...] = asarray(saved[name])
    return state


def _best_of(records: list[dict[str, Any]]) -> tuple[float, float, int]:
    """Accuracy, loss and number of the best of some epochs; -1, infinity and 0 if there are none."""
    judge = "val" if any("val_accuracy" in record for record in records) else "test"
    judged = [record for record in records if record.get(f"{judge}_accuracy") is not None]
    ranked = [(record[f"{judge}_accuracy"], -record[f"{judge}_loss"], -record["epoch"]) for record in judged]
    accuracy, loss, epoch = max(ranked, default=(-1.0, -math.inf, 0))
    return accuracy, -loss, -epoch


def _shapes(arrays: dict[str, Array]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in arrays.items()}
