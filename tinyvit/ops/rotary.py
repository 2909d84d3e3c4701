"""Rotary positions (Su et al. 2021, *RoFormer*), forward and backward.

A position is not added to a token: its query and key are turned by it. A head's K numbers are K/2 points
(x1, x2) in the plane. For a patch at one place, point n is turned by the angle a_n of that place:

    y1 = x1 cos a - x2 sin a        y2 = x2 cos a + x1 sin a                               (1)

Turning q and k by the same angle leaves q . k as it is. So a score depends only on the difference of their
angles: on where a key lies as seen from its query. In an image, half of the points turn with the row of a
patch and half with its column (see model.later.rotary). Class tokens and registers, which lie nowhere, do
not turn.

Backward. The gradient is turned back, by -a, and that of an angle, where angles are learned, follows from
dy1/da = -y2 and dy2/da = y1:

    dx1 = dy1 cos a + dy2 sin a     dx2 = dy2 cos a - dy1 sin a                            (2)
    da = sum of dy2 y1 - dy1 y2 over all that are turned by it                             (3)
"""

from typing import NamedTuple

from tinyvit.backend import Array


class Turn(NamedTuple):
    """By which angles the last T tokens are turned: cosines and sines, (T, K/2), or (H, T, K/2) by head.

    If pairs, a point is a pair of neighbours (x_0, x_1), (x_2, x_3) and so on; if not, its x1 is in the first
    half of a head's numbers and its x2 in the second.
    """

    cos: Array
    sin: Array
    pairs: bool

    @property
    def back(self) -> "Turn":
        """By the opposite angles."""
        return self._replace(sin=-self.sin)

    @property
    def tokens(self) -> int:
        """T: how many tokens are turned."""
        return self.cos.shape[-2]

    def points(self, x: Array) -> tuple[Array, Array]:
        """x1 and x2 of x (..., K), views."""
        K = x.shape[-1]
        return (x[..., ::2], x[..., 1::2]) if self.pairs else (x[..., : K // 2], x[..., K // 2 :])


def rotary(x: Array, turn: Turn) -> tuple[Array, tuple]:
    """Turn the last T of the tokens x (B, H, N, K); returns y, of the same shape, and the cache."""
    y = x.copy()
    x1, x2 = turn.points(x[:, :, -turn.tokens :])
    y1, y2 = turn.points(y[:, :, -turn.tokens :])
    y1[...] = x1 * turn.cos - x2 * turn.sin  #                                               eq. 1
    y2[...] = x2 * turn.cos + x1 * turn.sin
    return y, (y, turn)


def rotary_backward(dy: Array, cache: tuple) -> tuple[Array, Array]:
    """Gradients of rotary: dx, and of the angles, dangles (H, T, K/2)."""
    y, turn = cache
    y1, y2 = turn.points(y[:, :, -turn.tokens :])
    dy1, dy2 = turn.points(dy[:, :, -turn.tokens :])
    dangles = (dy2 * y1 - dy1 * y2).sum(axis=0)  #                                           eq. 3
    return rotary(dy, turn.back)[0], dangles  #                                                   eq. 2
