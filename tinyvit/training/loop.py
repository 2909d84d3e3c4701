"""The training loop: it decides what comes next; the engine carries out each step.

    for each epoch:  an order of the images
        for each batch:  its plan, its learning rate, a step
        evaluate: are the weights the best so far?

All batches are of one size: the images that would make a smaller one at the end of an epoch are left out, and
the order of another epoch leaves out others. There is no random state (see data.plan), so that training which
is stopped and resumed continues as if uninterrupted.

Model.fit and ViTClassifier train by this loop as it is (see training.fit); for the commands,
training.run_trainer adds a run folder, checkpoints and signals. A Meter collects losses and the norms of
gradients, and a Guard ends training that diverges.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.data import ImageSet, balancing, epoch_order, indices_of_batch, plan_batch
from tinyvit.data.plan import Change
from tinyvit.model import Params, ViTConfig
from tinyvit.optim import averaged, learning_rate
from tinyvit.support.errors import UserError, without_warnings
from tinyvit.training.evaluation import Evaluation, PatchEvaluation, figures_of_epoch, task_of
from tinyvit.training.learning import Stages, make_engines
from tinyvit.training.settings import Settings
from tinyvit.training.state import State, live_arrays

if TYPE_CHECKING:
    from tinyvit.support.shell.progress import Progress


class Trainer:
    """Trains a model's parameters in place, on their own device.

    The model is judged by the validation images or, if there are none, by the test images; if there are
    neither, it is not judged. sample_weight (n,) is how often each image is drawn on average, relative
    to the others. kept() returns the sentence that says, if training diverges, what was saved. progress, if
    given, shows each step and each epoch. augment, if given, is a function that changes each image: see
    Model.fit.

    Subclasses add to what happens between steps and between epochs.
    """

    def __init__(
        self,
        settings: Settings,
        config: ViTConfig,
        params: Params,
        kept: Callable[[], str],
        train: ImageSet,
        validation: ImageSet | None = None,
        test: ImageSet | None = None,
        sample_weight: np.ndarray | None = None,
        progress: Progress | None = None,
        augment: Change | None = None,
    ):
        self.settings, self.state = settings, State()
        self.augmentation = settings.augmentation() | {"own": augment}
        self.train, self.validation, self.test = train, validation, test
        self.weights, self.progress = sample_weight, progress
        if settings.balanced:
            self.weights = balancing(train.labels) * (1 if sample_weight is None else sample_weight)
        self.task, self.stages = task_of(settings, config), Stages(settings, config)
        self.engines = make_engines(
            settings, self.stages, params, train, self.task.objective, augment is not None
        )
        self.engine = self.engines[-1]  # of the whole model; see Stages
        self.guard = Guard(self.task.blind_loss, settings.lr, kept)
        self.steps_per_epoch = len(train) // settings.batch_size
        self.total_steps = settings.steps or settings.epochs * self.steps_per_epoch

    def fit(self) -> None:
        """Train to the end. Raises Diverged, a UserError, if training diverges."""
        # Overflow is noticed, with a better message. np.errstate would hold for one of the engine's threads.
        with without_warnings(RuntimeWarning):
            while not self.state.is_finished(self.settings):
                epoch, meter = len(self.state.records), Meter(self.guard)
                self._train_epoch(epoch, meter)
                if self._finish_epoch(epoch, meter.rate):
                    break

    def learning_rate(self, step: int) -> float:
        """The learning rate for update number `step`, counted from 1."""
        return scheduled_rate(self.settings, step, self.steps_per_epoch)

    @property
    def done(self) -> float:
        """The share of all steps that has been taken."""
        return self.state.step / self.total_steps

    def _train_epoch(self, epoch: int, meter: Meter) -> None:
        """Take the remaining steps of an epoch."""
        s, state = self.settings, self.state
        order = epoch_order(s.seed, epoch, len(self.train), s.repeats, self.weights)
        first, count = state.step - epoch * self.steps_per_epoch, self._steps_of(epoch)
        if first == 0:
            state.loss_sum = state.norm_sum = 0.0
        for k in range(first, count):
            step, engine = state.step + 1, self.engines[self.stages.number(self.done)]
            with state.timed():
                indices = indices_of_batch(order, k, s.batch_size, s.repeats)
                plan = plan_batch(s.seed, step, indices, **self.augmentation)
                must_read = meter.add(*engine.step(plan, self.learning_rate(step)))
                state.step, stopping = step, self._is_to_stop()
                if must_read or k + 1 == count or stopping:
                    losses, norms, last = meter.read(step, s.batch_size)
                    state.loss_sum += losses
                    state.norm_sum += norms
                    self._has_read(epoch, k, last, meter.rate)
            self._has_stepped(meter.is_read, stopping)

    def _finish_epoch(self, epoch: int, rate: float | None) -> bool:
        """Evaluate the model if it is time to, and record the epoch; returns true if it is to be the last."""
        s, state, steps = self.settings, self.state, self._steps_of(epoch)
        is_due = epoch + 1 == s.epochs or (epoch + 1) % s.evaluate_every == 0
        record: dict[str, Any] = {
            "epoch": epoch + 1,
            "step": state.step,
            "lr": self.learning_rate(state.step),
            "grad_norm": state.norm_sum / steps,
            "train_loss": state.loss_sum / steps,
        }
        state.records.append(record)
        held_out, test, is_best = None, None, False
        with state.timed():
            if is_due and self.validation:
                held_out = self._evaluate(self.validation)
            elif is_due and self.test:
                test = self._evaluate(self.test)
            record |= figures_of_epoch(held_out, test)
            if judged := held_out or test:
                is_best = state.judge(epoch + 1, judged.accuracy, judged.loss, self.task.by_loss)
            if held_out and self.test and state.is_finished(s):  # they are used only at the end
                record |= figures_of_epoch(held_out, self._evaluate(self.test))
        record |= {"images_per_second": rate, "seconds": state.seconds}
        self.check_finite()
        return self._has_finished(record, judged, is_best)

    def check_finite(self) -> None:
        """Raise Diverged if a parameter is not finite, or a number of the optimiser's state."""
        arrays = live_arrays(self.engine).values()
        self.guard.check_arrays("a parameter or the optimiser's state", arrays, self.state.step)

    def _steps_of(self, epoch: int) -> int:
        """The number of steps in an epoch; the last epoch may be shorter than the others."""
        return min(self.steps_per_epoch, self.total_steps - epoch * self.steps_per_epoch)

    def _evaluate(self, images: ImageSet) -> Evaluation | PatchEvaluation:
        with averaged(self.engine.training.average):
            result = self.task.evaluate(self.engine, images)
        self.guard.check_loss(result.loss, self.state.step)
        return result

    def _is_to_stop(self) -> bool:
        """True if the step that has just been taken is to be the last."""
        return False

    def _has_read(self, epoch: int, k: int, loss: float, rate: float | None) -> None:
        """Called when the loss of step k of an epoch is known; rate is in images per second."""
        if self.progress and rate:
            images_left = self.stages.cost_left(self.done) * self.total_steps * self.settings.batch_size
            seconds_left = images_left / (rate * self.stages.cost((self.state.step - 1) / self.total_steps))
            epochs, steps = self.settings.epochs, self._steps_of(epoch)
            self.progress.step(epoch + 1, epochs, k + 1, steps, loss, rate, seconds_left)

    def _has_stepped(self, is_read: bool, stopping: bool) -> None:
        """Called after each step; is_read if the losses of all steps so far are known."""

    def _has_finished(
        self, record: dict[str, Any], judged: Evaluation | PatchEvaluation | None, is_best: bool
    ) -> bool:
        """Called after each epoch with its record and any evaluation; returns true to end training."""
        if self.progress:
            records, by_loss = self.state.records, self.task.by_loss
            label = "validation" if self.validation else "test" if self.test else ""
            result = (judged.loss if by_loss else judged.accuracy) if judged else None
            best = (self.state.best_loss if by_loss else self.state.best) if self.state.best_epoch else None
            took = record["seconds"] - (records[-2]["seconds"] if len(records) > 1 else 0.0)
            epoch, loss, rate = (record[name] for name in ("epoch", "train_loss", "images_per_second"))
            self.progress.epoch(
                epoch, self.settings.epochs, loss, result, best, rate, took, label, by_loss, is_best
            )
        return False


