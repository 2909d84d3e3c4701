"""What a model is shown of a photo: fitted to its shape, with the box of what it saw; and many at a time."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

from tests.data.scenes import BLUE, GREY, RED, scene, seen, taken
from tests.helpers import seeds
from tinyvit.data.fitting import FILTERS, FITS, Fitting, fitted
from tinyvit.data.photos import LONGEST, read_photo, read_photos
from tinyvit.errors import UserError

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


@given(
    size=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    model=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    seed=seeds(),
)
def test_crop_gives_the_bits_that_models_were_trained_on(size, model, seed):
    image = scene(*size, seed)
    view = fitted(Fitting(*model), image, (0, 0, *size))
    assert view.tobytes() == ImageOps.fit(image, model, Image.Resampling.BICUBIC).tobytes()


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


@pytest.mark.parametrize("fit", FITS)
def test_a_crop_share_cuts_a_margin_off_on_all_sides(tmp_path, fit):
    image = scene(80, 80)
    image.save(tmp_path / "a.png")
    image.crop((10, 10, 70, 70)).save(tmp_path / "inner.png")
    expected = read_photo(tmp_path / "inner.png", 15, fit).view
    view = read_photo(tmp_path / "a.png", 15, fit, crop_share=(0.75, 0.75)).view
    assert np.abs(view.astype(int) - expected)[2:-2, 2:-2].max() <= 1  # beyond the edges shines in


def test_a_frame_may_have_another_shape_than_the_image_cut_out_of_it(tmp_path):
    """As Hugging Face does for 32 x 64: the photo covers 64 x 64, of which the middle rows are taken."""
    image = scene(100, 100)
    image.save(tmp_path / "a.png")
    expected = np.asarray(image.resize((64, 64), Image.Resampling.BICUBIC))[16:48]
    view = read_photo(tmp_path / "a.png", (32, 64), crop_share=(0.5, 1.0)).view
    assert np.abs(view.astype(int) - expected).max() <= 1


@pytest.mark.parametrize("resample", FILTERS)
def test_the_resize_filter_can_be_chosen(tmp_path, resample):
    image = scene(60, 60)
    image.save(tmp_path / "a.png")
    expected = image.resize((16, 16), Image.Resampling[resample.upper()])
    np.testing.assert_array_equal(read_photo(tmp_path / "a.png", 16, resample=resample).view, expected)


@pytest.mark.parametrize(
    "wrong",
    [
        {"fit": "stretch"},
        {"resample": "cubic"},
        {"crop_share": (0, 1)},
        {"crop_share": (1, 1.1)},
        {"size": 0},
    ],
)
def test_a_fitting_that_does_not_exist_is_a_mistake_of_the_program(tmp_path, wrong):
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    with pytest.raises(ValueError, match="expected"):
        read_photo(tmp_path / "a.png", **({"size": 4} | wrong))


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
    scene(2400, 3000).save(tmp_path / "a.png")
    photo = read_photo(tmp_path / "a.png", 32, crop_share=(0.5, 0.5))
    assert photo.whole.shape == (LONGEST, 800, 3)
    assert photo.box == pytest.approx((200, 300, 600, 700))
    assert photo.lost == pytest.approx(0.8)


@pytest.mark.parametrize("name", ["a.png", "a.jpg"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_box_of_the_whole_photo_resized_is_the_view(tmp_path, name, orientation):
    image = scene(1804, 1207)
    image.save(tmp_path / name, exif=taken(image, orientation), quality=95)
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
