"""The shapes of launches: how many numbers a thread moves at once, and how many blocks there are."""

from tinyvit.engine.cuda.launch import ITEM_BYTES, Buffer

WARP = 32  # threads
THREADS = 256  # in a block, where nothing else speaks for another number
MULTIPROCESSORS = 132  # of an H100 or H200, for plans that are made without a card


def vector_widths(length: int, largest: int, *buffers: Buffer | None) -> list[int]:
    """The numbers of neighbours, powers of two up to `largest`, that rows of this length can be cut into.

    A vector must lie at a multiple of its own size, so it has to divide the rows' length and the start of
    every buffer in its array. (Arrays themselves begin at a multiple of 16 bytes at least.)
    """
    starts = [buffer.start for buffer in buffers if buffer is not None]
    widths = [1]
    while 2 * widths[-1] <= largest and not any(n % (2 * widths[-1]) for n in (length, *starts)):
        widths.append(2 * widths[-1])
    return widths


def vector_width(width: int, first: Buffer, *others: Buffer | None) -> int:
    """How many neighbours in rows of this width a thread moves at once: at most 16 bytes of the first buffer.

    They divide the width and the place where each buffer starts. A buffer that is None does not matter.
    """
    return vector_widths(width, 16 // ITEM_BYTES[first.dtype], first, *others)[-1]


def blocks(count: int, threads: int = THREADS) -> int:
    """How many blocks of that many threads have at least `count` threads together."""
    return -(-count // threads)


def chunks(rows: int, most: int) -> tuple[int, int]:
    """(number of chunks, rows of a chunk): at most so many chunks; only the last can be short."""
    size = blocks(rows, most)
    return blocks(rows, size), size
