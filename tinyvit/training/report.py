"""What a run reports after each epoch: its record, metrics.jsonl and curves.png."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tinyvit.errors import UserError
from tinyvit.pictures.curves import draw_curves
from tinyvit.runs.folder import RunFolder
from tinyvit.training.evaluation import Evaluation


def accuracies(held_out: Evaluation | None, test: Evaluation | None) -> dict[str, float | None]:
    """The losses and accuracies in an epoch's record: on the test images, and on any held out images."""
    record: dict[str, float | None] = {}
    if held_out:
        record |= {"val_loss": held_out.loss, "val_accuracy": held_out.accuracy}
    return record | {"test_loss": test and test.loss, "test_accuracy": test and test.accuracy}


class Report:
    """Rewrites both files after each epoch.

    A file that cannot be written is reported once, through note(text), and does not stop the run.
    """

    def __init__(self, run: RunFolder, title: str, note: Callable[[str], None]):
        self.run, self.title, self.note = run, title, note
        self._failed: set[str] = set()

    def write(self, records: Sequence[dict[str, Any]], best_epoch: int) -> None:
        """Write the records of all epochs so far, and draw their curves."""
        self._try("metrics.jsonl", lambda: self.run.write_metrics(records))
        self._try("curves.png", lambda: draw_curves(records, self.run.curves_path, self.title, best_epoch))

    def _try(self, name: str, write: Callable[[], None]) -> None:
        try:
            write()
            self._failed.discard(name)
        except (UserError, OSError, ValueError) as error:
            if name not in self._failed:
                self._failed.add(name)
                self.note(f"{name} was not written, but training continues: {error}")
