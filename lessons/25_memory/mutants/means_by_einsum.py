"""einsum over the last axis: right, but a loop of NumPy's own and not BLAS."""

import importlib

import numpy as np

solution = importlib.import_module("lessons.25_memory.solution")
gelu_tanh = solution.gelu_tanh
adam_in_pieces, trust_in_place = solution.adam_in_pieces, solution.trust_in_place


def row_means(x):
    return (np.einsum("...d->...", x) / x.dtype.type(x.shape[-1]))[..., None]
