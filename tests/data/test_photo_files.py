"""Photos of every kind: turned upright, laid on white, decoded small, and refused if damaged."""

import io
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import EpsImagePlugin, Image, ImageFile, ImageOps, features

from tests.data.scenes import BLUE, RED, grey_tiff, scene, seen, taken, tiled_tiff
from tests.helpers import seeds
from tinyvit.data import decoding
from tinyvit.data.decoding import decode
from tinyvit.data.photos import Photo, fit_for, fitted, read_photo, read_photos
from tinyvit.support.errors import UserError

# Orientation.


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tif", "a.webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_photos_are_turned_upright_however_the_camera_was_held(tmp_path, name, orientation):
    image = scene(60, 40)
    image.save(tmp_path / name, exif=taken(image, orientation))
    with Image.open(tmp_path / name) as saved:
        expected = ImageOps.exif_transpose(saved).convert("RGB")
    np.testing.assert_array_equal(read_photo(tmp_path / name, 8).whole, expected)
    assert expected.size == ((60, 40) if orientation < 5 else (40, 60))


@pytest.mark.parametrize(
    "name, exif",
    [("a.webp", b"Exif\0\0nonsense"), ("a.jpg", b"Exif\0\0II*\0\x08\0\0\0\x05\0\x12\x01\x03\0\x01\0")],
    ids=["not EXIF", "cut short"],
)
def test_a_photo_with_damaged_exif_data_is_taken_as_upright(tmp_path, recwarn, name, exif):
    scene(60, 40).save(tmp_path / name, exif=exif)
    assert read_photo(tmp_path / name, 8).whole.shape == (40, 60, 3)
    assert not recwarn.list


# Colours.


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "CMYK", "1", "LA"])
def test_images_of_every_colour_mode_become_rgb(tmp_path, mode):
    Image.new("RGB", (9, 9), (255, 255, 255)).convert(mode).save(tmp_path / "image.tif")
    assert (seen(tmp_path / "image.tif", 4) == 255).all()


def test_sixteen_bits_are_scaled_and_not_cut_off(tmp_path):
    Image.fromarray(np.full((4, 4), 0x8080, np.uint16)).save(tmp_path / "grey.png")
    assert (seen(tmp_path / "grey.png", 4) == 0x80).all()


def test_sixteen_bits_with_a_transparent_grey_are_shown_on_white(tmp_path):
    pixels = np.full((4, 4), 0x8080, np.uint16)
    pixels[:, 2:] = 7
    Image.fromarray(pixels).save(tmp_path / "grey.png", transparency=7)
    found = seen(tmp_path / "grey.png", 4)
    assert (found[:, 0] == 0x80).all() and (found[:, 3] == 255).all()


def test_whole_numbers_of_32_bits_are_refused(tmp_path):
    Image.fromarray(np.arange(16, dtype=np.int32).reshape(4, 4)).save(tmp_path / "grey.tiff")
    with pytest.raises(UserError, match="32-bit numbers of unknown range"):
        seen(tmp_path / "grey.tiff", 4)


LEVELS = np.arange(16) / 15


@pytest.mark.parametrize("orientation", [1, 2])
@pytest.mark.parametrize("big_endian", [False, True])
@pytest.mark.parametrize("white_is_zero", [False, True])
@pytest.mark.parametrize("bits", [8, 12, 16, 32])
@pytest.mark.parametrize("kind", [1, 2], ids=["unsigned", "signed"])
def test_a_grey_tiff_of_any_kind_is_right_or_refused(bits, white_is_zero, kind, big_endian, orientation):
    values = (LEVELS * (2**bits - 1)).round().astype(np.int64)
    values = (values - 2 ** (bits - 1)) % 2**bits if kind == 2 else values
    file = grey_tiff(values, bits, white_is_zero, kind, big_endian, orientation)
    expected = (255 * LEVELS).round()[:: -1 if white_is_zero else 1][:: -1 if orientation == 2 else 1]
    try:
        found = np.asarray(decode(io.BytesIO(file))[0])
    except UserError as error:
        assert "numbers of unknown range" in str(error) or "does not recognise its format" in str(error)
        assert kind == 2 or bits == 32 or big_endian or (bits, white_is_zero) == (12, True)
    else:
        np.testing.assert_array_equal(found, np.repeat(expected[None, :, None], 3, axis=2))


