"""A data set that is larger than the memory stays on the disk, and all else is as if it were in memory."""

import numpy as np
import pytest

from tests.tiny_runs import assert_same_run, tiny
from tinyvit import evaluate, train
from tinyvit.data import folder, hold_out, load_dataset, take_share
from tinyvit.data.dataset import Rows
from tinyvit.support.errors import UserError

IMAGES = np.arange(5 * 2 * 2 * 3, dtype=np.uint8).reshape(5, 2, 2, 3)


def test_rows_are_indexed_as_an_array_along_its_first_axis():
    rows = Rows(IMAGES, [4, 0, 2])
    expected = IMAGES[[4, 0, 2]]
    assert (rows.shape, rows.ndim, rows.dtype, len(rows)) == (expected.shape, 4, np.uint8, 3)
    for key in (slice(1, None), np.array([2, 2, 0]), [True, False, True], slice(3, 3)):
        np.testing.assert_array_equal(np.asarray(rows[key]), expected[key])
        assert isinstance(rows[key], Rows)
    np.testing.assert_array_equal(rows[-1], expected[-1])
    np.testing.assert_array_equal(rows[1:][np.array([1])][0], expected[2])


def test_what_is_read_is_a_copy():
    rows = Rows(IMAGES.copy(), [1])
    np.asarray(rows)[...] = 7
    rows[0][...] = 7
    np.testing.assert_array_equal(rows, IMAGES[1:2])


@pytest.fixture
def on_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("TINYVIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(folder, "_MOST_IN_MEMORY", 0.0)


def loaded(photos, note=None):
    dataset = take_share(hold_out(load_dataset("folder", photos, 8, note=note), 8, seed=1), 0.75, seed=2)
    return [dataset.train, dataset.validation, dataset.test]


def test_splits_and_shares_are_those_of_images_in_memory(photos, request):
    (photos / "red" / "damaged.png").write_bytes(b"no image")
    try:
        expected, lines = loaded(photos), []
        request.getfixturevalue("on_disk")
        for found, right in zip(loaded(photos, lines.append), expected, strict=True):
            assert isinstance(found.images, Rows)
            np.testing.assert_array_equal(found.images, right.images)
            np.testing.assert_array_equal(found.labels, right.labels)
            assert found.names == right.names
        assert any("they stay on the disk, in " in line for line in lines)
        assert any("damaged.png" in line for line in lines)
    finally:
        (photos / "red" / "damaged.png").unlink()


def test_a_run_on_images_on_the_disk_has_the_bits_of_one_in_memory(go, photos, tmp_path, request):
    flags = ("--validation", "8", "--flip", "--mixup", "0.5", "--whiten", "--init", "mimetic")
    assert go(train, *tiny(photos, tmp_path / "a", *flags))[0] == 0
    right = go(evaluate, tmp_path / "a")
    request.getfixturevalue("on_disk")
    assert go(train, *tiny(photos, tmp_path / "b", *flags))[0] == 0
    assert_same_run(tmp_path / "b", tmp_path / "a")
    assert go(evaluate, tmp_path / "b") == right


def test_a_disk_without_room_is_one_line(photos, on_disk, monkeypatch):
    def full(path, write):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "write_atomically", full)
    with pytest.raises(UserError, match=r"cannot be written to .*make room there"):
        load_dataset("folder", photos, 8)
