"""The training loop of a run, with its files, signals and a time limit.

Checkpoints are written, but not too often, and never with numbers that are not finite.
"""

from __future__ import annotations

import contextlib
import math
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from PIL import Image

from tinyvit.data import Dataset, one_of_each
from tinyvit.data.photos import fit_for
from tinyvit.engine import ReferenceEngine
from tinyvit.model import Model, Params, ViTConfig
from tinyvit.support.distributed import current, on_rank_zero
from tinyvit.support.errors import UserError
from tinyvit.training.evaluation import COLOURS_RIGHT, Evaluation, PatchEvaluation
from tinyvit.training.loop import Trainer
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings
from tinyvit.training.signals import Interrupted, stop_signals
from tinyvit.training.state import State, restored, to_save
from tinyvit.weights.checkpoint import Checkpoint, save_checkpoint

if TYPE_CHECKING:
    from tinyvit.support.shell.progress import Progress

SAVE_SECONDS = 60  # between checkpoints, even within a long epoch; more if writing one takes long
_QUICK = 3.0  # seconds: writing that takes longer makes checkpoints rarer


class SaveClock:
    """Measures how long ago the last checkpoint was written, and how long that took."""

    def __init__(self) -> None:
        self._saved = time.monotonic()
        self._took = 0.0

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Within this context, a checkpoint is written."""
        started = time.monotonic()
        yield
        self._saved = time.monotonic()
        self._took = self._saved - started

    def is_due(self, seconds: float) -> bool:
        """True if the last checkpoint is older than that, or a multiple if writing was not quick.

        With a minute between checkpoints, writing thus takes at most a twentieth of the time.
        """
        age = time.monotonic() - self._saved
        return age > seconds * max(1.0, self._took / _QUICK)


_SHARE = 0.05  # of the time, which is the most that drawing may take where epochs are short


class TensorBoard:
    """Writes the losses, accuracies and rates of epochs to a folder, for TensorBoard.

    Each process writes all epochs anew, in place of those that earlier ones left there (purge_step).
    """

    def __init__(self, folder: Path):
        try:
            from tensorboardX import SummaryWriter  # here, as it is optional
        except ImportError:
            raise UserError(
                "--log tensorboard needs the package tensorboardX, which is not installed: run pip install "
                "tensorboardX, or omit --log."
            ) from None
        self._open = partial(SummaryWriter, str(folder), purge_step=1)
        self._writer: Any = None
        self._written = 0  # epochs

    def write(self, records: list[dict[str, Any]], is_last: bool) -> None:
        """Write what is new."""
        self._writer = self._writer or self._open()
        for record in records[self._written :]:
            for name, value in record.items():
                images, _, kind = name.rpartition("_")
                if value is not None and (kind in ("loss", "accuracy") or name in ("lr", "grad_norm")):
                    tag = name if kind in ("lr", "norm") else f"{kind}/{images}"
                    self._writer.add_scalar(tag, value, record["epoch"])
        self._writer.close() if is_last else self._writer.flush()
        self._written = len(records)


class Pictures(Protocol):
    """Draws the pictures of a run, each to a path: see insight.pictures.of_runs."""

    def curves(
        self, records: list[dict[str, Any]], path: Path, title: str, best_epoch: int, accuracy: str
    ) -> None:
        """Draw the losses and accuracies of the epochs."""

    def patches(
        self, config: ViTConfig, params: Params, dataset: Dataset, settings: Settings, path: Path
    ) -> None:
        """Draw what a model that learns without labels predicts of some test images."""

    def augmentation(self, settings: Settings, dataset: Dataset, path: Path) -> None:
        """Draw training images as the model would be shown them."""


class EpochFiles:
    """Rewrites these files after each epoch; the curves less often, where drawing would take too much time.

    A file that cannot be written is mentioned once, through note(text), and does not stop the run.
    """

    def __init__(
        self,
        run: RunFolder,
        settings: Settings,
        note: Callable[[str], None],
        pictures: Pictures | None = None,
    ):
        self.pictures = pictures
        self.run, self.title, self.note = run, f"{settings.dataset}, {settings.model}", note
        self.accuracy = COLOURS_RIGHT if settings.target else "accuracy"
        self._failed: set[str] = set()
        self._board = TensorBoard(run.path / "tensorboard") if settings.log and current().is_first else None
        self._next = -math.inf  # when it is time to draw again

    @on_rank_zero
    def write(self, records: list[dict[str, Any]], best_epoch: int, is_last: bool = True) -> None:
        """Write the records of all epochs so far, and draw their curves, in any case if it is the last."""
        self._try(
            "metrics.csv", lambda: self.run.write_table(records)
        )  # so that it is whole where the next is
        self._try("metrics.jsonl", lambda: self.run.write_metrics(records))
        if board := self._board:
            self._try("tensorboard", lambda: board.write(records, is_last))
        started = time.monotonic()
        if (pictures := self.pictures) and (is_last or started >= self._next):
            path = self.run.curves_path
            words = self.title, best_epoch, self.accuracy
            self._try("curves.png", lambda: pictures.curves(records, path, *words))
            self._next = time.monotonic() + (time.monotonic() - started) / _SHARE

    def _try(self, name: str, write: Callable[[], None]) -> None:
        try:
            write()
            self._failed.discard(name)
        except (OSError, ValueError) as error:  # a UserError is a ValueError
            if name not in self._failed:
                self._failed.add(name)
                self.note(f"{name} was not written, but training continues: {error}")


_MOST = 10


@on_rank_zero
def write_samples(run: RunFolder, dataset: Dataset, note: Callable[[str], None]) -> None:
    """Write the first test image of each class, of ten at most, as samples/CLASS.png, unless it is there.

    What cannot be written is mentioned through note(text) and does not stop the run.
    """
    images, labels = dataset.test.images, dataset.test.labels
    try:
        for i in one_of_each(labels, min(_MOST, len(np.unique(labels)))):
            name = re.sub(r"[/\\]", "_", dataset.classes[labels[i]])
            run.add_sample(f"{name}.png", partial(Image.fromarray(images[i]).save, format="PNG"))
    except (OSError, ValueError) as error:  # a UserError is a ValueError
        note(f"test images were not written to {run.samples_path}, but training continues: {error}")


@on_rank_zero
def write_names(run: RunFolder, dataset: Dataset) -> None:
    """Write split.json and left_out.json, of data whose images have names."""
    parts = {"train": dataset.train, "validation": dataset.validation, "test": dataset.test}
    run.write_names(dataset.left_out, {part: images.names for part, images in parts.items() if images})


class Saver:
    """Writes the model, the optimiser and the progress of a run. With several ranks, all must call together,
    and the first one writes.

    recorded are the settings that a checkpoint is said to be made with (see training.choices).
    """

    def __init__(self, run: RunFolder, engine: ReferenceEngine, settings: Settings, files: EpochFiles):
        self.run, self.engine, self.files = run, engine, files
        self.clock, self.recorded, self.fit = SaveClock(), settings.as_dict(), settings.fit

    def is_due(self, seconds: float) -> bool:
        """True if the last checkpoint is older than that on any rank; see SaveClock."""
        return bool(current().max(self.clock.is_due(seconds)))

    def write_last(self, state: State, is_last: bool = False) -> None:
        """Write the checkpoint from which the run can be resumed, and the files of the finished epochs.

        The checkpoint before it is kept too. is_last says that the run has come to its end.
        """
        self._write(state, self.run.last_path, self.run.previous_path)
        if state.records:
            self.files.write(state.records, state.best_epoch, is_last)

    def write_best(self, state: State) -> None:
        """Write the model of the best epoch, which is never resumed."""
        self._write(state, self.run.best_path, None)

    def _write(self, state: State, path: Path, previous: Path | None) -> None:
        checkpoint = to_save(self.engine, state, resumable=previous is not None)
        if self.fit:
            checkpoint.photo_fit = fit_for(self.engine.config.image_size, self.fit)
        checkpoint.settings = self.recorded
        with self.clock.writing():
            # The others wait: a second signal would kill one that has left, and that would end rank 0 too.
            save_checkpoint(path, checkpoint, previous)
        self.run.only_start = False


class RunTrainer(Trainer):
    """A trainer that writes a run folder and shows its progress.

    fit() trains to the end or, when interrupted, saves and raises Interrupted.
    """

    progress: Progress

    def __init__(
        self,
        run: RunFolder,
        settings: Settings,
        dataset: Dataset,
        model: Model,
        progress: Progress,
        pictures: Pictures | None = None,
    ):
        def kept() -> str:
            last = f"The last good checkpoint is kept in {run.last_path}."
            return last if run.has_trained() else "No checkpoint was kept."

        data = dataset.train, dataset.validation, dataset.test
        super().__init__(settings, model.config, model.params, kept, *data, progress=progress)
        self.run, self.dataset, self.pictures = run, dataset, pictures
        self.saver = Saver(run, self.engine, settings, EpochFiles(run, settings, progress.note, pictures))
        self.known_note = self.engine.note  # printed at the start; a new one is printed when it comes

    def restore(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint instead of starting from the beginning."""
        lengths = self.steps_per_epoch, self.total_steps
        self.state = restored(checkpoint, self.run.last_path, self.engine, *lengths)

    def fit(self, deadline: float = math.inf) -> None:
        """Train until the run is finished, or time.monotonic() reaches the deadline."""
        with stop_signals(deadline) as self.stop:
            super().fit()

    def save(self) -> None:
        """Write the checkpoint from which the run can be resumed, and the files of the finished epochs."""
        self.check_finite()
        self.saver.write_last(self.state)

    def _is_to_stop(self) -> bool:
        return bool(self.stop)

    def _has_read(self, epoch: int, k: int, loss: float, rate: float | None) -> None:
        self._say_news()
        super()._has_read(epoch, k, loss, rate)

    def _say_news(self) -> None:
        if self.engine.note != self.known_note:
            self.known_note = self.engine.note
            self.progress.note(self.known_note)

    def _has_stepped(self, is_read: bool, stopping: bool) -> None:
        if stopping or (is_read and self.saver.is_due(SAVE_SECONDS)):
            with self.state.timed():
                self.save()
        if stopping:
            raise Interrupted(self.stop.number)

    def _has_finished(
        self, record: dict[str, Any], judged: Evaluation | PatchEvaluation | None, is_best: bool
    ) -> bool:
        """Save (the best epoch too) and report, last so that a failed picture loses nothing."""
        state = self.state
        if judged:  # otherwise the next checkpoint, at most a minute after the last, holds this record too
            with state.timed():
                if is_best:
                    self.saver.write_best(state)
                self.saver.write_last(state, state.is_finished(self.settings))
        return super()._has_finished(record, judged, is_best)
