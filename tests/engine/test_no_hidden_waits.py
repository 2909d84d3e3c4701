"""On a GPU, reading a number waits for the device. A step never does, which can be seen without a GPU.

The arrays here are NumPy's, but refuse to become a Python number: a stand-in for arrays that live elsewhere.
"""

import numpy as np
import pytest

from tinyvit.data import crop_and_flip, draw_augmentation, normalise
from tinyvit.engine import ReferenceEngine
from tinyvit.model import Params, ViTConfig, initialise
from tinyvit.ops import Noise
from tinyvit.optim import clip_norm, make_optimizer


class Elsewhere(np.ndarray):
    """An array whose numbers may not be looked at; everything computed from it is one as well."""

    def _refuse(self, *_):
        raise AssertionError("the host waits here for a number")

    __float__ = __int__ = __bool__ = __index__ = __complex__ = item = tolist = _refuse


def test_the_stand_in_notices_a_wait():
    total = np.ones(3, np.float32).view(Elsewhere).sum()
    for look in (float, bool, int):
        with pytest.raises(AssertionError, match="waits"):
            look(total)


@pytest.mark.parametrize("optimizer", ["adamw", "adam", "sgd"])
@pytest.mark.parametrize("pool", ["token", "mean"])
@pytest.mark.parametrize("gelu", ["tanh", "exact"])
def test_a_step_neither_waits_nor_turns_to_float64(optimizer, pool, gelu):
    config = ViTConfig(
        8, 4, 12, 16, 2, 2, 3, pool=pool, gelu=gelu, dropout=0.1, attention_dropout=0.1, drop_path=0.2
    )
    host = initialise(config)
    params = Params(host.flat.view(Elsewhere), host.shapes)
    grads, stepper = params.zeros_like(), make_optimizer(optimizer, params, weight_decay=0.05)
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (6, 8, 8, 3), dtype=np.uint8).view(Elsewhere)
    labels = rng.integers(0, 3, 4).view(Elsewhere)

    images = normalise(
        crop_and_flip(pixels, np.arange(4), *draw_augmentation(rng, 4, 1)), np.dtype("float32")
    )
    loss = ReferenceEngine(config, smoothing=0.1).loss_and_grads(params, images, labels, grads, Noise(0, 1))
    norm = clip_norm(grads, 1.0)
    stepper.step(grads, 1e-3, 1)

    arrays = {"images": images, "loss": loss, "norm": norm, "grads": grads.flat, "params": params.flat}
    assert {name: array.dtype for name, array in (arrays | stepper.state).items()} == dict.fromkeys(
        [*arrays, *stepper.state], np.dtype("float32")
    )
