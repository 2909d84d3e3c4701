"""The files of a run that are rewritten after each epoch: metrics.jsonl and curves.png."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinyvit.pictures.curves import draw_curves
from tinyvit.runs.folder import RunFolder
from tinyvit.runs.settings import Settings


class EpochFiles:
    """Rewrites both files after each epoch.

    A file that cannot be written is mentioned once, through note(text), and does not stop the run.
    """

    def __init__(self, run: RunFolder, settings: Settings, note: Callable[[str], None]):
        self.run, self.title, self.note = run, f"{settings.dataset}, {settings.model}", note
        self._failed: set[str] = set()

    def write(self, records: list[dict[str, Any]], best_epoch: int) -> None:
        """Write the records of all epochs so far, and draw their curves."""
        self._try("metrics.jsonl", lambda: self.run.write_metrics(records))
        self._try("curves.png", lambda: draw_curves(records, self.run.curves_path, self.title, best_epoch))

    def _try(self, name: str, write: Callable[[], None]) -> None:
        try:
            write()
            self._failed.discard(name)
        except (OSError, ValueError) as error:  # a UserError is a ValueError
            if name not in self._failed:
                self._failed.add(name)
                self.note(f"{name} was not written, but training continues: {error}")
