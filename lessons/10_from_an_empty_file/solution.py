"""One way to write it: tinyvit/in_one_file.py, which needs NumPy alone and keeps to the specification."""

from tinyvit.in_one_file import forward, init, loss_and_grads, predict, train, update

__all__ = ["forward", "init", "loss_and_grads", "predict", "train", "update"]
