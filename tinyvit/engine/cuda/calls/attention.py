"""Launches of attention.cu, attention_backward.cu and rotary.cu: from q, k, v of all heads to o, and back.

The products before and after it (with the weights of qkv and out) are cuBLAS's; q, k and v come without bias.
A block works on one head of one image, with all its keys and values in shared memory, so the number of tokens
is bounded: ask `fits` first. Activations must begin at a multiple of 16 bytes. bfloat16 needs a card with
tensor cores for it, of compute capability 8.0 or more.
"""

from typing import NamedTuple

from tinyvit.engine.cuda.calls.signature import SHARED_LIMIT, WARP, blocks, launch, vector_width
from tinyvit.engine.cuda.launch import ITEM_BYTES, Buffer, Launch

TILE = 16  # rows and columns of a tile, as in kernels/tiles.cuh
MOST_WARPS = 8  # of a block that shares the strips out: the kernels' __launch_bounds__
WIDEST_HEAD = 128  # beyond this, a thread's part of a strip does not stay in registers
_HEIGHT = 8  # rows that a block of rotate has in hand at a time
_MOST_BLOCKS = 512  # of rotate, one above the other: few enough for their sums to be added quickly


class ScoreMask(NamedTuple):
    """Dropout of probabilities: its rate, and where its random numbers come from, none at a rate of 0."""

    rate: float = 0.0
    site: int = 0
    keys: Buffer | None = None

    @property
    def reads(self) -> tuple[Buffer, ...]:
        """The parts of keys that are read: the first image's index and the site's pair."""
        if self.rate == 0:
            return ()
        if self.keys is None:
            raise ValueError(f"dropout at a rate of {self.rate} needs keys for its random numbers")
        return self.keys.view(0, 1), self.keys.view(2 + 2 * self.site, 2)


NO_DROPOUT = ScoreMask()


def attention(
    qkv: Buffer, bias: Buffer, out: Buffer, log_sums: Buffer, mask: ScoreMask = NO_DROPOUT
) -> Launch:
    """o of every head from qkv (B, N, 3D), a product without its bias (3D,) float32.

    Columns of qkv are (q k v, head, K). out (B, Q, D) has the heads side by side, for the first Q tokens;
    log_sums (B, H, Q) float32 is for attention_backward.
    """
    N, K = qkv.shape[1], qkv.shape[2] // 3 // log_sums.shape[1]
    block = _warps(N), forward_shared_bytes(N, K, qkv.dtype)
    function, reads, writes = f"attention<{qkv.c_type}, {K}>", (qkv, bias), (out, log_sums)
    return _launch(function, reads, writes, qkv, log_sums, mask, block, 2)


def attention_backward(
    dout: Buffer,
    out: Buffer,
    qkv: Buffer,
    bias: Buffer,
    log_sums: Buffer,
    dqkv: Buffer,
    partials: Buffer,
    mask: ScoreMask = NO_DROPOUT,
    shared_limit: int = SHARED_LIMIT,
) -> Launch:
    """dqkv (B, N, 3D) from dout (B, Q, D), and from what attention read and wrote.

    partials (B, 3D) float32 gets the sum of dqkv over the tokens of each image: the images' parts of the
    gradient of bias. Where Q < N, the other tokens' dq is zero. If the card's limit of shared memory allows,
    dS is kept there; otherwise S is computed twice.
    """
    N, K = qkv.shape[1], qkv.shape[2] // 3 // log_sums.shape[1]
    reads, writes = (dout, out, qkv, bias, log_sums), (dqkv, partials)
    kept = keeps_scores(N, K, qkv.dtype, shared_limit)
    function = f"attention_backward<{qkv.c_type}, {K}, {str(kept).lower()}>"
    block = (_strips(N) if kept else _warps(N)), backward_shared_bytes(N, K, qkv.dtype, kept)
    return _launch(function, reads, writes, qkv, log_sums, mask, block, 5 if kept else 7)


