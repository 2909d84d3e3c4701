from dataclasses import replace

import numpy as np
import pytest

from tinyvit.data.dataset import (
    Dataset,
    ImageSet,
    chosen_to_hold_out,
    class_names,
    hold_out,
    keep_classes,
    take_share,
)
from tinyvit.support.errors import UserError


def numbered_set(labels):
    """An image set whose i-th image is filled with i."""
    labels = np.asarray(labels, dtype=np.int64)
    images = (
        np.zeros((len(labels), 2, 2, 3), dtype=np.uint8)
        + np.arange(len(labels), dtype=np.uint8)[:, None, None, None]
    )
    return ImageSet(images, labels)


def numbered_dataset(labels):
    return Dataset("numbered", ("a", "b", "c"), numbered_set(labels), numbered_set([0, 1, 2]))


LABELS = np.repeat([0, 1, 2], [30, 20, 10])


def test_take_keeps_images_and_labels_together():
    chosen = numbered_set(LABELS).take(np.array([55, 3]))
    assert chosen.images[:, 0, 0, 0].tolist() == [55, 3]
    assert chosen.labels.tolist() == [2, 0]


def test_an_image_set_is_a_sequence_of_images_and_labels():
    images = numbered_set(LABELS)
    assert [(image[0, 0, 0], label) for image, label in images] == [*zip(range(60), LABELS, strict=True)]
    assert images[-1][1] == 2 and images[np.int64(3)][0].shape == (2, 2, 3)
    for key in (slice(50, 53), [50, 51, 52], np.arange(60) // 3 == 17):
        part = images[key]
        np.testing.assert_array_equal(part.images, images.images[key])
        np.testing.assert_array_equal(part.labels, images.labels[key])
    assert np.asarray(images) is images.images
    with pytest.raises(IndexError):
        images[60]


def test_data_sets_and_their_parts_are_described_in_one_line():
    data = hold_out(numbered_dataset(LABELS), 6, seed=0)
    parts = "54 images to train on, 6 for validation, 3 to test on"
    assert repr(data) == f"Dataset('numbered', 3 classes, {parts})"
    assert repr(data.test) == "ImageSet(3 images of 2 x 2)"


@pytest.mark.parametrize(
    "images, labels",
    [
        (np.zeros((4, 2, 2, 3), np.float32), np.zeros(4, np.int64)),
        (np.zeros((4, 3, 2, 2), np.uint8), np.zeros(4, np.int64)),
        (np.zeros((4, 3, 2, 2), np.uint8).transpose(0, 2, 3, 1), np.zeros(4, np.int64)),
        (np.zeros((4, 2, 2, 3), np.uint8), np.zeros(5, np.int64)),
        (np.zeros((4, 2, 2, 3), np.uint8), np.zeros(4, np.uint8)),
        (np.zeros((4, 2, 2, 3), np.uint8).tolist(), np.zeros(4, np.int64)),
        (np.zeros((4, 2, 2, 3), np.uint8), [0] * 4),
    ],
    ids=["float", "channels first", "not contiguous", "a label too many", "narrow labels", "list", "labels"],
)
def test_an_image_set_refuses_other_arrays(images, labels):
    with pytest.raises(ValueError, match=r"images|labels"):
        ImageSet(images, labels)


def test_an_image_set_has_a_name_for_each_image_or_none():
    with pytest.raises(ValueError, match="found 1 name, expected 4 or none"):
        ImageSet(np.zeros((4, 2, 2, 3), np.uint8), np.zeros(4, np.int64), ("a.png",))


def test_hold_out_moves_each_image_to_exactly_one_side():
    split = hold_out(numbered_dataset(LABELS), 17, seed=3)
    assert len(split.validation) == 17
    seen = np.concatenate([split.train.images[:, 0, 0, 0], split.validation.images[:, 0, 0, 0]])
    assert sorted(seen) == list(range(60))


def test_hold_out_keeps_labels_with_their_images():
    split = hold_out(numbered_dataset(LABELS), 17, seed=3)
    for part in (split.train, split.validation):
        np.testing.assert_array_equal(part.labels, LABELS[part.images[:, 0, 0, 0]])


@pytest.mark.parametrize(
    "count, shares",
    [(12, [6, 4, 2]), (31, [16, 10, 5]), (57, [29, 19, 9]), (1, [1, 0, 0]), (2, [1, 1, 0])],
)
def test_hold_out_takes_from_every_class_in_proportion(count, shares):
    """Of 57 the shares are 28.5, 19 and 9.5: those that lose most by rounding down are rounded up."""
    held = hold_out(numbered_dataset(LABELS), count, seed=5).validation
    assert np.bincount(held.labels, minlength=3).tolist() == shares


def test_hold_out_leaves_most_of_every_class_to_be_learned():
    split = hold_out(numbered_dataset(LABELS), 12, seed=5)
    assert np.bincount(split.train.labels).tolist() == [24, 16, 8]


def test_hold_out_depends_on_the_seed_alone():
    def chosen(seed):
        return hold_out(numbered_dataset(LABELS), 12, seed).validation.images[:, 0, 0, 0].tolist()

    assert chosen(1) == chosen(1)
    assert chosen(1) != chosen(2)


def test_hold_out_leaves_something_of_every_class_to_be_learned():
    with pytest.raises(UserError, match=r"holding out 59 .* would leave none of b, which has 20: choose"):
        hold_out(numbered_dataset(LABELS), 59, seed=0)


@pytest.mark.parametrize("count", [-1, 0, 60, 1000])
def test_hold_out_refuses_a_count_that_leaves_one_side_empty(count):
    with pytest.raises(UserError, match="from 1 to 59"):
        hold_out(numbered_dataset(LABELS), count, seed=0)


def test_hold_out_does_not_drop_an_existing_validation_set():
    split = hold_out(numbered_dataset(LABELS), 5, seed=0)
    with pytest.raises(ValueError, match="already"):
        hold_out(split, 5, seed=0)


def numbers(images):
    """The numbers of these images in a numbered set."""
    return images.images[:, 0, 0, 0].tolist()


@pytest.mark.parametrize("fraction, counts", [(0.1, [3, 2, 1]), (0.5, [15, 10, 5]), (1.0, [30, 20, 10])])
def test_a_share_is_the_same_fraction_of_every_class(fraction, counts):
    share = take_share(numbered_dataset(LABELS), fraction, seed=2).train
    assert np.bincount(share.labels).tolist() == counts
    np.testing.assert_array_equal(share.labels, LABELS[numbers(share)])


def test_a_share_depends_on_the_seed_alone_and_a_larger_one_includes_it():
    def chosen(fraction, seed):
        return set(numbers(take_share(numbered_dataset(LABELS), fraction, seed).train))

    assert chosen(0.3, 1) == chosen(0.3, 1) != chosen(0.3, 2)
    assert chosen(0.1, 1) < chosen(0.3, 1)


def test_a_share_leaves_the_other_images_alone():
    whole = hold_out(numbered_dataset(LABELS), 6, seed=0)
    share = take_share(whole, 0.2, seed=0)
    assert share.test is whole.test
    assert share.validation is whole.validation


def test_a_share_without_an_image_of_some_class_is_refused():
    with pytest.raises(UserError, match=r"10 training images of c is less than one image: .*0\.1 or more"):
        take_share(numbered_dataset(LABELS), 0.04, seed=0)


def test_classes_that_are_kept_are_numbered_anew():
    kept = keep_classes(numbered_dataset(LABELS), ["c", "a"])
    assert kept.classes == ("c", "a")
    assert numbers(kept.train) == [*range(30), *range(50, 60)]
    assert kept.train.labels.tolist() == [1] * 30 + [0] * 10
    assert kept.test.labels.tolist() == [1, 0]


@pytest.mark.parametrize(("empty", "purpose"), [("train", "to train on"), ("test", "to test on")])
def test_classes_of_which_a_part_has_no_image_are_refused(empty, purpose):
    data = numbered_dataset(LABELS)
    with pytest.raises(UserError, match=f"no images of the 2 classes .* keeps {purpose}: keep other"):
        keep_classes(replace(data, **{empty: numbered_set([2, 2])}), ["a", "b"])
    with pytest.raises(UserError, match="of the 2 classes that --only keeps for validation"):
        keep_classes(replace(data, validation=numbered_set([2])), ["a", "b"])


@pytest.mark.parametrize(
    "text, names",
    [
        ("a, b", ["a", "b"]),
        ("ant, red,bee", ["ant, red", "bee"]),
        ("bee,ant", ["bee", "ant"]),
        ("ant, red, small, wasp", ["ant, red, small", "wasp"]),
        ("red, bee", ["red", "bee"]),
    ],
)
def test_names_of_classes_may_contain_commas(text, names):
    assert class_names(text, ("ant", "ant, red", "ant, red, small", "bee")) == names


@pytest.mark.parametrize(
    "names, message",
    [(["a", "d"], "no class 'd': expected some of 'a', 'b', 'c'"), (["a"], "two"), (["a", "a"], "two")],
)
def test_classes_that_cannot_be_kept(names, message):
    with pytest.raises(UserError, match=message):
        keep_classes(numbered_dataset(LABELS), names)


@pytest.mark.parametrize(("share", "count"), [(0.1, 4), (0.25, 10), (0.001, 1)])
def test_a_share_is_held_out_as_that_many_images_are(share, count):
    images = ImageSet(np.arange(40, dtype=np.uint8).repeat(3).reshape(40, 1, 1, 3), np.arange(40) % 2)
    data = Dataset("data", ("a", "b"), images, images)
    found, expected = hold_out(data, share, 5), hold_out(data, count, 5)
    np.testing.assert_array_equal(found.validation.images, expected.validation.images)
    assert len(found.validation) == count


@pytest.mark.parametrize("first", [0, 9])
def test_a_class_of_one_image_keeps_it_whatever_its_place(first):
    labels = np.arange(10).repeat(11)
    labels = labels[(labels != first) | (np.arange(110) % 11 == 0)]  # 100 images, one of this class
    held_out = chosen_to_hold_out(labels, [*"abcdefghij"], 10, seed=0)
    assert held_out.sum() == 10 and not held_out[labels == first].any()
