"""What a run adds to the training loop: its folder, checkpoints, signals and a time limit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tinyvit.data import Dataset
from tinyvit.model import Model
from tinyvit.training.evaluation import Evaluation, PatchEvaluation
from tinyvit.training.loop import Trainer
from tinyvit.training.runs.folder import RunFolder
from tinyvit.training.saving import EpochFiles, Pictures, Saver
from tinyvit.training.settings import Settings
from tinyvit.training.signals import Interrupted, stop_signals
from tinyvit.training.state import restored
from tinyvit.weights.checkpoint import Checkpoint

if TYPE_CHECKING:
    from tinyvit.support.shell.progress import Progress

SAVE_SECONDS = 60  # between checkpoints, even within a long epoch; more if writing one takes long


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
