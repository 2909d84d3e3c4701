"""A running average of the weights, to be used in place of the last ones (Polyak and Juditsky 1992).

After update number t, counted from 1, with w the weights and d the chosen decay, such as 0.999:

    d_t = min(d, (1 + t) / (10 + t))                                                       (1)
    average <- average + (1 - d_t) (w - average)                                           (2)

Every update also moves the weights in a direction that only its own batch asked for. Those moves differ from
batch to batch and cancel in the average, which reaches back about 1 / (1 - d) updates. A learning rate that
falls to zero does the same at the end of training; the average does it at any time.

A weight that is frozen is its own average, to the last bit.

With d_t = d from the start, the random first weights would still be a third of the average after 1 / (1 - d)
updates. With (1), as in TensorFlow's ExponentialMovingAverage, it reaches back over a ninth of the updates so
far until that is more than d asks for.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from tinyvit.model.params import Params
from tinyvit.optim.spread import chunks


class Average:
    """The running average `flat` of some parameters, one number for each; decay is above 0 and below 1."""

    def __init__(self, params: Params, decay: float):
        self.params, self.decay = params, decay
        self.flat = params.flat.copy()

    def update(self, step: int) -> None:
        """Let the parameters after update number `step`, counted from 1, into the average."""
        decay = min(self.decay, (1 + step) / (10 + step))  #                                 eq. 1
        for part in chunks(self.flat):
            self.flat[part] += (1 - decay) * (self.params.flat[part] - self.flat[part])  #   eq. 2


@contextmanager
def averaged(average: Average | None) -> Iterator[None]:
    """Within this context, the parameters have the values of their average; None changes nothing."""
    if average is None:
        yield
        return
    own = average.params.flat.copy()
    average.params.flat[...] = average.flat
    try:
        yield
    finally:
        average.params.flat[...] = own
