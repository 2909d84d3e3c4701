"""Lesson 27: between the products. Fill in the functions, then run: pytest lessons/27_fast_cpu"""

import math  # noqa: F401 - you will want it

import numpy as np  # noqa: F401 - and it

from tinyvit.checking import check_gradients  # noqa: F401 - the tool of lesson 2, for trust_folding


def fold(gain, offset, weight, bias):
    """Merge a LayerNorm's gain and offset (D,) with the linear layer after it, weight (D, O) and bias (O,).

    Return W' (D, O) and c' (O,), new arrays of the same dtype, with which n @ W' + c' is
    (n * gain + offset) @ weight + bias for any n (R, D).
    """
    raise NotImplementedError("write fold: multiply out the bracket")


def unfold_gradients(dfolded_weight, dfolded_bias, gain, offset, weight):
    """The gradients of what was folded, from those of W' (D, O) and c' (O,).

    gain, offset (D,) and weight (D, O) are those that fold was given. Return dgain (D,), doffset (D,),
    dweight (D, O) and dbias (O,), new arrays of the same dtype.
    """
    raise NotImplementedError("write unfold_gradients: into which numbers of W' and c' does each one go?")


def gelu_and_slope(h):
    """GELU of h (R, M), tanh form, and its slope: return the value, a new array, and write the slope into h.

    Works on a few rows at a time: besides the result, never more than 1 MiB in arrays of its own, or six
    arrays as long as a row if these take more. So use out= and *= as in lesson 25. No NaN for numbers up to
    10,000; a warning is harmless.
    """
    raise NotImplementedError("write gelu_and_slope: all passes over a few rows, then the next few rows")


def trust_folding(fold, unfold_gradients):
    """Whether a fold and its unfold_gradients, as described above, may be trusted: True or False."""
    raise NotImplementedError("write trust_folding: compare with what was folded, its values and gradients")


# The puzzle: attention has more to fold. The formulas are yours to find.


def fold_attention(qkv_weight, qkv_bias, out_weight, out_bias, heads):
    """Parameters with which attention needs no 1/sqrt(K), and no biases of keys and values.

    qkv_weight (D, 3D) and qkv_bias (3D,), columns ordered (q k v, head, K); out_weight (D, D), out_bias (D,);
    K = D / heads. Return the four of them anew, in the same order. The last 2D numbers of the new qkv_bias
    are 0. Attention that takes the softmax of q k^T itself then has the outputs that it had before.
    """
    raise NotImplementedError("write fold_attention: what does each of the three biases do to the output?")