def rotate(qkv: Buffer, tables: tuple[Buffer, Buffer], other: Buffer, heads: int, pairs: bool) -> Launch:
    """Turn q and k of the last T tokens in qkv (B, N, 3D), in place.

    tables are cos and sin (T, K/2), and pairs is as in ops.rotary.Turn. other is the bias (3D,), which is
    added before. Or it is partials float32 (P, 2D), for P = rotary_partials(B*N): then these are gradients,
    which turn back, and it gets the column sums of those of q and k.
    """
    (B, N, width), (T, half), back = qkv.shape, tables[0].shape, len(other.shape) == 2
    V = vector_width(half, qkv, other)
    columns = width // 3 * 2 if back else width
    bias, partials = (None, other) if back else (other, None)
    return launch(
        f"rotate<{qkv.c_type}, {V}, {str(pairs).lower()}>",
        (blocks(columns, 2 * V * WARP), rotary_partials(B * N)),
        (qkv, bias, *tables, partials, B * N, N, heads, width // 3 // heads, N - T),
        (WARP, _HEIGHT),
        in_place=(qkv,),
        moved=2 * qkv.nbytes // width * columns + 2 * tables[0].nbytes + other.nbytes,
    )


def rotary_partials(rows: int) -> int:
    """P, the number of blocks, one above the other, that share the rows; each leaves a row of sums."""
    return min(blocks(rows, _HEIGHT), _MOST_BLOCKS)


def fits(tokens: int, head_width: int, dtype: str, shared_limit: int) -> bool:
    """True if the kernels can do this shape on a card that allows a block this many bytes of shared memory.

    The limit is the card's attribute MaxSharedMemoryPerBlockOptin: 232,448 for Hopper, 166,912 for A100,
    101,376 for RTX 30 and 40. More than 49,152 must be asked for, kernel by kernel.
    """
    needed = max(
        forward_shared_bytes(tokens, head_width, dtype),
        backward_shared_bytes(tokens, head_width, dtype, kept=False),
    )
    return head_width <= WIDEST_HEAD and needed <= shared_limit


def keeps_scores(tokens: int, head_width: int, dtype: str, shared_limit: int) -> bool:
    """True if attention_backward has room for dS of this shape, and for as many warps as there are strips."""
    most = 20 if head_width <= 64 else 8  # warps: its __launch_bounds__
    needed = backward_shared_bytes(tokens, head_width, dtype, kept=True)
    return _strips(tokens) <= most and needed <= shared_limit


def forward_shared_bytes(tokens: int, head_width: int, dtype: str) -> int:
    """Shared memory of a block of attention: k, v, and for each warp 16 rows of q."""
    rows = 2 * _padded(tokens) + TILE * _warps(tokens)
    return rows * _row_bytes(head_width, dtype) + _scratch_bytes(tokens, dtype)


def backward_shared_bytes(tokens: int, head_width: int, dtype: str, kept: bool) -> int:
    """Shared memory of a block of attention_backward.

    It holds q and dO, or k and v, of all tokens, with log_sums and delta, and for each warp column sums of
    dq, dk and dv. If dS is kept, it holds k, dS and in float32 v as well; if not, 16 rows of a pair for each
    warp.
    """
    padded, width, warps = _padded(tokens), _padded(head_width), _strips(tokens) if kept else _warps(tokens)
    others = padded * 4 * 2 + 4 * warps * 3 * width
    if kept:
        numbers = (4 if dtype == "float32" else 3) * width + max(padded, width)
        return padded * _row_bytes(numbers, dtype) + others
    return (padded + TILE * warps) * _row_bytes(2 * width, dtype) + others + _scratch_bytes(tokens, dtype)


def _launch(
    function: str,
    reads: tuple[Buffer, ...],
    writes: tuple[Buffer, ...],
    qkv: Buffer,
    log_sums: Buffer,
    mask: ScoreMask,
    block: tuple[int, int],
    products: int,
) -> Launch:
    """The launch of a kernel: a block for each head of each image, and products of (Q, K) by (K, N).

    block is its warps and its bytes of shared memory. Its arguments are what it reads, what it writes, sizes
    and the mask. Of q, it reads the queries' rows only.
    """
    (B, N, width), (_, H, Q) = qkv.shape, log_sums.shape
    others = sum(buffer.nbytes for buffer in (*reads, *mask.reads, *writes) if buffer != qkv)
    return launch(
        function,
        (H, B),
        (*reads, *writes, N, Q, *mask),
        WARP * block[0],
        parts={mask.keys.name: mask.reads} if mask.keys else None,
        shared_bytes=block[1],
        moved=B * (Q + 2 * N) * (width // 3) * ITEM_BYTES[qkv.dtype] + others,
        multiply_adds=B * H * products * _padded(Q) * _padded(N) * _padded(width // 3 // H),
    )


def _padded(n: int) -> int:
    """n rounded up to whole tiles."""
    return -(-n // TILE) * TILE


def _strips(tokens: int) -> int:
    """Number of strips of 16 tokens."""
    return _padded(tokens) // TILE


def _warps(tokens: int) -> int:
    """Number of warps that share the strips: at most 8, and such that all have about as many."""
    rounds = -(-_strips(tokens) // MOST_WARPS)
    return -(-_strips(tokens) // rounds)


def _row_bytes(head_width: int, dtype: str) -> int:
    """A row in shared memory: whole tiles, and 16 bytes that put rows into different banks."""
    return _padded(head_width) * ITEM_BYTES[dtype] + 16


def _scratch_bytes(tokens: int, dtype: str) -> int:
    """The float kernels' tile for each warp, in which a sum becomes a factor of the next product."""
    return _warps(tokens) * TILE * (TILE + 4) * 4 if dtype == "float32" else 0
