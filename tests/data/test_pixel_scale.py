"""Whatever scale and layout pixels come in: they are read as meant, or refused, or there is a warning."""

import copy
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import tinyvit
from tinyvit import ViTClassifier
from tinyvit.data.classifier_input import Pixels
from tinyvit.data.images_given import DARK, as_bytes, pixels_of
from tinyvit.support.errors import UserError

SCALES = {  # of images whose values are from 0 to 1
    "uint8": lambda x: (x * 255).round().astype(np.uint8),
    "int64": lambda x: (x * 255).round().astype(np.int64),
    "whole": lambda x: (x * 255).round(),
    "0..255": lambda x: x * 254.7,
    "0..1": lambda x: x,
    "0..1 of float32": lambda x: x.astype(np.float32),
    "0..1 as resizing leaves it": lambda x: x * (1 + 1e-6) - 1e-7,
    "-1..1": lambda x: 2 * x - 1,
    "standardised": lambda x: (x - 0.449) / 0.226,
    "0..16 of uint8": lambda x: (x * 16).round().astype(np.uint8),
    "0..16 of int32": lambda x: (x * 16).round().astype(np.int32),
    "0..100 of uint8": lambda x: (x * 100).round().astype(np.uint8),
    "int8": lambda x: (x * 255 - 128).round().astype(np.int8),
    "mask of uint8": lambda x: (x > 0.5).astype(np.uint8),
    "mask of int64": lambda x: (x > 0.5).astype(np.int64),
    "bool": lambda x: x > 0.5,
    "uint16": lambda x: (x * 65535).round().astype(np.uint16),
    "12 bits": lambda x: (x * 4095).round().astype(np.uint16),
    "percent": lambda x: x * 100,
    "0..0.001": lambda x: x * 0.001,
}
LAYOUTS = {  # of images (n, H, W, 3)
    "n H W 3": lambda x: x,
    "n H W 1": lambda x: x[..., :1],
    "n H W": lambda x: x[..., 0],
    "n 3 H W": lambda x: x.transpose(0, 3, 1, 2),
    "n 1 H W": lambda x: x[..., :1].transpose(0, 3, 1, 2),
    "n H W 4": lambda x: np.concatenate([x, x[..., :1]], axis=3),
    "n H W 2": lambda x: x[..., :2],
    "n 4 H W": lambda x: np.concatenate([x, x[..., :1]], axis=3).transpose(0, 3, 1, 2),
    "rows": lambda x: x.reshape(len(x), -1),
    "grey rows": lambda x: x[..., 0].reshape(len(x), -1),
    "list of H W 3": list,
    "list of H W": lambda x: list(x[..., 0]),
    "list of 3 H W": lambda x: list(x.transpose(0, 3, 1, 2)),
    "list of rows": lambda x: list(x.reshape(len(x), -1)),
}
MODEL = tinyvit.preset("nano/2", (6, 8), 2, threads=1)


def pictures(count, seed):
    """Images (count, 6, 8, 3) with values from 0 to 1, each with something black and something white."""
    x = np.random.default_rng(seed).random((count, 6, 8, 3))
    x[:, 0, 0], x[:, 0, 1] = 0, 1
    return x


