"""The training loop: it decides what comes next; the engine carries out each step.

    for each epoch:
        for each batch:  plan it, take the step, check the loss, save from time to time
        evaluate; save; report

There is no random state (see data.plan), so a run resumed from a checkpoint continues as if uninterrupted.
"""

import math
from typing import Any

from tinyvit.data import Dataset, ImageSet, balancing, epoch_order, indices_of_batch, plan_batch
from tinyvit.engine import ReferenceEngine
from tinyvit.optim import averaged, learning_rate
from tinyvit.runs.checkpoint import Checkpoint
from tinyvit.runs.folder import RunFolder
from tinyvit.runs.settings import Settings
from tinyvit.shell.progress import Progress
from tinyvit.training.divergence import Guard, Meter, without_overflow_warnings
from tinyvit.training.evaluation import Evaluation, PatchEvaluation, Task, figures_of_epoch
from tinyvit.training.saving import EpochFiles, Saver
from tinyvit.training.signals import Interrupted, StopRequest, stop_signals
from tinyvit.training.stages import Stages
from tinyvit.training.state import State, restored

SAVE_SECONDS = 60  # between checkpoints, even within a long epoch; more if writing one takes long


class Trainer:
    """One training run, with an engine for each of its stages.

    fit() trains to the end or, when interrupted, saves and raises Interrupted.
    """

    def __init__(
        self,
        run: RunFolder,
        settings: Settings,
        dataset: Dataset,
        progress: Progress,
        task: Task,
        stages: Stages,
        engines: list[ReferenceEngine],
    ):
        self.run, self.settings, self.dataset, self.task = run, settings, dataset, task
        self.engines, self.engine = engines, engines[-1]
        self.progress, self.state = progress, State()
        self.guard = Guard(task.blind_loss, run.last_path, settings.lr, run.has_trained)
        self.saver = Saver(run, self.engine, self.guard, settings, EpochFiles(run, settings, progress.note))
        self.augmentation = settings.augmentation()
        self.weights = balancing(dataset.train.labels) if settings.balanced else None
        self.steps_per_epoch = len(dataset.train) // settings.batch_size
        self.total_steps = settings.steps or settings.epochs * self.steps_per_epoch
        self.stages = stages
        self.known_note = self.engine.note  # printed at the start; a new one is printed when it comes

    def restore(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint instead of starting from the beginning."""
        lengths = self.steps_per_epoch, self.total_steps
        self.state = restored(checkpoint, self.run.last_path, self.engine, *lengths)

    def fit(self, deadline: float = math.inf) -> None:
        """Train until the run is finished, or time.monotonic() reaches the deadline."""
        with stop_signals(deadline) as stop, without_overflow_warnings():
            while not self.state.is_finished(self.settings):
                epoch, meter = len(self.state.records), Meter(self.guard)
                self._train_epoch(epoch, meter, stop)
                self._finish_epoch(epoch, meter.rate)

    def save(self) -> None:
        """Write the checkpoint from which the run can be resumed, and the files of the finished epochs."""
        self.saver.check_finite(self.state.step)
        self.saver.write_last(self.state)

    def learning_rate(self, step: int) -> float:
        """The learning rate for update number `step`, counted from 1."""
        return scheduled_rate(self.settings, step, self.steps_per_epoch)

    @property
    def done(self) -> float:
        """The share of all steps that has been taken."""
        return self.state.step / self.total_steps

    def images_left(self) -> float:
        """How many images, with all of their patches, take as long as what is left."""
        return self.stages.cost_left(self.done) * self.total_steps * self.settings.batch_size

    def _train_epoch(self, epoch: int, meter: Meter, stop: StopRequest) -> None:
        """Take the remaining steps of an epoch."""
        s, state = self.settings, self.state
        order = epoch_order(s.seed, epoch, len(self.dataset.train), s.repeats, self.weights)
        first, count = state.step - epoch * self.steps_per_epoch, self._steps_of(epoch)
        if first == 0:
            state.loss_sum = state.norm_sum = 0.0
        for k in range(first, count):
            step, cost = state.step + 1, self.stages.cost(self.done)
            engine = self.engines[self.stages.number(self.done)]
            with state.timed():
                indices = indices_of_batch(order, k, s.batch_size, s.repeats)
                plan = plan_batch(s.seed, step, indices, **self.augmentation)
                due = meter.add(*engine.step(plan, self.learning_rate(step)))
                state.step, stopping = step, bool(stop)
                if due or k + 1 == count or stopping:
                    losses, norms, last = meter.read(step, s.batch_size)
                    state.loss_sum += losses
                    state.norm_sum += norms
                    rate = meter.rate
                    assert rate is not None, "the meter has been read"
                    left = self.images_left() / (rate * cost)
                    self._say_news()
                    self.progress.step(epoch + 1, s.epochs, k + 1, count, last, rate, left)
            if stopping or (meter.is_read and self.saver.is_due(SAVE_SECONDS)):
                with state.timed():
                    self.save()
            if stopping:
                raise Interrupted(stop.number)

    def _say_news(self) -> None:
        if self.engine.note != self.known_note:
            self.known_note = self.engine.note
            self.progress.note(self.known_note)

    def _finish_epoch(self, epoch: int, rate: float | None) -> None:
        """Evaluate, save (the best epoch too) and report, last so that a failed picture loses nothing."""
        s, state, steps = self.settings, self.state, self._steps_of(epoch)
        looks = epoch + 1 == s.epochs or (epoch + 1) % s.evaluate_every == 0
        before, loss = state.records[-1]["seconds"] if state.records else 0.0, state.loss_sum / steps
        record: dict[str, Any] = {
            "epoch": epoch + 1,
            "step": state.step,
            "lr": self.learning_rate(state.step),
        }
        record |= {"grad_norm": state.norm_sum / steps, "train_loss": loss}
        state.records.append(record)
        held_out, test, is_best = None, None, False
        with state.timed():
            if looks and self.dataset.validation:
                held_out = self._evaluate(self.dataset.validation)
            elif looks:
                test = self._evaluate(self.dataset.test)
            record |= figures_of_epoch(held_out, test)
            if judged := held_out or test:
                is_best = state.judge(epoch + 1, judged.accuracy, judged.loss, self.task.by_loss)
            if held_out and state.is_finished(s):  # the test images are used only at the end
                record |= figures_of_epoch(held_out, self._evaluate(self.dataset.test))
        record |= {"images_per_second": rate, "seconds": state.seconds}
        took = state.seconds - before
        self.saver.check_finite(state.step)
        if judged:  # otherwise the next checkpoint, at most a minute after the last, holds this record too
            with state.timed():
                if is_best:
                    self.saver.write_best(state)
                self.saver.write_last(state, state.is_finished(s))
        by_loss, label = self.task.by_loss, "validation" if self.dataset.validation else "test"
        result = (judged.loss if by_loss else judged.accuracy) if judged else None
        best = (state.best_loss if by_loss else state.best) if state.best_epoch else None
        figures = loss, result, best, rate, took, label, by_loss, is_best
        self.progress.epoch(epoch + 1, s.epochs, *figures)

    def _steps_of(self, epoch: int) -> int:
        """The number of steps in an epoch; the last epoch may be shorter than the others."""
        return min(self.steps_per_epoch, self.total_steps - epoch * self.steps_per_epoch)

    def _evaluate(self, images: ImageSet) -> Evaluation | PatchEvaluation:
        with averaged(self.engine.training.average):
            result = self.task.evaluate(self.engine, images)
        self.guard.check_loss(result.loss, self.state.step)
        return result


def scheduled_rate(s: Settings, step: int, steps_per_epoch: int) -> float:
    """The learning rate of a run with these settings for update number `step`, counted from 1."""
    total = s.steps or s.epochs * steps_per_epoch
    return learning_rate(step, total, s.lr, s.warmup(steps_per_epoch), s.decay)
