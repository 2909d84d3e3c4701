"""A photo as a model is shown it: fitted to its shape, with the box of what it saw; and many at a time."""

import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.data.scenes import BLUE, GREY, RED, scene, seen, taken
from tests.helpers import seeds
from tinyvit.data.photos import FILTERS, FITS, LONGEST, PhotoFit, fitted, read_photo, read_photos
from tinyvit.support.errors import UserError

# Fitting.


def striped(width, height, path):
    """An image with a blue square in its centre, red on both sides of it."""
    image = Image.new("RGB", (width, height), RED)
    side, (left, top) = min(width, height), (max(0, width - height) // 2, max(0, height - width) // 2)
    image.paste(BLUE, (left, top, left + side, top + side))
    image.save(path)
    return path


def test_crop_scales_the_shorter_side_and_keeps_the_centre(tmp_path):
    view = seen(striped(90, 30, tmp_path / "wide.png"), 10)
    assert (view.shape, view.dtype) == ((10, 10, 3), np.uint8)
    assert (view[:, 2:-2] == BLUE).all()  # at the cut itself the red beyond shines through


def padded(pixels, before, size, colour):
    """Pixels (h, w, 3) in an image of that (height, width) at least, after that many rows and columns."""
    height, width = (max(pair) for pair in zip(pixels.shape, size, strict=False))
    whole = np.full((height, width, 3), colour, np.uint8)
    whole[before[0] :, before[1] :][: pixels.shape[0], : pixels.shape[1]] = pixels
    return whole


def as_in_transformers(image, fit):
    """get_resize_output_image_size, resize and center_crop of transformers.image_transforms."""
    height, width = fit.frame
    if fit.fit == "crop":
        short, long = sorted(image.size)
        new = height, int(height * long / short)
        width, height = new if image.width <= image.height else new[::-1]
    pixels = np.asarray(image.resize((width, height), Image.Resampling.BICUBIC))
    tops = [(n - c) // 2 for n, c in zip((height, width), fit.size, strict=True)]
    pixels = padded(pixels, [max(0, -top) for top in tops], fit.size, 0)
    top, left = (max(0, top) for top in tops)
    return pixels[top : top + fit.size[0], left : left + fit.size[1]]


def as_in_timm(image, fit):
    """Resize and CenterCrop of torchvision, or ResizeKeepRatio and CenterCropOrPad of timm."""
    height, width = fit.frame
    if fit.fit == "crop" and height == width:
        short, long = sorted(image.size)
        new = height, int(height * long / short)
        width, height = new if image.width <= image.height else new[::-1]
    elif fit.fit != "squash":
        ratios = image.height / height, image.width / width
        ratio = min(ratios) if fit.fit == "crop" else max(ratios)
        width, height = (max(1, round(side / ratio)) for side in image.size)
    pixels = np.asarray(image.resize((width, height), Image.Resampling.BICUBIC))
    before = [max(0, (c - n) // 2) for n, c in zip((height, width), fit.size, strict=True)]
    pixels = padded(pixels, before, fit.size, fit.border if fit.fit == "pad" else 0)
    top, left = (round((n - c) / 2.0) for n, c in zip(pixels.shape, fit.size, strict=False))
    return pixels[top : top + fit.size[0], left : left + fit.size[1]]


SIDES = st.tuples(st.integers(1, 40), st.integers(1, 40))


@given(
    photo=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    size=SIDES,
    patch=st.integers(1, 40),
    data=st.data(),
    seed=seeds(),
)
def test_photos_are_fitted_byte_for_byte_as_the_libraries_do(photo, size, patch, data, seed):
    image = scene(*photo, seed)
    square = st.integers(1, 60).map(lambda side: (side, side))
    for library, rule, fits in (
        ("transformers", as_in_transformers, ("crop", "squash")),
        ("timm", as_in_timm, FITS),
    ):
        kind = data.draw(st.sampled_from(fits))
        frame = data.draw(square if (library, kind) == ("transformers", "crop") else square | SIDES)
        fit = PhotoFit(kind, frame, size, "bicubic", library, border=(124, 116, 104))
        expected = rule(image, fit)
        np.testing.assert_array_equal(fitted(fit, image, (0, 0, *photo)), expected)
        covered = fit.covered_by(patch)
        height, width = (side - side % patch if patch <= min(size) else side for side in size)
        seen = fitted(covered, image, (0, 0, *photo))
        np.testing.assert_array_equal(seen, expected[:height, :width])


def test_tinyvits_own_crop_is_the_one_of_transformers():
    image = scene(90, 61)
    views = [
        fitted(PhotoFit("crop", (20, 20), (20, 20), "bicubic", name), image, (0, 0, 90, 61))
        for name in ("tinyvit", "transformers")
    ]
    assert views[0].tobytes() == views[1].tobytes()


@pytest.mark.parametrize("orientation", [1, 6])
def test_a_large_jpeg_is_decoded_in_full_where_a_library_would(tmp_path, orientation):
    image = scene(2403, 1607)
    image.save(tmp_path / "a.jpg", exif=taken(image, orientation), quality=92)
    fit = PhotoFit("crop", (36, 36), (32, 32), "bicubic", "transformers")
    upright = Image.open(tmp_path / "a.jpg")
    upright = upright.transpose(Image.Transpose.ROTATE_270) if orientation == 6 else upright
    expected = as_in_transformers(upright, fit)
    np.testing.assert_array_equal(read_photo(tmp_path / "a.jpg", 32, fit).view, expected)
    assert (read_photo(tmp_path / "a.jpg", 32, replace(fit, library="tinyvit")).view != expected).any()


def test_a_thin_photo_is_not_blown_up_whole(monkeypatch):
    """Its resized whole would have millions of pixels, of which the model sees the middle ones."""
    image, fit = scene(3, 300), PhotoFit("crop", (40, 40), (30, 50))
    expected = np.asarray(fitted(fit, image, (0, 0, 3, 300))).astype(int)
    monkeypatch.setattr("tinyvit.data.photos._LARGE", 1000)
    assert np.abs(np.asarray(fitted(fit, image, (0, 0, 3, 300))) - expected).mean() < 1


@pytest.mark.parametrize(
    "size, rows, columns", [((80, 40), slice(5, 15), slice(20)), ((40, 80), slice(20), slice(5, 15))]
)
def test_pad_shows_the_whole_photo_on_grey(tmp_path, size, rows, columns):
    Image.new("RGB", size, RED).save(tmp_path / "a.png")
    expected = np.full((20, 20, 3), GREY, np.uint8)
    expected[rows, columns] = RED
    np.testing.assert_array_equal(read_photo(tmp_path / "a.png", 20, "pad").view, expected)


def test_the_size_may_be_a_number_of_numpy(tmp_path):
    assert read_photo(striped(9, 9, tmp_path / "a.png"), np.int64(4)).view.shape == (4, 4, 3)


def test_a_padded_photo_thinner_than_a_pixel_can_still_be_seen(tmp_path):
    Image.new("RGB", (1, 300), RED).save(tmp_path / "a.png")
    assert (read_photo(tmp_path / "a.png", 20, "pad").view == RED).all(axis=2).sum() == 20


def test_squash_shows_the_whole_photo_out_of_proportion(tmp_path):
    view = read_photo(striped(90, 30, tmp_path / "wide.png"), 9, "squash").view
    assert (view[:, 4] == BLUE).all()
    assert (view[:, [0, 1, 7, 8]] == RED).all()


def test_fits_agree_on_a_photo_of_the_models_shape(tmp_path):
    scene(60, 40).save(tmp_path / "a.png")
    crop, pad, squash = (read_photo(tmp_path / "a.png", (20, 30), fit).view for fit in FITS)
    assert crop.shape == (20, 30, 3)
    np.testing.assert_array_equal(pad, crop)
    np.testing.assert_array_equal(squash, crop)


@pytest.mark.parametrize("resample", FILTERS)
def test_the_resize_filter_can_be_chosen(tmp_path, resample):
    image = scene(60, 60)
    image.save(tmp_path / "a.png")
    expected = image.resize((16, 16), Image.Resampling[resample.upper()])
    fit = PhotoFit("crop", (16, 16), (16, 16), resample)
    np.testing.assert_array_equal(read_photo(tmp_path / "a.png", 16, fit).view, expected)


@pytest.mark.parametrize(
    "wrong",
    [
        {"fit": "stretch"},
        {"resample": "cubic"},
        {"library": "torch"},
        {"frame": (0, 4)},
        {"size": (4, 0)},
        {"size": (4,)},
        {"border": (0, 256, 0)},
        {"border": (0, 0)},
    ],
)
def test_a_fit_that_does_not_exist_is_a_mistake_of_the_program(wrong):
    with pytest.raises(ValueError, match="expected"):
        PhotoFit(**({"fit": "crop", "frame": (4, 4), "size": (4, 4)} | wrong))


def test_a_fine_pattern_is_averaged_not_sampled(tmp_path):
    board = np.indices((64, 64)).sum(axis=0) % 2 * np.uint8(255)
    Image.fromarray(board.astype(np.uint8)).save(tmp_path / "board.png")
    assert np.abs(seen(tmp_path / "board.png", 8).astype(int) - 127).max() < 20


def test_a_photo_for_a_model_that_is_not_square_keeps_its_proportions(tmp_path):
    pixels = np.zeros((20, 40, 3), np.uint8)
    pixels[5:15, 10:20] = 255
    Image.fromarray(pixels).save(tmp_path / "a.png")
    np.testing.assert_array_equal(seen(tmp_path / "a.png", (20, 40)), pixels)
    assert seen(tmp_path / "a.png", (10, 20)).shape == (10, 20, 3)


# The whole photo, and the box in it.


@pytest.mark.parametrize(
    "fit, box, lost",
    [("crop", (200, 0, 600, 400), 0.5), ("pad", (0, -200, 800, 600), 0), ("squash", (0, 0, 800, 400), 0)],
)
def test_the_box_is_what_the_model_saw_of_the_whole_photo(tmp_path, fit, box, lost):
    scene(800, 400).save(tmp_path / "a.png")
    photo = read_photo(tmp_path / "a.png", 32, fit)
    assert photo.path == tmp_path / "a.png"
    assert photo.box == pytest.approx(box)
    assert photo.lost == pytest.approx(lost)
    np.testing.assert_array_equal(photo.whole, Image.open(tmp_path / "a.png"))


def test_the_box_is_in_pixels_of_the_shrunk_photo(tmp_path):
    scene(2400, 3000).save(tmp_path / "a.png", compress_level=1)
    photo = read_photo(tmp_path / "a.png", 32, PhotoFit("crop", (64, 64), (32, 32)))
    assert photo.whole.shape == (LONGEST, 800, 3)
    assert photo.box == pytest.approx((200, 300, 600, 700))
    assert photo.lost == pytest.approx(0.8)


@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_box_of_the_whole_photo_resized_is_the_view(tmp_path, name, orientation):
    image = scene(1804, 1207)
    image.save(tmp_path / name, exif=taken(image, orientation), quality=95, compress_level=1)
    photo = read_photo(tmp_path / name, (40, 60))
    again = Image.fromarray(photo.whole).resize((60, 40), Image.Resampling.BICUBIC, photo.box)
    assert np.abs(np.asarray(again).astype(int) - photo.view).mean() < 2


def test_the_whole_photo_is_omitted_if_it_is_not_requested(tmp_path):
    scene(80, 40).save(tmp_path / "a.png")
    slim, full = (read_photo(tmp_path / "a.png", 8, with_whole=wanted) for wanted in (False, True))
    assert slim.whole is None
    assert (slim.box, slim.lost) == (full.box, full.lost)
    np.testing.assert_array_equal(slim.view, full.view)


# Many photos.


def many(folder, count):
    """Files that are each of one colour, to be told apart."""
    paths = [folder / f"{i}.png" for i in range(count)]
    for i, path in enumerate(paths):
        Image.new("RGB", (4, 4), (i, 0, 0)).save(path)
    return paths


def test_many_photos_and_errors_come_in_order(tmp_path):
    paths = many(tmp_path, 60)
    paths[7].write_bytes(b"nonsense")
    paths[30].unlink()
    results = list(read_photos(paths, 2))
    assert [i for i, result in enumerate(results) if isinstance(result, UserError)] == [7, 30]
    for i, (path, result) in enumerate(zip(paths, results, strict=True)):
        if isinstance(result, UserError):
            assert str(path) in str(result)
        else:
            assert (result.view[0, 0, 0], result.path) == (i, path)


def test_only_a_few_photos_are_read_ahead(tmp_path, monkeypatch):
    monkeypatch.setattr("tinyvit.data.photos.os.cpu_count", lambda: 2)
    paths = iter(many(tmp_path, 60))
    photos = read_photos(paths, 2)
    for _ in range(3):
        next(photos)
    photos.close()
    assert 50 <= len(list(paths)) < 57


def test_reading_many_photos_leaves_warnings_as_they_were(tmp_path):
    before = list(warnings.filters)
    photos = read_photos(many(tmp_path, 60), 2)
    next(photos)
    photos.close()
    assert warnings.filters == before


def test_photos_are_read_even_if_no_thread_can_be_started(tmp_path, monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    paths = [tmp_path / f"{i}.png" for i in range(30)]
    for i, path in enumerate(paths):
        Image.new("RGB", (9, 9), (i, 0, 0)).save(path)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert [photo.view[0, 0, 0] for photo in read_photos(paths, 9)] == list(range(30))


def test_of_a_fit_for_smaller_images_a_pixel_is_left():
    fit = PhotoFit("crop", (40, 8), (40, 8), edge=(20, 4))
    assert fit.at((5, 4)) == replace(fit, frame=(3, 3), size=(5, 4), edge=(0, 0))
    thin = PhotoFit("pad", (1, 40), (8, 40)).at((2, 10))
    assert (thin.frame, thin.size, thin.edge) == ((1, 10), (2, 10), (0, 0))
