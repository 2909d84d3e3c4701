"""Writing the checkpoints of a run, not too often and never with numbers that are not finite."""

from pathlib import Path

from tinyvit.distributed import current
from tinyvit.engine import ReferenceEngine
from tinyvit.runs.checkpoint import save_checkpoint
from tinyvit.runs.folder import RunFolder
from tinyvit.runs.settings import Settings
from tinyvit.training.divergence import Guard
from tinyvit.training.epoch_files import EpochFiles
from tinyvit.training.save_clock import SaveClock
from tinyvit.training.state import State, live_arrays, to_save


class Saver:
    """Writes the model, the optimiser and the progress of a run. With several ranks, all must call together,
    and the first one writes.

    recorded are the settings that a checkpoint is said to be made with (see training.same_settings).
    """

    def __init__(
        self, run: RunFolder, engine: ReferenceEngine, guard: Guard, settings: Settings, files: EpochFiles
    ):
        self.run, self.engine, self.guard, self.files = run, engine, guard, files
        self.clock, self.recorded = SaveClock(), settings.as_dict()

    def is_due(self, seconds: float) -> bool:
        """Whether the last checkpoint is older than that on any rank; see SaveClock."""
        return bool(current().max(self.clock.is_due(seconds)))

    def check_finite(self, step: int) -> None:
        """Raise UserError if the current numbers must not be saved."""
        arrays = live_arrays(self.engine).values()
        self.guard.check_arrays("a parameter or the optimiser's state", arrays, step)

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
        checkpoint.settings = self.recorded
        with self.clock.writing():
            # The others wait: a second signal would kill one that has left, and that would end rank 0 too.
            save_checkpoint(path, checkpoint, previous)
        self.run.only_start = False
