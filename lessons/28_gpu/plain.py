"""The training step that trust_graph is about, in plain NumPy: a linear model, clipping, momentum.

loss = mean((x w - t)^2) / 2        g = x^T (x w - t) / B        clipped to norm 1
m <- 0.9 m + 0.1 g                  w <- w - rate m / (1 - 0.9^n)     in step n = 1, 2, ...
"""

import numpy as np

BETA, LARGEST = 0.9, 1.0


class Plain:
    """w (D,) and what the optimiser remembers of it."""

    def __init__(self, w):
        self.w, self.m, self.n = np.array(w, dtype=np.float64), np.zeros(len(w)), 0

    def step(self, x, t, rate):
        """One step on x (B, D), t (B,); changes w, and returns the loss before the change."""
        error = x @ self.w - t  # (B,)
        g = x.T @ error / len(t)  # (D,)
        g *= min(1.0, LARGEST / np.linalg.norm(g))
        self.n += 1
        self.m = BETA * self.m + (1 - BETA) * g
        self.w -= rate * self.m / (1 - BETA**self.n)
        return float(np.mean(error**2) / 2)


def loss_and_gradient(w, x, t):
    """The loss () and gradient (D,) of this model on the device, of w (D,), x (B, D), t (B,) there."""
    error = x @ w - t
    return (error**2).mean() / 2, x.T @ error / t.shape[0]
