"""The launch of kernels/sums.cu: all partial sums of a step are added to the gradients at once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tinyvit.engine.cuda.calls.signature import launch
from tinyvit.engine.cuda.launch import FEWER_IMAGES, Buffer, Launch
from tinyvit.support.errors import UserError

_COLUMNS, _HEIGHT = 32, 16  # threads of a block: side by side and one above the other
_MOST = 2**31 - 1  # numbers of a job


class ColumnSum(NamedTuple):
    """grads[target + c] grows by the sum of partials[start + row * stride + c] over the rows, for every c.

    All counted in numbers. Of partials (P, 3, D), for example, each of the three is one with P rows and
    stride 3 D.
    """

    start: int
    rows: int
    columns: int
    target: int
    stride: int


def column_jobs(sums: Iterable[ColumnSum]) -> np.ndarray:
    """The table of jobs (count, 5), int32: the sums, cut into pieces of at most 32 columns, one for a block.

    Blocks run in any order, so no two may add to the same gradient: ValueError if two do. UserError if there
    are more partial sums than the table can count.
    """
    pieces = []
    for start, rows, columns, target, stride in sums:
        for c in range(0, columns, _COLUMNS):
            pieces.append((start + c, rows, min(_COLUMNS, columns - c), target + c, stride))
    if max(map(max, pieces), default=0) > _MOST:
        raise UserError(f"the partial sums of a step are more than kernels can count (2^31): {FEWER_IMAGES}")
    jobs = np.array(pieces, np.int32).reshape(-1, 5)
    ends = jobs[np.argsort(jobs[:, 3], kind="stable")]
    if (ends[:-1, 3] + ends[:-1, 2] > ends[1:, 3]).any():
        raise ValueError("two sums have the same target: their blocks would overwrite each other's result")
    return jobs


def add_columns(
    jobs: Buffer, partials: Buffer, grads: Buffer, sums: Sequence[ColumnSum], accumulate: bool = True
) -> Launch:
    """Carry out jobs (count, 5), which column_jobs made of these sums; partials and grads are flat.

    Without accumulate, the gradients are the sums, whatever was there before.
    """
    numbers = sum((s.rows + 1 + accumulate) * s.columns for s in sums)
    args, in_place = (jobs, partials, grads, accumulate), (grads,) if accumulate else ()
    moved = jobs.nbytes + 4 * numbers
    return launch("add_columns", jobs.shape[0], args, (_COLUMNS, _HEIGHT), in_place, moved=moved)