@pytest.mark.parametrize("compression", [None, "tiff_lzw", "tiff_adobe_deflate"])
def test_white_may_be_zero_in_compressed_files_and_in_images_of_pillow(tmp_path, compression):
    pixels = (LEVELS[None] * 65535).astype(np.uint16)
    Image.fromarray(pixels).save(tmp_path / "a.tif", compression=compression, tiffinfo={262: 0})
    with Image.open(tmp_path / "a.tif") as opened:
        for source in (tmp_path / "a.tif", opened):
            assert np.asarray(decode(source)[0])[0, :, 0].tolist() == list(range(255, -1, -17))


def test_numbers_beyond_16_bits_in_an_image_of_pillow_are_refused():
    for numbers in ([0, 65536], [-1, 5]):
        with pytest.raises(UserError, match="32-bit numbers of unknown range"):
            decode(Image.fromarray(np.array([numbers], np.int32)))
    ends, _ = decode(Image.fromarray(np.array([[0, 65535]], np.int32)))
    assert np.asarray(ends)[0, :, 0].tolist() == [0, 255]


def test_floating_point_pixels_are_refused(tmp_path):
    Image.fromarray(np.full((4, 4), 0.5, np.float32)).save(tmp_path / "grey.tiff")
    with pytest.raises(UserError, match="floating-point numbers of unknown range"):
        seen(tmp_path / "grey.tiff", 4)


def half_transparent(mode):
    """8 x 8 pixels: black on the left; black in a file, but transparent, on the right."""
    if mode in ("RGBA", "LA"):
        image = Image.new(mode, (8, 8), (0, 0, 0, 255) if mode == "RGBA" else (0, 255))
        image.paste((0, 0, 0, 0) if mode == "RGBA" else (0, 0), (4, 0, 8, 8))
        return image, {}
    image = Image.new(mode, (8, 8), 0)
    image.paste(1 if mode == "P" else (1, 1, 1), (4, 0, 8, 8))
    if mode == "P":
        image.putpalette([0] * 6)
    return image, {"transparency": 1 if mode == "P" else (1, 1, 1)}


@pytest.mark.parametrize(
    "mode, name", [("RGBA", "a.png"), ("LA", "a.png"), ("P", "a.png"), ("P", "a.gif"), ("RGB", "a.png")]
)
def test_what_is_transparent_lies_on_white(tmp_path, mode, name):
    image, options = half_transparent(mode)
    image.save(tmp_path / name, **options)
    view = seen(tmp_path / name, 8)
    assert (view[:, :4] == 0).all()
    assert (view[:, 4:] == 255).all()


def test_what_is_half_transparent_lets_half_the_white_through(tmp_path):
    Image.new("RGBA", (4, 4), (200, 0, 0, 128)).save(tmp_path / "a.png")
    assert np.abs(seen(tmp_path / "a.png", 4) - np.array([227, 127, 127])).max() <= 1


def test_a_palette_with_several_degrees_of_transparency_is_read_silently(tmp_path, recwarn):
    image = Image.new("P", (4, 4), 1)
    image.putpalette([0] * 9)
    image.save(tmp_path / "a.png", transparency=bytes([0, 128, 255]))
    assert np.abs(seen(tmp_path / "a.png", 4) - 127.0).max() <= 1
    assert not recwarn.list


@pytest.mark.parametrize("name", ["a.gif", "a.png", "a.webp", "a.tif"])
def test_of_an_animation_the_first_picture_is_read(tmp_path, name):
    first, second = (Image.new("RGB", (8, 8), colour) for colour in (RED, BLUE))
    first.save(
        tmp_path / name,
        save_all=True,
        append_images=[second],
        **({"lossless": True} if "webp" in name else {}),
    )
    assert (seen(tmp_path / name, 4) == RED).all()


# Large JPEGs.


def large_jpeg(path, orientation=1, size=(2403, 1607), **options):
    """A file whose sides no reduction divides, and its pixels in full size, upright."""
    image = scene(*size)
    image.save(path, exif=taken(image, orientation), quality=92, **options)
    with Image.open(path) as saved:
        return ImageOps.exif_transpose(saved).convert("RGB")


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("size", [32, (90, 160)])
def test_a_large_jpeg_looks_as_if_it_had_been_decoded_in_full_size(tmp_path, orientation, size):
    full = large_jpeg(tmp_path / "a.jpg", orientation)
    photo = read_photo(tmp_path / "a.jpg", size)
    expected = fitted(fit_for(size, "crop"), full, (0, 0, *full.size))
    assert np.abs(photo.view - np.asarray(expected).astype(int)).mean() < 0.25
    whole = full.resize(photo.whole.shape[1::-1], Image.Resampling.BICUBIC)
    assert np.abs(photo.whole - np.asarray(whole).astype(int)).mean() < 1


