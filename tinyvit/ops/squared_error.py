"""Mean squared error, forward and backward.

For predictions y and targets t, of n numbers each:

    loss = (1/n) sum_i (y_i - t_i)^2                                                       (1)
    dy = (2/n) (y - t)                                                                     (2)

As with cross-entropy, the gradient is the prediction minus the target.
"""

from tinyvit.backend import Array


def squared_error(y: Array, targets: Array) -> tuple[Array, Array]:
    """The mean loss of predictions and targets of the same shape, an array without axes, and the cache."""
    if y.shape != targets.shape:
        raise ValueError(f"targets have shape {targets.shape}, expected {y.shape}")
    error = y - targets
    return (error * error).mean(), error  #                                                  eq. 1


def squared_error_backward(cache: Array) -> Array:
    """Gradient of squared_error: dy, with the shape of the predictions."""
    return cache * (2 / cache.size)  #                                                       eq. 2
