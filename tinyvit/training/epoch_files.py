"""The files of a run that are rewritten after each epoch: metrics.jsonl and curves.png."""

import math
import time
from collections.abc import Callable
from typing import Any

from tinyvit.distributed import by_first
from tinyvit.pictures.curves import draw_curves
from tinyvit.runs.folder import RunFolder
from tinyvit.runs.settings import Settings

_SHARE = 0.05  # of the time, which is the most that drawing may take where epochs are short


class EpochFiles:
    """Rewrites both files after each epoch; the curves less often, where drawing would take too much time.

    A file that cannot be written is mentioned once, through note(text), and does not stop the run.
    """

    def __init__(self, run: RunFolder, settings: Settings, note: Callable[[str], None]):
        self.run, self.title, self.note = run, f"{settings.dataset}, {settings.model}", note
        self._failed: set[str] = set()
        self._next = -math.inf  # when it is time to draw again

    @by_first
    def write(self, records: list[dict[str, Any]], best_epoch: int, is_last: bool = True) -> None:
        """Write the records of all epochs so far, and draw their curves, in any case if it is the last."""
        self._try("metrics.jsonl", lambda: self.run.write_metrics(records))
        started = time.monotonic()
        if is_last or started >= self._next:
            path = self.run.curves_path
            self._try("curves.png", lambda: draw_curves(records, path, self.title, best_epoch))
            self._next = time.monotonic() + (time.monotonic() - started) / _SHARE

    def _try(self, name: str, write: Callable[[], None]) -> None:
        try:
            write()
            self._failed.discard(name)
        except (OSError, ValueError) as error:  # a UserError is a ValueError
            if name not in self._failed:
                self._failed.add(name)
                self.note(f"{name} was not written, but training continues: {error}")
