"""The training loop: it decides what comes next; the engine carries out each step.

    for each epoch:
        for each batch:  plan it, take the step, look at the loss, save now and then
        evaluate; save; report

Nothing random has a state (see data.plan): a run resumed from a checkpoint does what it would have done.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from tinyvit.backend import Array, array_module
from tinyvit.data import Dataset, ImageSet, epoch_order, plan_batch
from tinyvit.engine import ReferenceEngine
from tinyvit.errors import UserError
from tinyvit.optim import learning_rate
from tinyvit.runs.checkpoint import Checkpoint, save_checkpoint
from tinyvit.runs.folder import RunFolder
from tinyvit.runs.settings import Settings
from tinyvit.shell.progress import Progress
from tinyvit.training.divergence import check_finite, check_loss
from tinyvit.training.evaluation import Evaluation, evaluate
from tinyvit.training.report import Report
from tinyvit.training.signals import Interrupted, stop_signals
from tinyvit.training.state import State, restored

SAVE_SECONDS = 60  # at least this often, also within a long epoch
_GPU_LOOK_STEPS = 20  # reading a number from a GPU waits for it, so that is done only every so many steps


class Trainer:
    """One training run; fit() carries it to its end, or raises Interrupted or UserError with it saved."""

    def __init__(
        self,
        run: RunFolder,
        settings: Settings,
        dataset: Dataset,
        engine: ReferenceEngine,
        progress: Progress,
    ):
        self.run, self.settings, self.dataset = run, settings, dataset
        self.engine, self.progress = engine, progress
        self.report = Report(run, f"{settings.dataset}, {settings.model}", progress.note)
        self.state = State()
        self.steps_per_epoch = len(dataset.train) // settings.batch_size
        self.total_steps = settings.steps or settings.epochs * self.steps_per_epoch
        self._looks_every = 1 if array_module(engine.params.flat) is np else _GPU_LOOK_STEPS
        # Of this epoch, since it began or was resumed: when, by time.perf_counter, and how many images.
        self._sitting_start, self._sitting_images = 0.0, 0

    def restore(self, checkpoint: Checkpoint) -> None:
        """Resume from a checkpoint instead of beginning at the start."""
        state = restored(checkpoint, self.engine, self.steps_per_epoch, self.total_steps)
        if state is None:
            raise UserError(
                f"{self.run.last_path} is a checkpoint of another model, optimiser or amount of data than "
                "this run has: restore the run folder and its data, or start a new run."
            )
        self.state = state

    def fit(self) -> None:
        """Train to the last epoch."""
        with stop_signals() as stop, warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # overflow: check_loss says it better
            try:
                for epoch in range(len(self.state.records), self.settings.epochs):
                    self._train_epoch(epoch, stop)
                    self._finish_epoch(epoch)
            except BrokenPipeError:  # whoever read the progress has left
                self._save(self.run.last_path)
                raise

    def learning_rate(self, step: int) -> float:
        """The learning rate of update number `step`, counted from 1."""
        s = self.settings
        return learning_rate(
            step, self.total_steps, s.lr, round(s.warmup_epochs * self.steps_per_epoch), s.decay
        )

    def _train_epoch(self, epoch: int, stop: list[int]) -> None:
        """The steps of an epoch that are still to be made."""
        s, state = self.settings, self.state
        order, saved = epoch_order(s.seed, epoch, len(self.dataset.train)), time.monotonic()
        self._sitting_start, self._sitting_images = time.perf_counter(), 0
        first, count = state.step - epoch * self.steps_per_epoch, self._steps_of(epoch)
        if first == 0:
            state.loss_sum = state.norm_sum = 0.0
        unread: list[tuple[Array, Array]] = []
        for k in range(first, count):
            started, step = time.perf_counter(), state.step + 1
            indices = order[k * s.batch_size : (k + 1) * s.batch_size]
            plan = plan_batch(s.seed, step, indices, s.crop_padding, s.flip)
            unread.append(self.engine.step(plan, self.learning_rate(step)))
            state.step = step
            stopping = bool(stop)
            if len(unread) == self._looks_every or k + 1 == count or stopping:
                self._look(unread, epoch, k + 1)
            state.seconds += time.perf_counter() - started
            if stopping:
                self._save(self.run.last_path)
                raise Interrupted(stop[0])
            if time.monotonic() - saved > SAVE_SECONDS and not unread:
                self._save(self.run.last_path)
                saved = time.monotonic()

    def _look(self, unread: list[tuple[Array, Array]], epoch: int, done: int) -> None:
        """Read the losses and norms of the latest steps, stop if they have diverged, show progress."""
        s, state = self.settings, self.state
        values = [(float(loss), float(norm)) for loss, norm in unread]
        unread.clear()
        for step, (loss, norm) in enumerate(values, state.step - len(values) + 1):
            check_loss(loss, self.engine.config.classes, step, self.run, s)
            check_finite("the gradient", norm, step, self.run, s)
            state.loss_sum += loss
            state.norm_sum += norm
        self._sitting_images += len(values) * s.batch_size
        rate = self._rate()
        left = (self.total_steps - state.step) * s.batch_size / rate
        self.progress.step(epoch + 1, s.epochs, done, self._steps_of(epoch), values[-1][0], rate, left)

    def _finish_epoch(self, epoch: int) -> None:
        """Evaluate; save, the best too; report: in this order, so that no failing picture costs an epoch."""
        s, state, rate, started = self.settings, self.state, self._rate(), time.perf_counter()
        held_out, test = self.dataset.validation, self.dataset.test
        judged, last = self._evaluate(held_out or test), epoch + 1 == s.epochs
        # With images held out, nobody looks at the test images until the end.
        tested = (self._evaluate(test) if last else None) if held_out else judged
        state.seconds += time.perf_counter() - started
        took = state.seconds - (state.records[-1]["seconds"] if state.records else 0.0)
        steps = self._steps_of(epoch)
        record: dict[str, Any] = {"epoch": epoch + 1, "step": state.step}
        record |= {"lr": self.learning_rate(state.step), "grad_norm": state.norm_sum / steps}
        record |= {"train_loss": state.loss_sum / steps}
        if held_out:
            record |= {"val_loss": judged.loss, "val_accuracy": judged.accuracy}
        record |= {"test_loss": tested and tested.loss, "test_accuracy": tested and tested.accuracy}
        state.records.append(record | {"images_per_second": rate, "seconds": state.seconds})
        if (judged.accuracy, -judged.loss) > (state.best, -state.best_loss):
            state.best, state.best_loss, state.best_epoch = judged.accuracy, judged.loss, epoch + 1
            self._save(self.run.best_path, optimizer={})  # nobody resumes from it
        self._save(self.run.last_path)
        self.report.write(state.records, state.best_epoch)
        label = "validation" if held_out else "test"
        self.progress.epoch(
            epoch + 1, s.epochs, record["train_loss"], judged.accuracy, state.best, rate, took, label
        )

    def _steps_of(self, epoch: int) -> int:
        """How many steps an epoch has: the last one may be cut short."""
        return min(self.steps_per_epoch, self.total_steps - epoch * self.steps_per_epoch)

    def _rate(self) -> float | None:
        """Images a second, since this epoch began or was resumed; None if there were none."""
        return self._sitting_images / max(time.perf_counter() - self._sitting_start, 1e-9) or None

    def _evaluate(self, images: ImageSet) -> Evaluation:
        result = evaluate(self.engine, images)
        check_loss(result.loss, self.engine.config.classes, self.state.step, self.run, self.settings)
        return result

    def _save(self, path, optimizer: dict[str, Array] | None = None) -> None:
        """Write a checkpoint of what stands now; refuse one that is not finite."""
        kept = self.engine.training.optimizer.state if optimizer is None else optimizer
        for array in (self.engine.params.flat, *kept.values()):
            worst = float(abs(array).max())  # NaN if any number is
            check_finite(
                "a parameter or the optimiser's state", worst, self.state.step, self.run, self.settings
            )
        save_checkpoint(path, Checkpoint(self.engine.config, self.engine.params, kept, vars(self.state)))
