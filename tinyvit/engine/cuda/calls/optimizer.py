"""The launches of kernels/optimizer.cu: norm of the gradient, clipping, and the update of all parameters.

controls, float32 (8,), holds what changes from step to step. The engine writes three numbers before a step:
0 lr, 1 lr / (1 - b1^t), 2 1 / sqrt(1 - b2^t). `clip` writes 3, the clip factor, and 4, the norm.
"""

from tinyvit.engine.cuda.calls.signature import THREADS, blocks, launch
from tinyvit.engine.cuda.launch import Buffer, Launch

_MOST_SUMS = 512  # blocks of squared_sums
_KINDS = {"adamw": "ADAMW", "adam": "ADAM", "sgd": "SGD"}


def squared_sums(grads: Buffer, partials: Buffer) -> Launch:
    """Parts (P,) of the sum of squares of grads, a flat buffer, for P = square_partials(its size)."""
    _check_starts(grads)
    return launch("squared_sums", square_partials(grads.size), (grads, partials, grads.size))


def square_partials(count: int) -> int:
    """P of squared_sums for that many gradients."""
    return min(blocks(count, 4 * THREADS), _MOST_SUMS)


def clip(partials: Buffer, controls: Buffer, largest: float) -> Launch:
    """The norm of the gradient, and the factor that makes it at most `largest`, infinity for no limit.

    The gradients stay as they are: update multiplies them by the factor.
    """
    parts = {controls.name: (controls.view(3, 2),)}
    return launch("clip", 1, (partials, controls, largest, partials.size), parts=parts)


def update(
    kind: str,
    params: Buffer,
    grads: Buffer,
    m: Buffer,
    v: Buffer | None,
    controls: Buffer,
    decayed: int,
    betas: tuple[float, float],
    eps: float,
    weight_decay: float,
) -> Launch:
    """One update of all parameters, by 'adamw', 'adam' or 'sgd'; all buffers are flat and equally long.

    v is None for sgd, whose momentum is betas[0] and which has no weight decay. The first `decayed`
    parameters are subject to weight decay.
    """
    state = (m,) if v is None else (m, v)
    _check_starts(params, grads, *state)
    if (v is None) != (kind == "sgd"):
        raise ValueError(f"{kind} with{'out' if v is None else ''} v")
    b1, b2 = betas
    numbers = params.size, decayed, b1, 1 - b1, b2, 1 - b2, eps, weight_decay
    return launch(
        f"update<{_KINDS[kind]}>",
        blocks(params.size, 4 * THREADS),
        (params, grads, m, v, controls, *numbers),
        in_place=(params, *state),
        parts={controls.name: (controls.view(0, 4),)},
    )


def to_bf16(x: Buffer, y: Buffer) -> Launch:
    """y = x in bfloat16."""
    _check_starts(x, y)
    return launch("to_bf16", blocks(x.size, 4 * THREADS), (x, y, x.size))


def is_aligned(start: int) -> bool:
    """True if the kernels can read four numbers at once from this place of a flat buffer on."""
    return start % 4 == 0


def _check_starts(*buffers: Buffer) -> None:
    """Raise ValueError unless the kernels can read four numbers at once from the start of these buffers."""
    for buffer in buffers:
        if not is_aligned(buffer.start):
            raise ValueError(f"{buffer} must start at a multiple of 4 numbers")
