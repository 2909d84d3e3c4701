"""Whatever form an image is given in, the model sees the same pixels."""

import io

import numpy as np
import pytest
from PIL import Image

from tinyvit import ViTClassifier, preset
from tinyvit.data.images_given import pixels_of, source_of
from tinyvit.data.photos import read_photo
from tinyvit.support.errors import UserError

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
    content = path.read_bytes()
    with open(path, "rb") as file, Image.open(path) as opened:
        kinds = [str(path), path, content, bytearray(content), io.BytesIO(content), file, picture, opened]
        together = pixels_of(kinds, read)
        opened.load()  # it can still be used
        for kind in kinds:  # alone, an open file would give its lines to whatever iterates over it
            if hasattr(kind, "seek"):
                kind.seek(0)
            assert (pixels_of(kind, read) == np.asarray(picture)).all()
    assert together.shape == (8, 6, 8, 3)
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


ASKED = (
    *("predict", "probabilities", "logits", "features", "attention", "attention_map", "head_maps", "rollout"),
    "attention_distance",
)


@pytest.mark.parametrize("ask", ASKED)
def test_one_image_is_one_image_or_refused_whatever_looks_at_it(ask):
    model = preset("nano/2", (6, 8), ("a", "b"), threads=1)
    colour = np.random.default_rng(0).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    grey = colour[..., :1]
    for given, batch in (
        *((colour, colour[None]), (list(colour[None]), colour[None])),
        *((grey, grey[None]), (grey[..., 0], grey[None]), (grey[None, ..., 0], grey[None])),
    ):
        expected = getattr(model, ask)(batch)
        np.testing.assert_array_equal(getattr(model, ask)(given), expected)
        assert len(expected) == 1
    four = np.concatenate([colour, grey], axis=2)
    for given in (colour.transpose(2, 0, 1), four, four.transpose(2, 0, 1), four[..., 2:]):
        for wrong in (given, given[None], [given], [given] * 2):
            with pytest.raises(
                UserError, match=r"have shape .*, (expected|which may be) .*numpy\.moveaxis\("
            ):
                getattr(model, ask)(wrong)
    three = [grey[..., 0]] * 3
    assert len(getattr(model, ask)(three)) == 3, "a list says that they are several"
    with pytest.raises(UserError, match="which may be several grey ones, or one with channels"):
        getattr(model, ask)(np.array(three))
    with pytest.raises(UserError, match=r"may be rows of pixels .*expected x.reshape\(-1, 6, 8\)"):
        getattr(model, ask)(colour.reshape(1, -1))


class Column(list):
    """As a column of pandas: a sequence that is no list to NumPy, with a dtype and one axis."""

    dtype, ndim = np.dtype(object), 1


@pytest.mark.parametrize("form", [np.array, lambda x: np.array(x, object), Column, tuple], ids=range(4))
def test_an_array_or_a_column_of_paths_is_a_list_of_photos(tmp_path, picture, form):
    paths = [str(tmp_path / f"{i}.png") for i in range(4)]
    for i, path in enumerate(paths):
        picture.rotate(90 * i).save(path)
    model = preset("nano/2", (6, 8), ("a", "b"), threads=1)
    given = form(paths)
    np.testing.assert_array_equal(model.logits(given), model.logits(paths))
    classifier = ViTClassifier(epochs=1, threads=1).fit(given, [0, 1, 0, 1])
    np.testing.assert_array_equal(classifier.predict_proba(given), classifier.predict_proba(paths))
    labels = form(["a", "b", "a", "b"])
    assert model.score(given, labels) in (0, 0.25, 0.5, 0.75, 1)


def test_a_column_of_pandas_is_a_list_of_photos(tmp_path, picture):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    picture.save(tmp_path / "a.png")
    paths = [str(tmp_path / "a.png")] * 2
    table = pandas.DataFrame({"file": paths, "y": ["a", "b"]})
    model = preset("nano/2", (6, 8), ("a", "b"), threads=1)
    for column in (table.file, table.file.astype("string"), table.file.to_numpy(), pandas.Index(paths)):
        np.testing.assert_array_equal(model.logits(column), model.logits(paths))
    assert ViTClassifier(epochs=1, threads=1).fit(table.file, table.y).classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("address", ["https://example.org/a.png", "http://x/a.png", "s3://bucket/a.png"])
def test_an_address_is_to_be_downloaded_first(address):
    model = preset("nano/2", (6, 8), ("a", "b"), threads=1)
    for photos in (address, [address], np.array([address])):
        with pytest.raises(UserError, match=r"a\.png is an address: download it, and give the file"):
            model.predict(photos)
        with pytest.raises(ValueError, match=r"a\.png is an address: download it"):
            ViTClassifier(threads=1).fit(photos, [0])


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
