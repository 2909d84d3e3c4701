"""The launches of kernels/muon.cu: what Muon does besides products, to all matrices of one shape at once.

A part of the flat buffer holds nothing but hidden matrices, and a table says where each of them lies: see
Matrices. Stacks (n, A, B), A <= B, are what products are given: tall matrices lie in them transposed.
"""

from dataclasses import dataclass

from tinyvit.engine.cuda.calls.signature import THREADS, blocks, launch
from tinyvit.engine.cuda.launch import Buffer, Launch
from tinyvit.optim.muon import LEAST_NORM, POLYNOMIAL

_EACH = 16  # numbers for each thread


@dataclass(frozen=True)
class Matrices:
    """n matrices (A, B), A <= B, in a part of the flat buffer.

    places int32 (n, 3): where the first number of each lies in the part, and how far from it the next row
    and the next column are. Of a tall matrix, rows are what is stored as columns.
    """

    places: Buffer
    A: int
    B: int

    @property
    def count(self) -> int:
        """n."""
        return self.places.shape[0]

    @property
    def chunks(self) -> int:
        """Number of blocks that share a matrix."""
        return blocks(self.A * self.B, _EACH * THREADS)

    @property
    def nbytes(self) -> int:
        """The bytes of all matrices, in float32."""
        return 4 * self.count * self.A * self.B


def momentum(
    matrices: Matrices,
    params: Buffer,
    grads: Buffer,
    m: Buffer,
    directions: Buffer,
    controls: Buffer,
    partials: Buffer,
    mu: float,
    weight_decay: float,
) -> Launch:
    """Equations 1 to 3 of optim/muon.py, and parts of the sum of squares of every direction.

    params, grads, m and directions are flat and equally long: the part. partials is (n, chunks).
    """
    return _launch(
        "momentum",
        matrices,
        (params, grads, m, directions, controls, matrices.places, partials),
        (mu, 1 - mu, weight_decay),
        in_place=(params, m),
        moved=6 * matrices.nbytes + 8 + partials.nbytes,
    )


def normalise(matrices: Matrices, directions: Buffer, partials: Buffer, x: Buffer) -> Launch:
    """The stack x (n, A, B) of all directions, each divided by its length."""
    return _launch(
        f"normalise<{x.c_type}>",
        matrices,
        (directions, matrices.places, partials, x),
        (LEAST_NORM,),
        moved=matrices.nbytes + partials.nbytes + x.nbytes,
    )


def polynomial(gram: Buffer, factor: Buffer) -> Launch:
    """a I + b X X^T + c (X X^T)^2, of gram and its square (n, A, A), in place of the square."""
    args = gram, factor, gram.shape[1], gram.size, *POLYNOMIAL
    return launch(f"polynomial<{gram.c_type}>", blocks(gram.size), args, in_place=(factor,))


def move(matrices: Matrices, x: Buffer, params: Buffer, controls: Buffer, scale: float) -> Launch:
    """Equation 4: each matrix minus lr times the scale times its direction, of the stack x (n, A, B)."""
    return _launch(
        f"move<{x.c_type}>",
        matrices,
        (x, params, controls, matrices.places),
        (scale,),
        in_place=(params,),
        moved=x.nbytes + 2 * matrices.nbytes + 4,
    )


def _launch(
    function: str,
    matrices: Matrices,
    buffers: tuple[Buffer, ...],
    numbers: tuple[float, ...],
    moved: int,
    in_place: tuple[Buffer, ...] = (),
) -> Launch:
    """A kernel on all matrices, given buffers, sizes and numbers; moved is without the places."""
    grid, args = (matrices.chunks, matrices.count), (*buffers, matrices.A, matrices.B, *numbers)
    return launch(function, grid, args, in_place=in_place, moved=moved + matrices.places.nbytes)