@pytest.mark.parametrize("progressive", [False, True])
def test_a_jpeg_is_decoded_at_a_fraction_of_its_size(tmp_path, progressive):
    large_jpeg(tmp_path / "a.jpg", progressive=progressive)
    assert decode(tmp_path / "a.jpg")[0].size == (2403, 1607)
    image, frame = decode(
        tmp_path / "a.jpg", lambda width, height: 4 if (width, height) == (2403, 1607) else 1
    )
    assert image.size == (601, 402)
    assert frame == (0, 0, 2403 / 4, 1607 / 4)
    assert decode(tmp_path / "a.jpg", lambda width, height: 3.99)[0].size == (1202, 804)


def test_the_frame_of_a_jpeg_turned_upright_is_where_its_pixels_went(tmp_path):
    large_jpeg(tmp_path / "a.jpg", orientation=6)  # what was stored at the bottom is on the left
    image, frame = decode(
        tmp_path / "a.jpg", lambda width, height: 4 if (width, height) == (1607, 2403) else 1
    )
    assert image.size == (402, 601)
    assert frame == (402 - 1607 / 4, 0, 402, 2403 / 4)


@pytest.mark.parametrize(
    "size, model, fit, longest",
    [
        ((4004, 2000), 32, "crop", 1001),  # 1/8 would do for the view, not for the whole
        ((4004, 2000), 300, "crop", 2002),  # 1/4 would leave 500 pixels for 300
        ((2000, 4004), 300, "crop", 2002),
        ((4004, 2000), 300, "pad", 1001),  # 1000 for 300
        ((4004, 2000), (300, 32), "squash", 2002),
        ((1400, 900), 32, "crop", 1400),
    ],
)
def test_a_jpeg_is_reduced_only_as_far_as_neither_view_nor_whole_shows_it(
    tmp_path, monkeypatch, size, model, fit, longest
):
    Image.new("RGB", size).save(tmp_path / "a.jpg")
    decoded = []
    monkeypatch.setattr(
        "tinyvit.data.photos.decode", lambda *given: decoded.append(decode(*given)) or decoded[-1]
    )
    read_photo(tmp_path / "a.jpg", model, fit)
    assert max(decoded[0][0].size) == longest


def test_a_small_jpeg_is_decoded_in_full(tmp_path):
    scene(700, 500).save(tmp_path / "a.jpg")
    expected = fitted(fit_for(48, "crop"), Image.open(tmp_path / "a.jpg"), (0, 0, 700, 500))
    np.testing.assert_array_equal(seen(tmp_path / "a.jpg", 48), expected)


def test_a_jpeg_with_another_behind_it_is_read_like_any_other(tmp_path):
    image = scene(2400, 1600)
    image.save(tmp_path / "a.mpo", format="MPO", save_all=True, append_images=[Image.new("RGB", (8, 8), RED)])
    image.save(tmp_path / "a.jpg")
    one, other = (seen(tmp_path / name, 32) for name in ("a.mpo", "a.jpg"))
    np.testing.assert_array_equal(one, other)


# What cannot be read.


def test_an_image_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(UserError, match=r"gone\.png does not exist"):
        seen(tmp_path / "gone.png", 8)


