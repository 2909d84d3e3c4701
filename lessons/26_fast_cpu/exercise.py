"""Lesson 26: a fast CPU. Fill in the functions, then run: pytest lessons/26_fast_cpu"""

import math  # noqa: F401 - you will want it
from concurrent.futures import ThreadPoolExecutor  # noqa: F401 - and it

import numpy as np  # noqa: F401 - and it

from tinyvit import objectives  # noqa: F401 - and objectives.loss_and_grads
from tinyvit.gradcheck import random_params  # noqa: F401 - for trust_gradients: parameters that are not 0 or 1
from tinyvit.model import ViTConfig  # noqa: F401 - and this: ViTConfig(8, 4, 6, 7, 2, 1, classes=3) is small


def gradients_on_threads(config, params, images, labels, pieces, threads):
    """Loss and gradients of a batch, cut into pieces, on threads; the same bits in every call.

    images (B, H, W, 3), labels (B,). pieces, at most B, says into how many parts the batch is cut; their
    sizes differ by one image at most. `threads` of them are worked on at a time.
    There is one table of gradients for each thread. Return the loss of the whole batch, and its gradients: a
    table like params.zeros_like().
    """
    raise NotImplementedError(
        "write gradients_on_threads: equation 1, with a table of its own for each thread"
    )


def trust_gradients(gradients):
    """True if gradients(config, params, images, labels, pieces, threads) does what is asked, otherwise False.

    It returns (loss, table) as gradients_on_threads does. It may be trusted if both are those of the whole
    batch, for every number of pieces and threads; if the same call gives the same bits; and if no call
    changes what it was given or what an earlier call returned.
    """
    raise NotImplementedError("write trust_gradients: compare with the whole batch, and with a second call")


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


# The puzzle: attention has more to fold. The formulas are yours to find.


def fold_attention(qkv_weight, qkv_bias, out_weight, out_bias, heads):
    """Parameters with which attention needs no 1/sqrt(K), and no biases of keys and values.

    qkv_weight (D, 3D) and qkv_bias (3D,), columns ordered (q k v, head, K); out_weight (D, D), out_bias (D,);
    K = D / heads. Return the four of them anew, in the same order. The last 2D numbers of the new qkv_bias
    are 0. Attention that takes the softmax of q k^T itself then has the outputs that it had before.
    """
    raise NotImplementedError("write fold_attention: what does each of the three biases do to the output?")