def scheduled_rate(s: Settings, step: int, steps_per_epoch: int) -> float:
    """The learning rate with these settings for update number `step`, counted from 1."""
    total = s.steps or s.epochs * steps_per_epoch
    return learning_rate(step, total, s.lr, s.warmup(steps_per_epoch), s.decay)


class Diverged(UserError):  # noqa: N818 - what happens, not what it is
    """The parameters have grown beyond recovery."""


_WORST = 20  # a loss this many times that of blind guessing is beyond recovery


@dataclass(frozen=True)
class Guard:
    """Raises UserError if training has diverged, with what kept() says is left of it, and the remedy."""

    blind_loss: float
    lr: float
    kept: Callable[[], str]

    def check_loss(self, loss: float, step: int) -> None:
        """Check that the loss of a step is a number, and not far above that of blind guessing."""
        if not loss < _WORST * self.blind_loss:
            raise self._diverged(
                f"the loss is {loss:.3g}, while blind guessing gives {self.blind_loss:.2f}", step
            )

    def check_finite(self, what: str, value: float, step: int) -> None:
        """Check that a value, which the message calls `what`, is finite."""
        if not math.isfinite(value):
            raise self._diverged(f"{what} is not finite", step)

    def check_arrays(self, what: str, arrays: Iterable[Array], step: int) -> None:
        """Check that every number in some arrays, which the message calls `what`, is finite."""
        for array in arrays:
            ends = float(array.max()) - float(array.min())  # not finite if any number is not
            self.check_finite(what, ends, step)

    def _diverged(self, symptom: str, step: int) -> Diverged:
        return Diverged(
            f"training has diverged: after step {step:,} {symptom}. {self.kept()} "
            f"Try a lower --lr than {self.lr:g}, or more --warmup-epochs."
        )