def outcome(compute):
    """The result of a function, and True if it warns; None and True if it refuses."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            return compute(), bool(told)
        except ValueError as error:
            assert "expected" in str(error) or "scale" in str(error)
            return None, True


@pytest.mark.parametrize("scale", SCALES)
@settings(max_examples=10)
@given(
    layout=st.sampled_from([*LAYOUTS]),
    count=st.integers(1, 5),
    to_learn=st.booleans(),
    seed=st.integers(0, 99),
)
def test_a_model_sees_the_pixels_that_were_meant_or_says_why_not(scale, layout, count, to_learn, seed):
    images = pictures(count, seed)
    given = LAYOUTS[layout](SCALES[scale](images))
    if count == 1 and layout.startswith("n") and seed % 2:
        given = given[0]  # one image without the first axis
    seen, told = outcome(lambda: MODEL._pixels(given, to_learn=to_learn))
    meant = SCALES["mask of uint8" if scale == "bool" or scale.startswith("mask") else "uint8"](images)
    if seen is not None and not told:
        grey = np.repeat(meant[..., :1], 3, axis=3)
        wanted = meant if layout in ("n H W 3", "list of H W 3") else grey
        assert seen.shape == wanted.shape and np.abs(seen.astype(int) - wanted).max() <= 1
    plain = scale in ("uint8", "int64", "whole", "0..1", "0..1 of float32", "0..1 as resizing leaves it")
    if plain and layout in ("n H W 3", "n H W 1", "list of H W 3", "list of H W"):
        assert not told, "what is not ambiguous is taken"


@given(st.sampled_from([*SCALES]), st.sampled_from([*SCALES]), st.sampled_from([1, 40]), st.integers(0, 99))
def test_a_classifier_sees_the_scale_that_it_was_fitted_on_or_says_why_not(fitted, given, count, seed):
    learned, asked = pictures(40, seed), pictures(count, seed + 1)
    pixels = Pixels.of(SCALES[fitted](learned))
    meant = pixels.images(SCALES[fitted](asked))

    def seen():
        X = SCALES[given](asked)
        pixels.check_scale(X)
        return pixels.images(X)

    found, told = outcome(seen)
    if fitted == given:
        assert not told
    if not told:
        of_mask = {"mask", "bool"} & {fitted.split()[0], given.split()[0]}
        largest = 128 if of_mask else 17 if "16" in fitted + given else 3
        assert np.abs(found.astype(int) - meant).max() <= largest


OUTLIERS = [1e3, -9999.0, 65535.0, -1e20, 1e30]


@pytest.mark.parametrize("value", OUTLIERS)
@pytest.mark.parametrize(
    "scale", ["0..1", "0..255", "0..16 of int32", "standardised", "-1..1", "mask of int64"]
)
def test_an_outlier_does_not_take_up_the_range(scale, value):
    images = SCALES[scale](pictures(40, 0)).astype(np.float64)
    with_outlier = images.copy()
    with_outlier[3, 2, 2] = value
    with pytest.warns(UserWarning, match=r"nearly all are from .* are clipped to .* clip X with numpy\.clip"):
        found = Pixels.of(with_outlier)
    low, high = found.range
    assert (images >= low).all() and (images <= high).all()
    assert high - low <= 2 * np.ptp(images)
    found.check_scale(with_outlier[:4])  # as in training, one is not too many


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "images",
    [
        np.random.default_rng(0).normal(size=(500, 20)),
        (np.random.default_rng(0).random((50, 16, 16)) < 0.01) * 1.0,  # a drawing of few dots
        np.random.default_rng(0).random((50, 16, 16)) ** 20,  # dark, with a few lights
        np.random.default_rng(0).random((50, 16, 16)) ** 20 * 255,
        np.eye(8)[None].repeat(20, axis=0),
    ],
    ids=["normal", "dots", "night", "night as bytes", "lines"],
)
def test_what_is_no_outlier_is_not_clipped(images):
    pixels = Pixels.of(images)
    assert pixels.range == (images.min(), images.max())
    for each in range(len(images)):  # nor is any of the training images refused on its own
        pixels.check_scale(images[each : each + 1])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float64"])
def test_images_that_are_dark_blank_or_a_little_outside_are_not_refused(dtype):
    pixels = Pixels.of(np.arange(256).reshape(4, 8, 8).astype(dtype))
    dark = np.eye(8)[None] * 90
    for image in (dark, np.zeros((1, 8, 8)), np.full((1, 8, 8), 100), np.full((1, 8, 8), 255)):
        pixels.check_scale(image.astype(dtype))
        assert pixels.images(image.astype(dtype)).max() == image.max()
    fractions = Pixels.of(np.linspace(0, 0.9, 64).reshape(1, 8, 8))
    fractions.check_scale(np.linspace(-0.01, 1, 64).reshape(1, 8, 8))
    assert fractions.images(np.full((1, 8, 8), 1.0)).max() == 255


def test_bytes_that_are_dark_are_learned_as_the_same_numbers_are():
    labels = np.arange(20) % 2
    for images in (
        np.tile([[0, 1], [1, 0]], (20, 4, 4)),
        np.random.default_rng(0).integers(0, 17, (20, 8, 8)),
    ):
        answers = [
            ViTClassifier(epochs=1, threads=1)
            .fit(images.astype(dtype), labels)
            .predict_proba(images.astype(dtype))
            for dtype in ("uint8", "int64", "float64")
        ]
        np.testing.assert_array_equal(answers[0], answers[2])
        np.testing.assert_array_equal(answers[1], answers[2])


def test_a_first_batch_of_nothing_is_refused_and_a_dark_one_may_be_followed_by_light():
    light = np.random.default_rng(0).integers(140, 256, (10, 8, 8), dtype=np.uint8)
    labels = np.arange(10) % 2
    for blank in (np.zeros((10, 8, 8)), np.zeros((10, 8, 8), np.uint8), np.ones((10, 8, 8))):
        with pytest.raises(
            ValueError, match=r"X holds nothing but [01]: expected images that are not all blank"
        ):
            ViTClassifier(threads=1).partial_fit(blank, labels, classes=[0, 1])
    classifier = ViTClassifier(threads=1).partial_fit(light - 140, labels, classes=[0, 1])
    classifier.partial_fit(light, labels)
    with pytest.raises(ValueError, match="fitted on values from 8 to 15: scale X"):
        ViTClassifier(threads=1).partial_fit(light // 16, labels, classes=[0, 1]).partial_fit(light, labels)


def test_bytes_of_the_ends_are_not_ambiguous():
    for ends in (
        np.array([0, 255]),
        np.array([0.0, 1.0]),
        np.array([0, 255.0]),
        np.array([0, 1], np.float16),
    ):
        assert as_bytes(ends).tolist() == [0, 255]
    levels = np.arange(256, dtype=np.uint8)
    for dtype in ("float16", "float32", "float64"):
        np.testing.assert_array_equal(as_bytes(levels.astype(dtype) / 255), levels)


def test_arrays_to_learn_from_are_not_dark_and_photos_are_said_to_be(tmp_path):
    dark = np.random.default_rng(0).integers(0, DARK, (40, 6, 8, 3), dtype=np.uint8)
    Image.fromarray(dark[0] // 2).save(tmp_path / "a.png")
    model = copy.deepcopy(MODEL)
    for learn in (lambda x: model.fit(x, [0, 1] * 20, epochs=1), model.whiten):
        with pytest.raises(
            UserError, match=r"the images are dark: .* above 127, and white is 255\. If 127 is white"
        ):
            learn(dark)
        learn(dark * 2)
    with pytest.warns(UserWarning, match="the images are dark"):
        model.fit([tmp_path / "a.png"] * 2, [0, 1], epochs=1)
    with pytest.warns(UserWarning, match="the images are dark: .* above 63"):
        model.predict(dark // 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(dark[:20] * 2)
        model.predict(dark * 0)
    one = dark * 0 + dark // 8
    one[5, 0, 0] = 255  # one image of forty has a pixel that is white
    with pytest.raises(UserError, match="the images are dark"):
        pixels_of(one, None, to_learn=True)


@pytest.mark.parametrize("high", [1.0009, 1.0, 0.006])
def test_fractions_are_scaled_to_bytes_up_to_what_resizing_leaves_beyond_1(high):
    assert as_bytes(np.array([0.0, high])).tolist() == [0, round(255 * high)]


@pytest.mark.parametrize("high", [1.5, 1.002, 0.003])
def test_what_may_be_neither_fractions_nor_bytes_is_refused(high):
    with pytest.raises(UserError, match=f"from 0 to {high:g}, expected uint8 pixels"):
        as_bytes(np.array([0.0, high]))
