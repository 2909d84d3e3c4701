"""The training loop: epochs, steps, evaluation, checkpoints, and going on exactly where a run was stopped.

Nothing random has a state that must be saved: the order of an epoch's images is drawn from (seed, epoch), a
batch's augmentation and dropout from (seed, step). So a run resumed from a checkpoint does what it would
have done.
"""

from __future__ import annotations

import math
import signal
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.backend import Array, Device
from tinyvit.data import Dataset, ImageSet, crop_and_flip, draw_augmentation, to_input
from tinyvit.engine import Engine
from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig
from tinyvit.ops import Noise
from tinyvit.optim import clip_norm, learning_rate, make_optimizer
from tinyvit.pictures.curves import draw_curves
from tinyvit.runs.checkpoint import Checkpoint, save_checkpoint
from tinyvit.runs.folder import RunFolder
from tinyvit.runs.settings import Settings
from tinyvit.shell.progress import Progress
from tinyvit.training.evaluation import Evaluation, evaluate

SAVE_SECONDS = 60  # at least this often, also within a long epoch
_GPU_LOOK_STEPS = 20  # reading a number from a GPU waits for it, so that is done only every so many steps


@dataclass
class State:
    """Where a run stands: what a checkpoint keeps besides arrays."""

    step: int = 0  # updates made
    loss_sum: float = 0.0  # of the steps of the epoch under way
    seconds: float = 0.0  # of training and evaluation, over all sittings
    best: float = -1.0  # accuracy of the best epoch
    best_loss: float = math.inf  # its loss on the same images, which decides between equals
    best_epoch: int = 0
    records: list[dict[str, Any]] = field(default_factory=list)  # of the finished epochs, for metrics.jsonl