_GPU_LOOK_STEPS = 20  # steps between readings: reading a number from a GPU waits for the GPU


class Meter:
    """Collects the results of steps, and reads them after every step or, on a GPU, every few steps.

    guard detects that training has diverged.
    """

    def __init__(self, guard: Guard):
        self.guard = guard
        self.images = 0  # trained on in the steps read so far
        self._unread: list[tuple[Array, Array]] = []
        self._start = time.perf_counter()

    @property
    def is_read(self) -> bool:
        """True if everything collected has been read."""
        return not self._unread

    @property
    def rate(self) -> float | None:
        """Images per second since this meter was created; None before the first reading."""
        return self.images / max(time.perf_counter() - self._start, 1e-9) or None

    def add(self, loss: Array, norm: Array) -> bool:
        """Collect a step's loss and gradient norm; returns whether it is time to read."""
        self._unread.append((loss, norm))
        return len(self._unread) >= (1 if array_module(loss) is np else _GPU_LOOK_STEPS)

    def read(self, step: int, batch_size: int) -> tuple[float, float, float]:
        """The sums of losses and norms, and the last loss, of the unread steps; `step` is the last of them.

        Raises UserError if training has diverged in one of them.
        """
        values = [(float(loss), float(norm)) for loss, norm in self._unread]
        self._unread.clear()
        for number, (loss, norm) in enumerate(values, step - len(values) + 1):
            self.guard.check_loss(loss, number)
            self.guard.check_finite("the gradient", norm, number)
        self.images += len(values) * batch_size
        losses, norms = zip(*values, strict=True)
        return sum(losses), sum(norms), losses[-1]
