"""A Transformer block made of lists of stages: the branches of model.block, as parts have edited them.

    x' = x  + attention branch(x)                                                          (1)
    y  = x' + MLP branch(x')                                                               (2)

Backward, in each: dx = dy + (gradient of the branch at dy). If only the first R tokens are needed after the
block, the attention branch returns these alone, and (1) adds them to the first R tokens of x.
"""

from tinyvit.backend import Array
from tinyvit.model.later.part import Stages
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage, backward_through, forward_through


def later_block(name: str, tokens: int | None, before: Stages, attention: Stages, mlp: Stages) -> Stage:
    """The block with these lists of stages: x (B, N, D) to y (B, R, D). R is tokens, or N if that is None."""

    def forward(params: Params, x: Array) -> tuple[Array, tuple]:
        x, of_before = forward_through(before, params, x)
        a, of_attention = forward_through(attention, params, x)
        x = x[:, :tokens] + a  # (B, R, D)                                                   eq. 1
        m, of_mlp = forward_through(mlp, params, x)
        # The second entry is that of attention in every block's cache: see model.attention_maps.
        return x + m, (of_before, of_attention[1], of_attention, of_mlp)  #                  eq. 2

    def backward(dy: Array, cache: tuple, grads: Params) -> Array:
        of_before, _, of_attention, of_mlp = cache
        dx = backward_through(mlp, dy, of_mlp, grads)
        dx += dy  # (B, R, D)
        dall = backward_through(attention, dx, of_attention, grads)  # (B, N, D)
        dall[:, : dx.shape[1]] += dx
        return backward_through(before, dall, of_before, grads)

    return Stage(name, forward, backward)
