"""The training loop: epochs, steps, evaluation, checkpoints, and going on exactly where a run was stopped.

Nothing random has a state that must be saved: the order of an epoch's images is drawn from (seed, epoch), a
batch's augmentation and dropout from (seed, step). So a run resumed from a checkpoint does what it would
have done.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyvit.backend import Array, Device
from tinyvit.data import Dataset, crop_and_flip, draw_augmentation, normalise
from tinyvit.engine import Engine
from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig
from tinyvit.ops import Noise
from tinyvit.optim import clip_norm, learning_rate, make_optimizer
from tinyvit.training.checkpoint import Checkpoint, save_checkpoint
from tinyvit.training.evaluation import evaluate
from tinyvit.training.progress import Progress
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings

_SAVE_SECONDS = 60  # at least this often, also within a long epoch
_GPU_LOOK_STEPS = 20  # reading a number from a GPU waits for it, so that is done only every so many steps


@dataclass
class State:
    """Where a run stands: what a checkpoint keeps besides arrays, and what ends in metrics.jsonl."""

    step: int = 0  # updates made
    loss_sum: float = 0.0  # of the steps of the epoch under way
    seconds: float = 0.0  # of training and evaluation, over all sittings
    best: float = -1.0  # accuracy of the best epoch
    best_epoch: int = 0


class Interrupted(Exception):  # noqa: N818 - an event, not an error
    """Ctrl-C or a polite request to end: the checkpoint has been saved."""


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
        self.run, self.settings, self.config, self.engine = run, settings, config, engine
        self.dataset, self.device, self.progress = dataset, device, progress
        self.params = params.to(device.xp)
        self.grads = self.params.zeros_like()
        self.optimizer = make_optimizer(settings.optimizer, self.params, settings.weight_decay)
        self.state = State()
        if settings.batch_size > len(dataset.train):
            raise UserError(
                f"a batch of {settings.batch_size:,} images cannot be drawn from {len(dataset.train):,}: "
                "give a smaller --batch-size."
            )
        self.images = device.xp.asarray(
            dataset.train.images
        )  # (n, H, W, 3) uint8, on the device once and for all
        self.labels = device.xp.asarray(dataset.train.labels)  # (n,)
        self.steps_per_epoch = len(dataset.train) // settings.batch_size
        self.total_steps = settings.epochs * self.steps_per_epoch

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint instead of from the start."""
        if checkpoint.config != self.config or set(checkpoint.optimizer) != set(self.optimizer.state):
            raise UserError(
                f"{self.run.last_path} is a checkpoint of another model or optimiser than config.json "
                "describes: "
                "restore the run folder, or start a new run."
            )
        self.params.flat[...] = self.device.xp.asarray(checkpoint.params.flat)
        for name, array in self.optimizer.state.items():
            array[...] = self.device.xp.asarray(checkpoint.optimizer[name])
        self.state = State(**checkpoint.progress)

    def fit(self) -> dict[str, Any]:
        """Train to the last epoch; returns the last record of metrics.jsonl."""
        first = self.state.step // self.steps_per_epoch
        records = self.run.metrics()[:first]  # a crash may have come between the metrics and the checkpoint
        with stop_signals() as stop:
            for epoch in range(first, self.settings.epochs):
                self._train_epoch(epoch, stop)
                records.append(self._finish_epoch(epoch))
                self.run.write_metrics(records, f"{self.settings.dataset}, {self.settings.model}")
                self._save(self.run.last_path)
        return records[-1]

    def _train_epoch(self, epoch: int, stop: list[int]) -> None:
        """The steps of an epoch that are still to be made."""
        order = np.random.Generator(np.random.Philox((self.settings.seed, epoch))).permutation(
            len(self.labels)
        )
        size, saved = self.settings.batch_size, time.monotonic()
        self._rate_clock = time.perf_counter(), 0
        first = self.state.step - epoch * self.steps_per_epoch
        if first == 0:
            self.state.loss_sum = 0.0
        losses: list[Array] = []
        for k in range(first, self.steps_per_epoch):
            started = time.perf_counter()
            losses.append(self.take_step(order[k * size : (k + 1) * size]))
            last = k + 1 == self.steps_per_epoch
            if not self.device.is_gpu or len(losses) == _GPU_LOOK_STEPS or last or stop:
                self._look(losses, epoch, k + 1)
            self.state.seconds += time.perf_counter() - started
            if stop:
                self._save(self.run.last_path)
                raise Interrupted
            if time.monotonic() - saved > _SAVE_SECONDS and not losses:
                self._save(self.run.last_path)
                saved = time.monotonic()

    def take_step(self, indices: np.ndarray) -> Array:
        """One update from the training images with these indices; returns the batch's mean loss before it."""
        s = self.settings
        step = self.state.step + 1
        lr = learning_rate(
            step, self.total_steps, s.lr, round(s.warmup_epochs * self.steps_per_epoch), s.decay
        )
        self.grads.flat.fill(0)
        loss = 0.0
        for part in np.array_split(np.arange(len(indices)), s.accumulate):
            images, labels = self._batch(indices, part, step)
            noise = Noise(s.seed, step, first=int(part[0]))
            share = len(part) / len(indices)
            loss = loss + self.engine.loss_and_grads(self.params, images, labels, self.grads, noise, share)
        if s.clip:
            clip_norm(self.grads, s.clip)
        self.optimizer.step(self.grads, lr, step)
        self.state.step = step
        return loss

    def _batch(self, indices: np.ndarray, part: np.ndarray, step: int) -> tuple[Array, Array]:
        """Part of a batch, on the device: images (b, H, W, 3), augmented and normalised, and labels (b,)."""
        s, xp = self.settings, self.device.xp
        rng = np.random.Generator(np.random.Philox((s.seed, step)))
        dy, dx, flip = draw_augmentation(rng, len(indices), s.crop_padding)
        if not s.flip:
            flip = np.zeros_like(flip)
        chosen = xp.asarray(indices[part])
        images = crop_and_flip(self.images, chosen, *(xp.asarray(draw[part]) for draw in (dy, dx, flip)))
        return normalise(images, self.params.flat.dtype), self.labels[chosen]

    def _look(self, losses: list[Array], epoch: int, done: int) -> None:
        """Read the losses of the latest steps, stop if they have diverged, show progress."""
        values = [float(loss) for loss in losses]
        losses.clear()
        self.state.loss_sum += sum(values)
        worst = max(values, key=lambda value: value if math.isfinite(value) else math.inf)
        guess = math.log(self.config.classes)
        if not worst < 20 * guess:
            raise UserError(
                f"training has diverged: the loss is {worst:.3g} at step {self.state.step:,} (blind "
                "guessing gives "
                f"{guess:.2f}). {self._kept()} Try a lower --lr than {self.settings.lr:g}, or more "
                "--warmup-epochs."
            )
        started, images = self._rate_clock
        self._rate_clock = started, images + len(values) * self.settings.batch_size
        rate = self._rate_clock[1] / (time.perf_counter() - started)
        left = (self.total_steps - self.state.step) * self.settings.batch_size / rate
        self.progress.step(
            epoch + 1, self.settings.epochs, done, self.steps_per_epoch, values[-1], rate, left
        )

    def _finish_epoch(self, epoch: int) -> dict[str, Any]:
        """Evaluate, keep the best, print the epoch's line; returns its record."""
        s, started = self.settings, time.perf_counter()
        rate = self._rate_clock[1] / max(started - self._rate_clock[0], 1e-9)
        record = {
            "epoch": epoch + 1,
            "step": self.state.step,
            "train_loss": self.state.loss_sum / self.steps_per_epoch,
        }
        held_out = self.dataset.validation
        chosen = evaluate(self.engine, self.params, held_out or self.dataset.test, self.device)
        if held_out:
            record |= {"val_loss": chosen.loss, "val_accuracy": chosen.accuracy}
        record |= {"test_accuracy": None if held_out else chosen.accuracy}
        self.state.seconds += time.perf_counter() - started
        if chosen.accuracy > self.state.best:
            self.state.best, self.state.best_epoch = chosen.accuracy, epoch + 1
            self._save(self.run.best_path)
        if held_out and epoch + 1 == s.epochs:
            record["test_accuracy"] = evaluate(
                self.engine, self.params, self.dataset.test, self.device
            ).accuracy
        record |= {"images_per_second": rate, "seconds": self.state.seconds}
        self.progress.epoch(
            epoch + 1,
            s.epochs,
            record["train_loss"],
            chosen.accuracy,
            self.state.best,
            rate,
            self.state.seconds,
            label="validation" if held_out else "test",
        )
        return record

    def _save(self, path) -> None:
        """Write a checkpoint of what stands now; refuse one that is not finite."""
        if not bool(self.device.xp.isfinite(self.params.flat).all()):
            raise UserError(
                f"training has diverged: a parameter is not finite. {self._kept()} Try a lower --lr."
            )
        save_checkpoint(path, Checkpoint(self.config, self.params, self.optimizer.state, vars(self.state)))

    def _kept(self) -> str:
        """What a user still has after a divergence."""
        if self.run.last_path.exists():
            return f"The last good checkpoint is kept in {self.run.last_path}."
        return "There was no checkpoint yet."


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
