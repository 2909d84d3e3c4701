"""The progress of a run: what a checkpoint stores in addition to arrays."""

import contextlib
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinyvit.backend import Array, array_module
from tinyvit.engine import ReferenceEngine
from tinyvit.model import Params
from tinyvit.support.errors import UserError
from tinyvit.training.evaluation import rank
from tinyvit.training.settings import Settings
from tinyvit.weights.checkpoint import Checkpoint, is_record


@dataclass
class State:
    """The progress of a run. records holds the finished epochs, one for each line of metrics.jsonl."""

    step: int = 0  # updates made
    loss_sum: float = 0.0  # over the steps of the current epoch
    norm_sum: float = 0.0  # of the gradient norms of those steps
    seconds: float = 0.0  # of training, evaluation and saving, resumed or not
    best: float | None = -1.0  # accuracy of the best epoch; None if there is none to measure
    best_loss: float = math.inf  # its loss on the same images
    best_epoch: int = 0
    records: list[dict[str, Any]] = field(default_factory=list)
    changed: list[dict[str, Any]] = field(default_factory=list)  # of the settings, and from which step on

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        """Within this context, time counts as the run's."""
        started = time.perf_counter()
        yield
        self.seconds += time.perf_counter() - started

    def judge(self, epoch: int, accuracy: float | None, loss: float, by_loss: bool) -> bool:
        """Note the results of an epoch, if it is the best so far; returns whether it is."""
        if rank(accuracy, loss, by_loss) <= rank(self.best, self.best_loss, by_loss):
            return False
        self.best, self.best_loss, self.best_epoch = accuracy, loss, epoch
        return True

    def is_finished(self, settings: Settings) -> bool:
        """True if a run with these settings has come to its end, at its full length or before."""
        return self.is_complete(settings) or self.has_stalled(settings.patience)

    def is_complete(self, settings: Settings) -> bool:
        """True if a run with these settings has its full length."""
        done = self.records[-1]["step"] if settings.steps and self.records else len(self.records)
        return done >= (settings.steps or settings.epochs)

    def has_stalled(self, patience: int | None) -> bool:
        """True if the last evaluations, at least this many, were not better than the best."""
        if patience is None:
            return False
        losses = [each.get("val_loss", each.get("test_loss")) for each in self.records[self.best_epoch :]]
        return len(losses) - losses.count(None) >= patience


def to_save(engine: ReferenceEngine, state: State, resumable: bool) -> Checkpoint:
    """A checkpoint of the model, which is the average of the weights if there is one.

    If it is to be resumable, it also holds whatever else training needs to go on.
    """
    config, params, training = engine.config, engine.params, engine.training
    model = Params(training.average.flat, params.rows) if training.average else params
    checkpoint = Checkpoint(config, model, progress=vars(state))
    if resumable:
        checkpoint.optimizer = training.optimizer.state
        checkpoint.weights = params.flat if training.average else None
    return checkpoint


def restored(
    checkpoint: Checkpoint,
    path: Path,
    engine: ReferenceEngine,
    steps_per_epoch: int,
    total_steps: int,
) -> State:
    """The state in a checkpoint from path; its arrays are copied into the engine.

    If the run is now to be longer, a last epoch that was cut short counts as unfinished. If it was the best,
    it stays the best until there is a better one, for its model is the one in best.npz. Raises UserError if
    the checkpoint does not belong to this run.
    """
    mine, saved = live_arrays(engine), _saved_arrays(checkpoint)
    try:
        state = State(**checkpoint.progress)
        if state.records and state.step < min(len(state.records) * steps_per_epoch, total_steps):
            state.records.pop()
        done = min(len(state.records) * steps_per_epoch, total_steps)
        fits = (
            checkpoint.config == engine.config
            and _shapes(mine) == _shapes(saved)
            and done <= state.step <= done + steps_per_epoch
            and (not state.records or state.records[-1]["step"] == done)
            and _has_numbers(state)
        )
    except (TypeError, LookupError, ValueError, AttributeError):
        fits = False
    if not fits:
        raise UserError(
            f"{path} does not match this run's model, optimiser or amount of data: "
            "restore the run folder and its data, or start a new run."
        )
    asarray = array_module(engine.params.flat).asarray
    for name, array in mine.items():
        array[...] = asarray(saved[name])
    return state


def live_arrays(engine: ReferenceEngine) -> dict[str, Array]:
    """All arrays that training changes: the weights, the optimiser's state and any average of the weights."""
    training = engine.training
    average = {"average": training.average.flat} if training.average else {}
    return {"weights": engine.params.flat} | average | training.optimizer.state


def _saved_arrays(checkpoint: Checkpoint) -> dict[str, Array]:
    """The same arrays as a checkpoint has them."""
    params, weights = checkpoint.params.flat, checkpoint.weights
    own = {"weights": params} if weights is None else {"weights": weights, "average": params}
    return own | checkpoint.optimizer


def _has_numbers(state: State) -> bool:
    """True if all saved statistics are numeric."""
    numbers = [state.loss_sum, state.norm_sum, state.seconds, state.best_loss]
    numbers += [record["seconds"] for record in state.records]
    numbers += [] if state.best is None else [state.best]
    return all(type(number) in (int, float) for number in numbers) and all(map(is_record, state.records))


def _shapes(arrays: dict[str, Array]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in arrays.items()}
