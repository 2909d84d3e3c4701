"""How long one kernel or product takes on a card, by arithmetic.

    time = max(bytes / bandwidth, multiply-adds / rate) + launch                           (1)

No card reaches what its data sheet promises, so bandwidth and rate are multiplied by the shares below. They
are assumptions: on an H100, whole steps of Ti/4 and S/4 took 6 to 21 % longer. A kernel with fewer blocks
than the card has multiprocessors can use only as large a part of either.

A product is cut into tiles of its result, and a multiprocessor computes one tile at a time. So the tiles go
in waves, the last of which may leave most of the card idle. Where there are few tiles and long rows, as in
the gradient of a matrix, the rows are cut into parts whose results are added up, which costs bytes. Of
several tiles and cuts, the fastest is assumed: cuBLAS chooses in the same way.

Everything is assumed to come from memory and go to memory. What the next kernel still finds in the L2 cache
is not counted, so small batches can be faster than this says.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, prod

from tinyvit.benchmark.speed.cards import Card
from tinyvit.engine.cuda.launch import Product, Step

BANDWIDTH = 0.8  # share of the bandwidth that a well-written kernel reaches
MATRIX_RATE = 0.6  # share of the rate of products that cuBLAS reaches with large tiles on tensor cores
FLOAT_RATE = 0.8  # the same in float32, which needs no tensor cores
KERNEL_RATE = 0.3  # the same, of products inside a kernel of one's own: mma.sync, among other work
LAUNCH = 2e-6  # seconds between the end of one kernel of a graph and the start of the next
HOST_LAUNCH = 8e-6  # seconds that Python and CuPy need to launch one kernel without a graph

# Rows and columns of a tile, and the share of these rates that it allows: a smaller one reads more.
_TILES = (((256, 128), 1.0), ((128, 128), 1.0), ((128, 64), 0.8), ((64, 64), 0.6))
_SHORTEST_PART = 256  # of rows that are cut into parts
_SUM_BYTES = 4  # a partial result is float32


@dataclass(frozen=True)
class Matrices:
    """`count` products, each of (rows, inner) by (inner, columns)."""

    rows: int
    columns: int
    inner: int
    count: int = 1

    @property
    def multiply_adds(self) -> int:
        """How many multiplications, each with an addition."""
        return self.count * self.rows * self.columns * self.inner


@dataclass(frozen=True)
class Work:
    """What a kernel or a product does: the bytes it moves, its multiply-adds, and what it is cut into.

    blocks is how many a kernel has; None stands for more than any card has multiprocessors.
    """

    bytes_moved: int
    multiply_adds: int = 0
    matrices: Matrices | None = None
    blocks: int | None = None


@dataclass(frozen=True)
class Price:
    """The predicted seconds of one launch, its launching included, and what bounds it.

    bound is memory, arithmetic or launch, whichever takes longest. roofline is what the data sheet's figures
    alone would take, without any of the assumptions.
    """

    seconds: float
    bound: str
    roofline: float


def work_of(step: Step) -> Work:
    """The work of one step of a plan."""
    if isinstance(step, Product):
        rows, inner, columns = step.sizes
        return Work(step.bytes_moved, step.multiply_adds, Matrices(rows, columns, inner, step.count))
    return Work(step.bytes_moved, step.multiply_adds, blocks=prod(step.grid))


def price(work: Work, card: Card, precision: str) -> Price:
    """What the work costs on a card; precision, fp32, tf32 or bf16, is that of products."""
    moving = work.bytes_moved / card.bandwidth
    if not work.matrices and precision == "tf32":
        precision = "fp32"  # kernels multiply float32 exactly
    rate = card.rate(precision)
    roofline = max(moving, work.multiply_adds / rate)
    if work.matrices:
        share = FLOAT_RATE if precision == "fp32" else MATRIX_RATE
        moving, computing, launches = _product(work, card, rate * share)
    else:
        busy = 1.0 if work.blocks is None else min(1.0, work.blocks / card.multiprocessors)
        moving /= BANDWIDTH * busy
        computing, launches = work.multiply_adds / (rate * KERNEL_RATE * busy), 1
    longest = max(moving, computing)
    bounds = {"memory": moving, "arithmetic": computing, "launch": launches * LAUNCH}
    return Price(longest + launches * LAUNCH, max(bounds, key=bounds.get), roofline)


def _product(work: Work, card: Card, rate: float) -> tuple[float, float, int]:
    """Seconds of moving and of computing, and the number of launches, with the best tiles and parts.

    rate is what large tiles reach.
    """
    return min(
        (
            _tiled(work, card, rate, tile, share, parts)
            for tile, share in _TILES
            for parts in _cuts(work.matrices)
        ),
        key=lambda found: max(found[:2]) + found[2] * LAUNCH,
    )


def _cuts(matrices: Matrices) -> list[int]:
    """Into how many parts the rows can be cut: 1, 2, 4 and so on."""
    cuts = [1]
    while matrices.inner >= 2 * cuts[-1] * _SHORTEST_PART:
        cuts.append(2 * cuts[-1])
    return cuts


def _tiled(
    work: Work, card: Card, rate: float, tile: tuple[int, int], share: float, parts: int
) -> tuple[float, float, int]:
    """The same for one choice."""
    m = work.matrices
    tiles = parts * m.count * ceil(m.rows / tile[0]) * ceil(m.columns / tile[1])
    waves = ceil(tiles / card.multiprocessors)
    of_one = prod(tile) * ceil(m.inner / parts) * card.multiprocessors / (rate * share)
    results = 2 * parts * _SUM_BYTES * m.count * m.rows * m.columns if parts > 1 else 0
    busy = min(1.0, tiles / card.multiprocessors)
    moving = (work.bytes_moved + results) / (card.bandwidth * BANDWIDTH * busy)
    return moving, waves * of_one, 1 if parts == 1 else 2
