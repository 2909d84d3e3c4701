"""The launch of kernels/rotary.cu: queries and keys turn with their positions, and their gradients back."""

from tinyvit.engine.cuda.calls.signature import WARP, blocks, launch, vector_width
from tinyvit.engine.cuda.launch import Buffer, Launch

_HEIGHT = 8  # rows that a block has in hand at a time
_MOST_BLOCKS = 512  # one above the other: few enough for their sums to be added quickly


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
        "rotary",
        f"rotate<{qkv.c_type}, {V}, {str(pairs).lower()}>",
        (blocks(columns, 2 * V * WARP), rotary_partials(B * N)),
        (WARP, _HEIGHT),
        (qkv, bias, *tables, partials, B * N, N, heads, width // 3 // heads, N - T),
        in_place=(qkv,),
        moved=2 * qkv.nbytes // width * columns + 2 * tables[0].nbytes + other.nbytes,
    )


def rotary_partials(rows: int) -> int:
    """P, how many blocks one above the other share so many rows: each leaves a row of partial sums."""
    return min(blocks(rows, _HEIGHT), _MOST_BLOCKS)