@pytest.mark.parametrize(
    "content, reason",
    [
        (b"", "it is empty: it has 0 bytes"),
        (b"GIF?", "Pillow does not recognise its format"),
        (None, "truncated"),
    ],
)
def test_a_broken_image_is_named_with_the_reason(tmp_path, content, reason):
    scene(64, 64).save(tmp_path / "a.jpg")
    whole = (tmp_path / "a.jpg").read_bytes()
    (tmp_path / "a.jpg").write_bytes(whole[: len(whole) // 2] if content is None else content)
    with pytest.raises(UserError, match=rf"a\.jpg cannot be read as an image \(.*{reason}.*\); remove it"):
        read_photo(tmp_path / "a.jpg", 8)


DAMAGED = ["png", "jpg", "gif", "bmp", "tif", "webp", "dds"] + ["avif"] * features.check("avif")


@given(name=st.sampled_from(DAMAGED), seed=seeds())
def test_a_damaged_image_is_read_or_refused_but_never_a_crash(tmp_path_factory, name, seed):
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.getbasetemp() / f"damaged.{name}"
    image = scene(24, 24)
    image.save(path, exif=taken(image, 6))
    content = bytearray(path.read_bytes())
    for place in rng.integers(len(content), size=3):
        content[place] = rng.integers(256)
    path.write_bytes(content[: rng.integers(len(content) // 2, 2 * len(content))])
    (result,) = read_photos([path], 8)
    assert isinstance(result, Photo | UserError)


def test_a_very_large_image_is_read_silently(tmp_path, monkeypatch, recwarn):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    Image.new("RGB", (40, 40)).save(tmp_path / "a.png")
    seen(tmp_path / "a.png", 4)
    assert next(read_photos([tmp_path / "a.png"], 4)).view.shape == (4, 4, 3)
    assert not recwarn.list


def test_an_enormous_image_is_refused_and_the_limit_named(tmp_path, monkeypatch):
    monkeypatch.setattr(decoding, "MOST_PIXELS", 2000)
    Image.new("RGB", (50, 41)).save(tmp_path / "a.png")
    with pytest.raises(UserError, match=r"a\.png has more than 2,000 pixels.*smaller size"):
        seen(tmp_path / "a.png", 4)


def test_a_program_in_place_of_a_photo_is_never_run(tmp_path, monkeypatch):
    """Pillow gives an EPS file to Ghostscript, whatever its name is."""
    Image.new("RGB", (20, 20)).save(tmp_path / "a.eps")
    (tmp_path / "a.eps").rename(tmp_path / "a.png")
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *args, **keywords: pytest.fail("it was run"))
    with pytest.raises(UserError, match=r"a\.png cannot be read as an image \(Pillow does not recognise"):
        seen(tmp_path / "a.png", 8)


def test_a_progressive_photo_counts_in_full(tmp_path, monkeypatch):
    """It is not decoded at a fraction of its size, but read in full and then reduced."""
    monkeypatch.setattr(decoding, "MOST_PIXELS", 100_000)
    for progressive in (False, True):
        Image.new("RGB", (2400, 80)).save(tmp_path / f"{progressive}.jpg", progressive=progressive)
    assert seen(tmp_path / "False.jpg", 8).shape == (8, 8, 3)
    with pytest.raises(UserError, match="more than 100,000 pixels"):
        seen(tmp_path / "True.jpg", 8)


def test_a_tile_counts_too_which_may_be_far_larger_than_its_image(tmp_path, monkeypatch):
    monkeypatch.setattr(decoding, "MOST_PIXELS", 100_000)
    for side in (256, 512):
        (tmp_path / f"{side}.tif").write_bytes(tiled_tiff(side, side))
    assert seen(tmp_path / "256.tif", 8).shape == (8, 8, 3)
    with pytest.raises(UserError, match="more than 100,000 pixels"):
        seen(tmp_path / "512.tif", 8)


def test_a_header_that_claims_gigabytes_does_not_get_them(tmp_path):
    content = b"\0\0\0\x0cjP  \r\n\x87\n\0\0\0\x14ftypjp2 \0\0\0\0jp2 \x60\0\0\x2djp2h"
    (tmp_path / "a.png").write_bytes(content + bytes(100))
    tracemalloc.start()
    try:
        with pytest.raises(UserError, match=r"a\.png cannot be read as an image"):
            seen(tmp_path / "a.png", 8)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000  # of the 1.6 thousand million that it claims
    finally:
        tracemalloc.stop()


def test_a_texture_that_may_hold_a_photo_of_another_size_is_not_read(tmp_path):
    scene(24, 24).convert("P").save(tmp_path / "a.blp")
    (tmp_path / "a.blp").rename(tmp_path / "a.png")
    with pytest.raises(UserError, match="Pillow does not recognise its format"):
        seen(tmp_path / "a.png", 8)


def test_a_photo_that_does_not_fit_into_memory_is_named(tmp_path, monkeypatch):
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")

    def no_memory(self):
        raise MemoryError

    monkeypatch.setattr(ImageFile.ImageFile, "load", no_memory)
    with pytest.raises(UserError, match=r"a\.png does not fit into memory"):
        seen(tmp_path / "a.png", 8)
