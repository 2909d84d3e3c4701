"""When it is time for the next checkpoint within an epoch."""

import contextlib
import time
from collections.abc import Iterator

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
        """Whether the last checkpoint is older than that, or a multiple if writing was not quick.

        With a minute between checkpoints, writing thus takes at most a twentieth of the time.
        """
        age = time.monotonic() - self._saved
        return age > seconds * max(1.0, self._took / _QUICK)
