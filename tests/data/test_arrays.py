"""Images and labels in an .npz file, under the names that people give them; what does not fit is named."""

import numpy as np
import pytest

from tests.tiny_runs import assert_one_line
from tinyvit import evaluate, predict, train
from tinyvit.data import load_dataset
from tinyvit.support.errors import UserError


def images(count, side=8, seed=3):
    return np.random.default_rng(seed).integers(0, 256, (count, side, side, 3), dtype=np.uint8)


def saved(path, **arrays):
    np.savez(path, **arrays)
    return path


@pytest.fixture
def load(tmp_path):
    """load(ARRAYS, SETTINGS) of a file with these arrays."""
    return lambda arrays, **more: load_dataset("arrays", saved(tmp_path / "a.npz", **arrays), **more)


X, Y = images(20), np.tile([5, 2], 10)
BOTH = {"x_train": X, "y_train": Y, "x_test": X[:4], "y_test": Y[:4]}


def test_the_parts_and_labels_are_those_of_the_file(load):
    dataset = load(BOTH | {"x_valid": X[4:7], "y_valid": Y[4:7]})
    assert dataset.classes == ("2", "5") and dataset.name == "a.npz"
    np.testing.assert_array_equal(dataset.train.images, X)
    assert dataset.train.labels.tolist() == [1, 0] * 10
    np.testing.assert_array_equal(dataset.test.images, X[:4])
    assert dataset.validation.labels.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "names", ["x y", "X Y", "images labels", "x_train y_train", "train_images train_labels"]
)
def test_without_test_images_a_fifth_of_each_class_is_held_out(load, names):
    x, y = names.split()
    one, again, other = (load({x: X, y: Y}, seed=seed) for seed in (1, 1, 2))
    assert np.bincount(one.test.labels).tolist() == [2, 2] and len(one.train) == 16
    np.testing.assert_array_equal(one.test.images, again.test.images)
    assert (one.test.images != other.test.images).any()
    together = np.concatenate([one.train.images, one.test.images])
    assert {bytes(image) for image in together} == {bytes(image) for image in X}


def test_validation_images_take_the_place_of_test_images_that_are_missing(load):
    dataset = load({"x_train": X, "y_train": Y, "x_val": X[:4], "y_val": Y[:4]})
    assert len(dataset.test) == 4 and len(dataset.train) == 20 and dataset.validation is None


def test_labels_can_be_text_and_classes_can_have_names(load):
    words = np.array(["dog", "cat"])[np.tile([0, 1], 10)]
    dataset = load({"x": X, "y": words})
    assert dataset.classes == ("cat", "dog") and set(dataset.train.labels) == {0, 1}
    assert load({"x": X, "y": words, "classes": ["dog", "cat"]}).classes == ("dog", "cat")
    named = load(BOTH | {"classes": list("abcdef")})
    assert named.classes == tuple("abcdef") and named.train.labels.tolist() == Y.tolist()
    assert load({"x": X, "y": Y[:, None]}).classes == ("2", "5"), "a column, as keras has it for CIFAR-10"


@pytest.mark.parametrize("grey", [X[..., 0], X[..., :1], X[..., 0].astype(np.int64), X[..., 0] * 1.0])
def test_grey_images_have_three_equal_channels(load, grey):
    found = load({"x_train": grey, "y_train": Y, "x_test": grey, "y_test": Y}).test.images
    np.testing.assert_array_equal(found, np.repeat(X[..., :1], 3, axis=3))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fractions_become_bytes(load, dtype):
    given = BOTH | {"x_train": X.astype(dtype) / 255}
    np.testing.assert_array_equal(load(given).train.images, X)


