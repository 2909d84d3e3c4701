"""Every operation gives the bytes of Pillow's own, alone and one after another, on every device."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageEnhance, ImageOps

from tests.helpers import seeds, some_images
from tests.stand_in import DeviceArray
from tinyvit.backend import to_numpy
from tinyvit.data.augment import NAMES, RANGES, apply_operations, autoaugment, operations_of, randaugment
from tinyvit.data.operations import whole_numbers
from tinyvit.support.limits import MOST_PIXELS


def affine(image, *numbers):
    nearest, grey = Image.Resampling.NEAREST, (128, 128, 128)
    return image.transform(image.size, Image.Transform.AFFINE, numbers, nearest, fillcolor=grey)


PILLOWS = {
    "identity": lambda image, _: image,
    "shear_x": lambda image, x: affine(image, 1, x, 0, 0, 1, 0),
    "shear_y": lambda image, x: affine(image, 1, 0, 0, x, 1, 0),
    "translate_x": lambda image, x: affine(image, 1, 0, -int(x * image.width), 0, 1, 0),
    "translate_y": lambda image, x: affine(image, 1, 0, 0, 0, 1, -int(x * image.height)),
    "rotate": lambda image, x: image.rotate(x, Image.Resampling.NEAREST, fillcolor=(128, 128, 128)),
    "brightness": lambda image, x: ImageEnhance.Brightness(image).enhance(x),
    "colour": lambda image, x: ImageEnhance.Color(image).enhance(x),
    "contrast": lambda image, x: ImageEnhance.Contrast(image).enhance(x),
    "sharpness": lambda image, x: ImageEnhance.Sharpness(image).enhance(x),
    "posterize": lambda image, x: ImageOps.posterize(image, round(x)),
    "solarize": lambda image, x: ImageOps.solarize(image, x),
    "autocontrast": lambda image, _: ImageOps.autocontrast(image),
    "equalize": lambda image, _: ImageOps.equalize(image),
    "invert": lambda image, _: ImageOps.invert(image),
}


def by_pillow(pixels, operations):
    """The pixels (H, W, 3) after these operations (n,), one after another."""
    image = Image.fromarray(pixels)
    for kind, amount in operations:
        image = PILLOWS[NAMES[kind]](image, float(amount))
    return np.asarray(image)


@given(height=st.integers(1, 40), width=st.integers(1, 40), seed=seeds())
def test_every_operation_gives_the_bytes_of_pillow(height, width, seed):
    rng = np.random.default_rng(seed)
    kinds = np.arange(len(NAMES))[:, None]
    images = some_images(rng, len(NAMES), height, width)
    strengths = rng.choice([0, 1, rng.random()], kinds.shape)
    operations = operations_of(kinds, strengths, rng.choice((-1, 1), kinds.shape))
    found = apply_operations(images.copy(), operations)
    assert found.dtype == np.uint8
    for name, pixels, of_image, result in zip(NAMES, images, operations, found, strict=True):
        np.testing.assert_array_equal(result, by_pillow(pixels, of_image), name)


@given(size=st.integers(3, 20), rounds=st.integers(0, 4), seed=seeds())
def test_the_operations_of_an_image_are_done_one_after_another(size, rounds, seed):
    rng = np.random.default_rng(seed)
    images = some_images(rng, 6, size, size + 1)
    operations = randaugment(rng, 6, rounds, magnitude=rng.uniform(0, 30))
    found = apply_operations(images.copy(), operations)
    expected = [by_pillow(*pair) for pair in zip(images, operations, strict=True)]
    np.testing.assert_array_equal(found, np.stack(expected))


def test_a_positive_amount_goes_right_down_and_anticlockwise():
    """A white dot on black, 5 pixels above the centre and 10 to the left of it."""
    dot = np.zeros((41, 41, 3), np.uint8)
    dot[14:17, 9:12] = 255
    found = {}
    for name in ("translate_x", "translate_y", "rotate"):
        operation = operations_of(np.array([[NAMES.index(name)]]), 1.0, np.array([[1]]))
        result = apply_operations(dot[None].copy(), operation)[0]
        found[name] = np.argwhere((result == 255).all(axis=-1)).mean(axis=0).round().tolist()
    assert found == {"translate_x": [15, 28], "translate_y": [33, 10], "rotate": [21, 9]}


@pytest.mark.parametrize(
    ("name", "magnitude", "sign", "amount"),
    [
        ("shear_x", 9, -1, -0.09),
        ("translate_y", 20, 1, 100 / 331),
        ("rotate", 9, -1, -9.0),
        ("brightness", 10, 1, 1.3),
        ("sharpness", 30, -1, 0.1),
        ("posterize", 9, -1, 8 - 1.2),
        ("solarize", 10, -1, 170.0),
        ("equalize", 10, -1, 0.0),
    ],
)
def test_amounts_follow_from_the_strength(name, magnitude, sign, amount):
    found = operations_of(np.array([NAMES.index(name)]), magnitude / 30, np.array([sign]))
    assert NAMES[found["kind"][0]] == name
    assert found["amount"][0] == pytest.approx(amount)


def test_every_operation_belongs_to_pillow_and_to_a_range():
    assert set(PILLOWS) == set(RANGES) == set(NAMES)


def test_images_on_a_gpu_become_the_same_bytes_without_waiting(gpu):
    rng = np.random.default_rng(0)
    images = some_images(rng, 128, 12, 10)
    for operations in (randaugment(rng, 128, 3, 17.0), autoaugment(rng, 128)):
        expected, there = apply_operations(images.copy(), operations), gpu.xp.asarray(images)
        before = DeviceArray.waits
        result = apply_operations(there, operations)
        assert DeviceArray.waits == before
        np.testing.assert_array_equal(to_numpy(result), expected)


@pytest.mark.parametrize("kind", ["shear_x", "shear_y", "translate_x", "translate_y", "rotate"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_whole_numbers_of_the_largest_images_fit_into_32_bits(kind, sign):
    side, names, amounts = MOST_PIXELS, np.array([kind]), np.array([sign * RANGES[kind].change])
    numbers = whole_numbers(names, amounts, side, side).astype(np.int64)
    per_column, per_row, first = numbers[..., 0]  # (2,) each
    for columns, rows in ((0, 0), (side, 0), (0, side), (side, side)):
        assert (np.abs(per_column * columns + per_row * rows) < 2**31).all()
        assert (np.abs(per_column * columns + per_row * rows + first) < 2**31).all()


def test_the_strongest_operations_are_those_of_the_paper():
    """AutoAugment, table 6; enhancements to 1.9 and posterizing to 4 bits as in RandAugment's code."""
    strongest = {"shear_x": 0.3, "translate_x": 150 / 331, "rotate": 30, "brightness": 1.9, "contrast": 1.9}
    strongest |= {"shear_y": 0.3, "translate_y": 150 / 331, "colour": 1.9, "sharpness": 1.9}
    strongest |= {"posterize": 4, "solarize": 0}
    kinds = np.array([NAMES.index(name) for name in strongest])
    assert operations_of(kinds, 1.0, 1)["amount"].tolist() == pytest.approx([*strongest.values()])
