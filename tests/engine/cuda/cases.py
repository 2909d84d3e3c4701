"""Strategies for tests of kernels: dtypes, widths and values, and the names of the instances for these."""

from hypothesis import strategies as st

from tests.engine.cuda.run import rounded

C_TYPES = {"float32": "float", "bfloat16": "__nv_bfloat16"}
LONGEST = {"float32": 4, "bfloat16": 8}  # numbers in 16 bytes


def storage():
    """The dtypes that activations are stored in."""
    return st.sampled_from(list(C_TYPES))


def widths(largest):
    """Widths that are cut into vectors of 16 bytes, and odd ones, which cannot be cut into vectors."""
    return st.one_of(
        st.integers(1, largest // 8).map(lambda n: 8 * n),
        st.integers(0, largest // 2 - 1).map(lambda n: 2 * n + 1),
    )


def instances(*kernels):
    """The names of these kernels for both dtypes, with the vectors of the widths above."""
    return tuple(
        f"{kernel}<{C_TYPES[dtype]}, {vector}>"
        for kernel in kernels
        for dtype, longest in LONGEST.items()
        for vector in (longest, 1)
    )


def normal(rng, dtype, *shape):
    """Random numbers of this shape, as they are after being stored as dtype: float32."""
    return rounded(rng.standard_normal(shape), dtype)