def test_images_are_scaled_to_the_image_size_if_it_is_given(load):
    assert load(BOTH, image_size=5).test.images.shape == (4, 5, 5, 3)
    np.testing.assert_array_equal(load(BOTH, image_size=8).train.images, X)
    wide = np.zeros((20, 8, 12, 3), np.uint8)
    wide[:, :, 2:10] = 200
    scaled = load({"x": wide, "y": Y}, image_size=4).train.images
    assert scaled.shape == (16, 4, 4, 3) and scaled.min() > 150, "the middle of each"


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"a": X, "b": Y}, "has the arrays 'a', 'b', expected x and y, or x_train"),
        ({}, "has the arrays none, expected"),
        ({"x": X}, "has 'x', but not its labels"),
        ({"y_train": Y}, "has 'y_train', but not its images"),
        ({"x": X, "y": Y, "x_train": X}, "has both 'x' and 'x_train'"),
        ({"x_test": X, "y_test": Y}, "no images to train on"),
        ({"x": X, "y": Y[:-1]}, "20 images and 19 labels"),
        ({"x": X, "y": Y * 1.0}, "dtype float64, expected labels"),
        ({"x": X, "y": np.eye(2)[Y % 2]}, r"'y' of shape \(20, 2\)"),
        ({"x": X, "y": Y * 0}, "has the classes '0', expected at least two"),
        ({"x": X, "y": Y, "classes": list("abcd")}, "has the label 5 among the images to train on"),
        ({"x": X, "y": Y - 3, "classes": list("abcd")}, "has the label -1 among"),
        ({"x": X, "y": Y, "classes": ["a", "b", "a", "d", "e", "f"]}, "each with a name of its own"),
        ({"x": X, "y": np.array(["a", ""] * 10)}, "'y' with 10 empty labels: leave these images out"),
        ({"x": X, "y": np.array(["a", "nan"] * 10)}, "10 empty labels"),
        ({"x": X, "y": np.array([b"a", b"\xff"] * 10)}, "'y' that is no text"),
        ({"x": X, "y": np.full(20, 0x7FFFFFFF, np.uint32).view("U1")}, "'y' that is no text"),
        ({"x": X, "y": np.array(["a", "b"] * 10, object)}, r"Python objects.*array\.astype\(str\)"),
        ({"x": X, "y": Y, "split": Y}, "an array 'split', expected the parts in arrays of their own"),
        ({"x": X, "y": Y, "is_test": Y > 3}, "an array 'is_test'"),
        (BOTH | {"y_test": Y[:4] + 1}, r"label 3 among the images to test on, expected one of 2, 5"),
        ({"x": X[:, 0], "y": Y}, r"shape \(20, 8, 3\)|8 x 3 pixels, expected square"),
        ({"x": X.transpose(0, 3, 1, 2), "y": Y}, r"'x' of shape \(20, 3, 8, 8\), expected images"),
        ({"x": X[:0], "y": Y[:0]}, r"shape \(0, 8, 8, 3\)"),
        ({"x": X[:, :, :6], "y": Y}, "8 x 6 pixels, expected square ones: give --image-size N"),
        ({"x": X * 0.9, "y": Y}, r"float64 from 0 to 229.5, expected uint8 pixels"),
        ({"x": X.astype(np.int64) * 2, "y": Y}, "int64 from 0 to 510"),
        ({"x": X / -255.0, "y": Y}, "expected uint8 pixels"),
        ({"x": np.full(X.shape, np.nan), "y": Y}, "from nan to nan"),
        ({"x": X > 9, "y": Y}, "are bool, expected uint8 pixels"),
        ({"x": X // 16, "y": Y}, "'x', but the images are dark: .* above 15, and white is 255"),
        ({"x": X // 255, "y": Y}, "hardly a pixel is above 1, .* scale them by 255 / 1"),
        ({"x": X.astype(np.int64) // 16, "y": Y}, "are dark: .* above 15"),
        ({"x": X / 255 / 16, "y": Y}, "are dark: .* above 16"),
        (BOTH | {"x_test": X[:4] // 200}, "has 'x_test', but the images are dark"),
        ({"x": X, "y": Y, "note": np.array([{}], dtype=object)}, "pickled Python objects, which are never"),
        ({"x": X[:2], "y": Y[:2]}, "has a single image of each class"),
    ],
)
def test_what_does_not_fit_is_named(load, arrays, expected):
    with pytest.raises(UserError, match=rf"a\.npz .*({expected})"):
        load(arrays)


@pytest.mark.parametrize("classes", [[], ["cat", "dog"], [b"cat", b"dog"]])
def test_labels_and_names_of_classes_may_be_bytes(load, classes):
    labels = np.array([b"dog", b"cat"] * 10) if not classes else Y % 2
    dataset = load({"x": X, "y": labels} | ({"classes": np.array(classes)} if classes else {}))
    assert dataset.classes == ("cat", "dog")


def test_accents_of_labels_may_be_written_in_two_ways(load):
    labels = np.array(["caf\u00e9", "cafe\u0301", "tea", "tea"] * 5)
    dataset = load({"x": X, "y": labels})
    assert dataset.classes == ("caf\u00e9", "tea")
    assert np.bincount(dataset.train.labels).tolist() == [8, 8]


def test_a_class_that_may_stand_for_no_label_is_said(load):
    notes = []
    load({"x": X, "y": np.tile([-1, 4], 10)}, note=notes.append)
    assert "a class is called '-1': if its images have no label, leave them out" in notes


def test_arrays_that_are_not_used_are_named(load):
    notes = []
    load({"x": X, "y": Y, "z": Y, "ids": Y}, note=notes.append)
    assert notes[0] == "left out the arrays 'ids', 'z': they are neither images nor labels"


def test_a_file_of_something_else_is_named(tmp_path):
    (tmp_path / "a.npz").write_text("hello")
    with pytest.raises(UserError, match=r"a\.npz is not a usable \.npz file.*numpy\.savez"):
        load_dataset("arrays", tmp_path / "a.npz")
    for path in (tmp_path, tmp_path / "b.npz"):
        with pytest.raises(UserError, match=r"is not a file, .*name an \.npz file"):
            load_dataset("arrays", path)
    with pytest.raises(UserError, match=r"arrays needs to know where .* their \.npz file with --data-dir"):
        load_dataset("arrays")


def test_a_run_finds_its_arrays_again_and_notices_when_they_change(go, tmp_path):
    file = saved(tmp_path / "a.npz", **BOTH)
    flags = (
        "--dataset",
        "arrays",
        "--data-dir",
        file,
        "--device",
        "cpu",
        "--threads",
        "1",
        "--batch-size",
        "8",
    )
    run = tmp_path / "run"
    status, out, _ = go(train, *flags, "--model", "nano/4", "--epochs", "1", "--out", run)
    assert status == 0 and "24 images of 2 classes, 20 to train on and 4 to test on" in out
    assert go(train, "--resume", run, "--epochs", "2")[0] == 0
    status, out, _ = go(evaluate, run)
    assert status == 0 and "4 test images" in out and "changed" not in out
    assert go(predict, run, run / "samples" / "5.png")[0] == 0
    file.rename(tmp_path / "b.npz")
    assert_one_line(go(evaluate, run), "no longer in", "--data-dir")
    assert go(evaluate, run, "--data-dir", tmp_path / "b.npz")[0] == 0
    saved(tmp_path / "b.npz", **BOTH | {"x_train": X[::-1]})
    assert "have changed" in go(evaluate, run, "--data-dir", tmp_path / "b.npz")[1]
    status = go(train, "--resume", run, "--epochs", "3", "--data-dir", tmp_path / "b.npz")
    assert_one_line(status, "have changed since")


def test_a_model_that_does_not_fit_the_arrays(go, tmp_path):
    file = saved(tmp_path / "a.npz", **BOTH)
    flags = ("--dataset", "arrays", "--data-dir", file, "--model", "nano/3", "--out", tmp_path / "run")
    assert_one_line(go(train, *flags), "patches of 3 x 3 do not divide images of 8 x 8")
    assert_one_line(go(train, *flags, "--image-size", "7"), "patches of 3 x 3 do not divide images of 7 x 7")
    assert not (tmp_path / "run").exists()
