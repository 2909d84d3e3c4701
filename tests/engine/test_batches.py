"""Few enough images are taken at a time for large models to fit in a modest memory."""

from dataclasses import replace

from tinyvit.engine.batches import images_at_a_time
from tinyvit.model import preset
from tinyvit.model.cost import activation_bytes


def test_a_large_model_gets_fewer_images_at_a_time():
    small, large = preset("nano/4", 32, 10), preset("B/16", 384, 1000)
    assert images_at_a_time(small) == 500
    count = images_at_a_time(large)
    assert 1 < count < 50
    assert count * activation_bytes(large) <= 2e9


def test_the_largest_gets_one():
    assert images_at_a_time(replace(preset("H/14", 224, 1000), image_size=(2240, 2240))) == 1
