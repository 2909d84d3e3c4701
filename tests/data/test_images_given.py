"""Whatever form an image is given in, the model sees the same pixels."""

import io

import numpy as np
import pytest
from PIL import Image

from tinyvit import ViTClassifier, preset
from tinyvit.data.images_given import pixels_of, source_of
from tinyvit.data.photos import read_photo
from tinyvit.errors import UserError

MODES = ["1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "HSV", "I;16"]


def read(source):
    return read_photo(source, (6, 8), with_whole=False).view


@pytest.fixture
def picture():
    rng = np.random.default_rng(0)
    return Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8))


def test_paths_bytes_open_files_and_images_are_one_and_the_same(tmp_path, picture):
    path = tmp_path / "a.png"
    picture.save(path)
    with open(path, "rb") as file, Image.open(path) as opened:
        kinds = [str(path), path, path.read_bytes(), bytearray(path.read_bytes()), file, picture, opened]
        together = pixels_of(kinds, read)
        opened.load()  # it can still be used
    assert together.shape == (7, 6, 8, 3)
    assert (together == np.asarray(picture)).all()
    assert (pixels_of(iter([path, picture]), read) == np.asarray(picture)).all()


@pytest.mark.parametrize("mode", MODES)
def test_images_of_every_mode_are_seen_as_in_a_file(tmp_path, picture, mode):
    grey = picture.convert("L")
    image = (
        Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
        if mode == "I;16"
        else picture.convert("L" if mode in ("LA", "PA") else mode if mode != "RGBX" else "RGB")
    )
    image = image.convert({"LA": "LA", "PA": "LA", "RGBX": "RGBX"}.get(mode, image.mode))
    seen = read(image)
    expected = grey if mode in ("L", "LA", "PA", "I;16") else image if mode == "1" else picture
    largest = {"P": 130, "CMYK": 2, "YCbCr": 5, "HSV": 8}.get(mode, 0)  # what Pillow's own conversion costs
    assert np.abs(seen.astype(int) - np.asarray(expected.convert("RGB"))).max() <= largest


def test_a_photo_held_sideways_is_turned_and_what_is_transparent_is_white(picture):
    exif = Image.Exif()
    exif[0x0112] = 6
    file = io.BytesIO()
    picture.transpose(Image.Transpose.ROTATE_90).save(file, "PNG", exif=exif)
    file.seek(0)
    with Image.open(file) as opened:
        np.testing.assert_array_equal(read(opened), np.asarray(picture))
    assert (read(Image.new("RGBA", (8, 6), (9, 9, 9, 0))) == 255).all()


def test_grey_arrays_are_images_too():
    grey = np.random.default_rng(0).integers(0, 256, (2, 6, 8), dtype=np.uint8)
    for given in (grey, grey[..., None], np.repeat(grey[..., None], 3, axis=3)):
        np.testing.assert_array_equal(pixels_of(given, read), np.repeat(grey[..., None], 3, axis=3))
    assert pixels_of(grey[0], read).shape == (1, 6, 8, 3)
    assert pixels_of(np.zeros((6, 8, 3), np.uint8), read).shape == (1, 6, 8, 3)


class Tensor:
    """As a tensor of another library, which can or cannot become an array."""

    def __init__(self, error=None):
        self.error = error

    def __array__(self, dtype=None, copy=None):
        if self.error:
            raise self.error
        return np.zeros((2, 6, 8, 3), np.uint8)


def test_tensors_are_arrays_unless_they_say_why_not():
    assert pixels_of(Tensor(), read).shape == (2, 6, 8, 3)
    for error in (RuntimeError("it requires grad"), TypeError("it is on a GPU")):
        with pytest.raises(UserError, match=f"Tensor cannot be read as an array .{error}.: turn it into one"):
            pixels_of(Tensor(error), read)


def test_a_file_opened_as_text_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    with open(tmp_path / "a.txt") as file, pytest.raises(UserError, match="open it with mode 'rb'"):
        source_of(file)
    with pytest.raises(UserError, match="the image cannot be read as an image"):
        pixels_of(b"not an image", read)


def test_models_and_classifiers_take_them(picture):
    model = preset("nano/4", 8, ("a", "b"))
    square = picture.resize((8, 8))
    np.testing.assert_array_equal(model.logits([square]), model.logits(np.asarray(square)))
    photos = [square, Image.new("RGB", (8, 8), "white")] * 2
    classifier = ViTClassifier(epochs=1, threads=1).fit(photos, [0, 1, 0, 1])
    arrays = np.stack([np.asarray(photo) for photo in photos])
    np.testing.assert_array_equal(classifier.predict_proba(photos), classifier.predict_proba(arrays))
    with pytest.raises(ValueError, match="X holds photos of 6 x 8 and of 8 x 8 pixels: resize them"):
        classifier.predict([picture, square])
