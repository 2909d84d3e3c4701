"""Images on the disk, for a data set that is larger than the memory: they are read as they are needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Rows:
    """Some images of an array that is mapped from the disk, or decoded when it is read, in any order.

    It is indexed as an array (n, H, W, 3) is along its first axis. A single image is an array; several are
    Rows again, and nothing is read before np.asarray(rows).
    """

    def __init__(self, images: Any, rows: Sequence[int] | np.ndarray):
        self._images, self._rows = images, np.asarray(rows, np.int64)
        self.shape, self.dtype, self.ndim = (len(self._rows), *images.shape[1:]), images.dtype, images.ndim

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: Any) -> Any:
        rows = self._rows[key]
        return Rows(self._images, rows) if np.ndim(rows) else np.array(self._images[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        found = np.array(self._images[self._rows])
        return found if dtype is None else found.astype(dtype, copy=False)
