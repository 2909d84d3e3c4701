"""On a GPU, reading a number waits for the device. A step never does; nor does float64 come in."""

import numpy as np
import pytest

from tests.stand_in import DeviceArray
from tinyvit.data import crop_and_flip, draw_augmentation, normalise
from tinyvit.engine import ReferenceEngine
from tinyvit.model import ViTConfig, initialise
from tinyvit.ops import Noise
from tinyvit.optim import clip_norm, make_optimizer


@pytest.mark.parametrize("optimizer", ["adamw", "adam", "sgd"])
@pytest.mark.parametrize("pool", ["token", "mean"])
@pytest.mark.parametrize("gelu", ["tanh", "exact"])
def test_a_step_neither_waits_nor_turns_to_float64(stand_in, optimizer, pool, gelu):
    config = ViTConfig(
        8, 4, 12, 16, 2, 2, 3, pool=pool, gelu=gelu, dropout=0.1, attention_dropout=0.1, drop_path=0.2
    )
    params = initialise(config).to(stand_in.xp)
    grads, stepper = params.zeros_like(), make_optimizer(optimizer, params, weight_decay=0.05)
    rng, asarray = np.random.default_rng(0), stand_in.xp.asarray
    pixels = asarray(rng.integers(0, 256, (6, 8, 8, 3), dtype=np.uint8))
    labels = asarray(rng.integers(0, 3, 4))

    before = DeviceArray.waits
    images = normalise(
        crop_and_flip(pixels, np.arange(4), *draw_augmentation(rng, 4, 1)), np.dtype("float32")
    )
    loss = ReferenceEngine(config, smoothing=0.1).loss_and_grads(params, images, labels, grads, Noise(0, 1))
    norm = clip_norm(grads, 1.0)
    stepper.step(grads, 1e-3, 1)
    assert DeviceArray.waits == before

    arrays = {"images": images, "loss": loss, "norm": norm, "grads": grads.flat, "params": params.flat}
    assert {name: array.dtype for name, array in (arrays | stepper.state).items()} == dict.fromkeys(
        [*arrays, *stepper.state], np.dtype("float32")
    )
