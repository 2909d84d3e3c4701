"""The samples of a page: the first images of every class in order, as many as there is room for."""

import numpy as np
import pytest

from tinyvit import preset
from tinyvit.data import ImageSet
from tinyvit.insight.page import choose_samples, contents

LABELS = np.arange(24) % 3


@pytest.mark.parametrize(
    ("room", "each"),
    [
        (9 * 8 * 10 * 3, [3, 3, 3]),
        (8 * 8 * 10 * 3, [3, 3, 2]),
        (8 * 8 * 10 * 3 - 1, [3, 2, 2]),
        (1, [1, 0, 0]),
        (contents.MOST_BYTES, [5, 5, 5]),
    ],
)
def test_as_many_of_each_class_as_there_is_room_for_sorted_by_class(monkeypatch, room, each):
    monkeypatch.setattr(contents, "MOST_BYTES", room)
    images = np.arange(24 * 8 * 10 * 3, dtype=np.uint32).reshape(24, 8, 10, 3).astype(np.uint8)
    config = preset("nano/2", (8, 10), 3).config
    chosen = choose_samples(config, ImageSet(images, LABELS))
    expected = [np.flatnonzero(label == LABELS)[:count] for label, count in enumerate(each)]
    np.testing.assert_array_equal(chosen.images, images[np.concatenate(expected)])
    np.testing.assert_array_equal(chosen.labels, LABELS[np.concatenate(expected)])
