"""On a GPU, reading a number waits for the device. A step never does; nor does float64 come in."""

from functools import partial

import numpy as np
import pytest

from tests.stand_in import DeviceArray
from tinyvit.data import plan_batch
from tinyvit.engine import Training, make_engine
from tinyvit.model import ViTConfig, initialise
from tinyvit.objectives import loss_and_grads
from tinyvit.optim import make_optimizer

NOISY = {"dropout": 0.1, "attention_dropout": 0.1, "drop_path": 0.2}


@pytest.mark.parametrize("optimizer", ["adamw", "adam", "sgd", "muon"])
@pytest.mark.parametrize("pool", ["token", "mean"])
@pytest.mark.parametrize("gelu", ["tanh", "exact"])
@pytest.mark.parametrize("image_size", [8, 12])
def test_a_step_neither_waits_nor_turns_to_float64(stand_in, optimizer, pool, gelu, image_size):
    """Images of 8 x 8 pixels, for a model of that size or a larger one."""
    config = ViTConfig(image_size, 4, 12, 16, 2, 2, 3, pool=pool, gelu=gelu, **NOISY)
    params = initialise(config).to(stand_in.xp)
    stepper = make_optimizer(optimizer, params, weight_decay=0.05)
    rng, asarray = np.random.default_rng(0), stand_in.xp.asarray
    pixels = asarray(rng.integers(0, 256, (6, 8, 8, 3), dtype=np.uint8))
    training = Training(pixels, asarray(rng.integers(0, 3, 6)), stepper, clip=1.0, accumulate=2)
    engine = make_engine(config, params, partial(loss_and_grads, smoothing=0.1), training)

    before = DeviceArray.waits
    mixes = {"mixup": 1.0, "cutmix": 1.0, "erase": 1.0}
    plans = [plan_batch(0, step, np.arange(4), 1, True, **mixes) for step in (1, 2)]
    results = [engine.step(plan, 1e-3) for plan in plans]
    assert DeviceArray.waits == before

    (_, (loss, norm)) = results
    arrays = {"loss": loss, "norm": norm, "grads": engine.grads.flat, "params": params.flat}
    assert {name: array.dtype for name, array in (arrays | stepper.state).items()} == dict.fromkeys(
        [*arrays, *stepper.state], np.dtype("float32")
    )