class Interrupted(Exception):  # noqa: N818 - an event, not an error
    """Ctrl-C or a polite request to end, by the number of its signal: the checkpoint has been saved."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


class Trainer:
    """One training run; fit() carries it to its end, or raises Interrupted or UserError with it saved."""

    def __init__(
        self,
        run: RunFolder,
        settings: Settings,
        dataset: Dataset,
        config: ViTConfig,
        params: Params,
        engine: Engine,
        device: Device,
        progress: Progress,
    ):
        _check(settings, dataset)
        self.run, self.settings, self.config, self.engine = run, settings, config, engine
        self.dataset, self.device, self.progress = dataset, device, progress
        self.params = params.to(device.xp)
        self.grads = self.params.zeros_like()
        self.optimizer = make_optimizer(settings.optimizer, self.params, settings.weight_decay)
        self.state = State()
        # The training set, on the device once and for all.
        self.images = device.xp.asarray(dataset.train.images)  # (n, H, W, 3) uint8
        self.labels = device.xp.asarray(dataset.train.labels)  # (n,)
        self.steps_per_epoch = len(dataset.train) // settings.batch_size
        self.total_steps = settings.steps or settings.epochs * self.steps_per_epoch
        # Of this epoch, since it began or was gone on with: when, by time.perf_counter, and how many images.
        self._sitting_start, self._sitting_images = 0.0, 0

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint instead of from the start."""
        mine, saved = self.optimizer.state, checkpoint.optimizer
        try:
            state = State(**checkpoint.progress)
            done = state.records[-1]["step"] if state.records else 0  # at the end of the last whole epoch
            fits = (
                checkpoint.config == self.config
                and _shapes(mine) == _shapes(saved)
                and done == min(len(state.records) * self.steps_per_epoch, self.total_steps)
                and done <= state.step <= done + self.steps_per_epoch
            )
        except TypeError:
            fits = False
        if not fits:
            raise UserError(
                f"{self.run.last_path} is a checkpoint of another model, optimiser or amount of data than "
                "this run has: restore the run folder and its data, or start a new run."
            )
        self.params.flat[...] = self.device.xp.asarray(checkpoint.params.flat)
        for name, array in mine.items():
            array[...] = self.device.xp.asarray(saved[name])
        self.state = state

    def fit(self) -> None:
        """Train to the last epoch."""
        with stop_signals() as stop, warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # overflow: _check_loss says it better
            for epoch in range(len(self.state.records), self.settings.epochs):
                self._train_epoch(epoch, stop)
                self.state.records.append(self._finish_epoch(epoch))
                self.run.write_metrics(self.state.records)
                title = f"{self.settings.dataset}, {self.settings.model}"
                draw_curves(self.state.records, self.run.curves_path, title)
                self._save(self.run.last_path)

    def _train_epoch(self, epoch: int, stop: list[int]) -> None:
        """The steps of an epoch that are still to be made."""
        order = _draws(self.settings.seed, "order", epoch).permutation(len(self.labels))
        size, steps, saved = self.settings.batch_size, self._steps_of(epoch), time.monotonic()
        self._sitting_start, self._sitting_images = time.perf_counter(), 0
        first = self.state.step - epoch * self.steps_per_epoch
        if first == 0:
            self.state.loss_sum = 0.0
        losses: list[Array] = []
        for k in range(first, steps):
            started = time.perf_counter()
            losses.append(self.take_step(order[k * size : (k + 1) * size]))
            last, stopping = k + 1 == steps, bool(stop)
            if not self.device.is_gpu or len(losses) == _GPU_LOOK_STEPS or last or stopping:
                self._look(losses, epoch, k + 1)
            self.state.seconds += time.perf_counter() - started
            if stopping:
                self._save(self.run.last_path)
                raise Interrupted(stop[0])
            if time.monotonic() - saved > SAVE_SECONDS and not losses:
                self._save(self.run.last_path)
                saved = time.monotonic()

    def _steps_of(self, epoch: int) -> int:
        """How many steps an epoch has: the last one may be cut short."""
        return min(self.steps_per_epoch, self.total_steps - epoch * self.steps_per_epoch)

    def take_step(self, indices: np.ndarray) -> Array:
        """One update from the training images with these indices; returns the batch's mean loss before it."""
        s = self.settings
        step = self.state.step + 1
        lr = learning_rate(
            step, self.total_steps, s.lr, round(s.warmup_epochs * self.steps_per_epoch), s.decay
        )
        rng = _draws(s.seed, "augmentation", step)
        dy, dx, flip = draw_augmentation(rng, len(indices), s.crop_padding)
        if not s.flip:
            flip = np.zeros_like(flip)
        self.grads.flat.fill(0)
        loss = 0.0
        for part in np.array_split(np.arange(len(indices)), s.accumulate):
            images, labels = self._batch(indices[part], dy[part], dx[part], flip[part])
            noise = Noise(s.seed, step, first=int(part[0]))
            share = len(part) / len(indices)
            loss = loss + self.engine.loss_and_grads(self.params, images, labels, self.grads, noise, share)
        if s.clip:
            clip_norm(self.grads, s.clip)
        self.optimizer.step(self.grads, lr, step)
        self.state.step = step
        return loss

    def _batch(self, indices: np.ndarray, *augmentation: np.ndarray) -> tuple[Array, Array]:
        """Images (b, H, W, 3), augmented and normalised, and labels (b,), on the device."""
        asarray = self.device.xp.asarray
        chosen = asarray(indices)
        images = crop_and_flip(self.images, chosen, *map(asarray, augmentation))
        return to_input(images, self.params.flat.dtype, self.config.image_size), self.labels[chosen]

    def _look(self, losses: list[Array], epoch: int, done: int) -> None:
        """Read the losses of the latest steps, stop if they have diverged, show progress."""
        values = [float(loss) for loss in losses]
        losses.clear()
        for step, value in enumerate(values, self.state.step - len(values) + 1):
            self._check_loss(value, step)
        self.state.loss_sum += sum(values)
        s = self.settings
        self._sitting_images += len(values) * s.batch_size
        rate = self._rate()
        left = (self.total_steps - self.state.step) * s.batch_size / rate
        self.progress.step(epoch + 1, s.epochs, done, self._steps_of(epoch), values[-1], rate, left)

    def _rate(self) -> float | None:
        """Images a second, since this epoch began or was gone on with; None if there were none."""
        return self._sitting_images / max(time.perf_counter() - self._sitting_start, 1e-9) or None

    def _finish_epoch(self, epoch: int) -> dict[str, Any]:
        """Evaluate, keep the best, print the epoch's line; returns its record."""
        s, state, rate, started = self.settings, self.state, self._rate(), time.perf_counter()
        held_out, test = self.dataset.validation, self.dataset.test
        record = {
            "epoch": epoch + 1,
            "step": state.step,
            "train_loss": state.loss_sum / self._steps_of(epoch),
        }
        judged = self._evaluate(held_out or test)
        if held_out:
            record |= {"val_loss": judged.loss, "val_accuracy": judged.accuracy, "test_accuracy": None}
            if epoch + 1 == s.epochs:  # until then nobody looks at the test images
                record["test_accuracy"] = self._evaluate(test).accuracy
        else:
            record["test_accuracy"] = judged.accuracy
        state.seconds += time.perf_counter() - started
        record |= {"images_per_second": rate, "seconds": state.seconds}
        if (judged.accuracy, -judged.loss) > (state.best, -state.best_loss):
            state.best, state.best_loss, state.best_epoch = judged.accuracy, judged.loss, epoch + 1
            self._save(self.run.best_path, optimizer={})  # nobody goes on from it
        self.progress.epoch(
            epoch + 1,
            s.epochs,
            record["train_loss"],
            judged.accuracy,
            state.best,
            rate,
            state.seconds - (state.records[-1]["seconds"] if state.records else 0.0),
            label="validation" if held_out else "test",
        )
        return record

    def _evaluate(self, images: ImageSet) -> Evaluation:
        result = evaluate(self.engine, self.params, images, self.device)
        self._check_loss(result.loss, self.state.step)
        return result

    def _check_loss(self, loss: float, step: int) -> None:
        """Stop if the loss of a step is far beyond that of blind guessing, or no number at all."""
        guess = math.log(self.config.classes)
        if not loss < 20 * guess:
            raise self._diverged(f"the loss is {loss:.3g}, blind guessing gives {guess:.2f}", step)

    def _save(self, path: Path, optimizer: dict[str, Array] | None = None) -> None:
        """Write a checkpoint of what stands now; refuse one that is not finite."""
        state = self.optimizer.state if optimizer is None else optimizer
        for array in (self.params.flat, *state.values()):
            if not bool(self.device.xp.isfinite(array).all()):
                raise self._diverged("a parameter or the optimiser's state is not finite", self.state.step)
        save_checkpoint(path, Checkpoint(self.config, self.params, state, vars(self.state)))

    def _diverged(self, symptom: str, step: int) -> UserError:
        path = self.run.last_path
        kept = f"The last good checkpoint is kept in {path}." if path.exists() else "No checkpoint was kept."
        return UserError(
            f"training has diverged: after step {step:,} {symptom}. {kept} "
            f"Try a lower --lr than {self.settings.lr:g}, or more --warmup-epochs."
        )


