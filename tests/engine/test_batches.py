"""Few enough images are taken at a time for large models to fit in a modest memory."""

from dataclasses import replace

import numpy as np
import pytest

from tests.helpers import tiny_config
from tinyvit import engine as engines
from tinyvit.engine import ReferenceEngine, images_at_a_time, in_batches
from tinyvit.gradcheck import random_params
from tinyvit.model import preset
from tinyvit.model.cost import activation_bytes


def test_a_large_model_gets_fewer_images_at_a_time():
    small, large = preset("nano/4", 32, 10), preset("B/16", 384, 1000)
    assert images_at_a_time(small) == 500
    assert images_at_a_time(preset("nano/32", 384, 2)) == 56  # whose images are large, and little else
    count = images_at_a_time(large)
    assert 1 < count < 50
    assert count * activation_bytes(large) <= 2e9


def test_the_largest_gets_one():
    assert images_at_a_time(replace(preset("H/14", 224, 1000), image_size=(2240, 2240))) == 1


@pytest.mark.parametrize("at_a_time", [1, 3, 7, 500])
def test_results_do_not_depend_on_how_many_images_are_taken_at_a_time(monkeypatch, at_a_time):
    monkeypatch.setattr(engines, "_MOST_IMAGES", at_a_time)
    rng, config = np.random.default_rng(0), tiny_config(image_size=8)
    params = random_params(config, rng)
    images, shifts = rng.integers(0, 256, (7, 10, 12, 3), dtype=np.uint8), rng.normal(size=7)
    engine = ReferenceEngine(config, params)
    compute = lambda batch, shift: engine.logits(batch) + shift[:, None]
    found = in_batches(compute, config, params, images, shifts)
    whole = in_batches(engine.logits, config, params, images) + shifts[:, None]
    np.testing.assert_allclose(found, whole, rtol=1e-12)
