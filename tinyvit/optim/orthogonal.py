"""The nearest matrix whose singular values are all 1, by five products of a polynomial (Newton-Schulz).

Let G (A, B) be the gradient of a matrix, U S V^T its singular value decomposition. A change by -X lowers the
loss by <G, X>, the sum of all products of entries, to first order. How large may X be? A token x is moved by
x X, at most by |x| |X|, where |X| is the spectral norm, the largest singular value. Of all X with |X| <= 1,

    <G, X> = sum_i S_i u_i^T X v_i <= sum_i S_i      with equality for X = U V^T                         (1)

so U V^T is the direction of steepest descent if the size of a change is how far it can move a token
(Bernstein and Newhouse 2024, *Old optimizer, new norm*). It is G with every singular value replaced by 1: a
direction that few images ask for is followed as far as one that all ask for.

A decomposition is slow; products are not. An odd polynomial of a matrix acts on its singular values alone:

    X X^T X = U S^3 V^T,  so  a X + (b X X^T + c (X X^T)^2) X = U (a S + b S^3 + c S^5) V^T               (2)

Start from X = G / |G|_F: no singular value is above 1. With a, b, c = 3.4445, -4.7750, 2.0315 (Jordan 2024,
*Muon*), a small one becomes 3.4 times as large in each step, and five steps bring all that were above 0.0015
to between 0.68 and 1.21. They never converge to 1: that is the price of growing so fast, and training does
not mind. X X^T (A, A) is the smaller the fewer rows there are, so a tall matrix is transposed first.
"""

from tinyvit.backend import Array, array_module

STEPS = 5
POLYNOMIAL = _A, _B, _C = 3.4445, -4.7750, 2.0315
LEAST_NORM = 1e-7  # a matrix of zeros stays one


def orthogonalise(matrices: Array, steps: int = STEPS) -> Array:
    """A stack (n, A, B) of matrices, the singular values of each brought close to 1; the same dtype.

    A matrix of rank r keeps its rank: its zero singular values stay 0.
    """
    xp = array_module(matrices)
    is_tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.swapaxes(1, 2) if is_tall else matrices  # (n, A, B) with A <= B
    norm = xp.sqrt((x * x).sum(axis=(1, 2), keepdims=True))  # (n, 1, 1)
    x = x / xp.maximum(norm, LEAST_NORM)
    for _ in range(steps):  # eq. 2
        gram = x @ x.swapaxes(1, 2)  # (n, A, A)
        factor = gram @ gram
        factor *= _C
        gram *= _B
        factor += gram
        change = factor @ x
        x *= _A
        x += change
    return x.swapaxes(1, 2) if is_tall else x