def _draws(seed: int, purpose: str, number: int) -> np.random.Generator:
    """Random numbers of their own for each purpose and each epoch or step, whatever was drawn before."""
    return np.random.Generator(np.random.Philox((seed, {"order": 1, "augmentation": 2}[purpose], number)))


def _check(settings: Settings, dataset: Dataset) -> None:
    """Raise UserError if the settings do not fit the data."""
    count, (H, W) = len(dataset.train), dataset.train.images.shape[1:3]
    if settings.batch_size > count:
        raise UserError(
            f"a batch of {settings.batch_size:,} images cannot be drawn from {count:,}: give a smaller "
            "--batch-size."
        )
    if settings.accumulate > settings.batch_size:
        raise UserError(
            f"a batch of {settings.batch_size:,} images cannot be computed in {settings.accumulate:,} parts: "
            "give a smaller --accumulate."
        )
    if settings.crop_padding >= min(H, W):
        raise UserError(
            f"crops cannot move by {settings.crop_padding:,} pixels on images of {H} x {W}: give a "
            f"--crop-padding below {min(H, W)}."
        )


def _shapes(arrays: dict[str, Array]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in arrays.items()}


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Within, Ctrl-C and SIGTERM are put on the list given; the second one ends the program at once."""
    received: list[int] = []

    def note(number: int, frame: Any) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
