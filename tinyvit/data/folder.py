"""Images in folders, one folder a class, of any size and any format that Pillow reads."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from tinyvit.data.dataset import Dataset, ImageSet
from tinyvit.errors import UserError

LAYOUT = "PATH/train/CLASS/image and PATH/test/CLASS/image, or just PATH/CLASS/image"
_TEST_NAMES = ("test", "val", "valid", "validation")
TEST_SHARE = 0.2  # of the images of each class, where no folder says which are for testing


def load_folder(path: Path, image_size: int, seed: int) -> Dataset:
    """The images below path as a data set of images (n, image_size, image_size, 3).

    Either PATH/train/CLASS/image and PATH/test/CLASS/image (test may be called val, valid or validation), or
    PATH/CLASS/image, of which a fifth of each class is held out for testing, chosen by the seed. Names are
    read in sorted order. Hidden files and files without the extension of an image are passed over.

    Raises UserError if path is no such folder, has fewer than two classes, a class without images or a file
    that is not the image it is named as, or if training and test images differ in their classes.
    """
    if not path.is_dir():
        raise UserError(f"{path} is no folder, expected one with a folder for each class: {LAYOUT}.")
    test_folder = next((path / name for name in _TEST_NAMES if (path / name).is_dir()), None)
    if not test_folder and [entry.name for entry in _visible(path)] == ["train"]:
        raise UserError(f"{path} holds only train: where are the images to test by? Expected {LAYOUT}.")
    if (path / "train").is_dir() and test_folder:
        train, test = _find_images(path / "train"), _find_images(test_folder)
        _check_same_classes(train, path / "train", test, test_folder)
    else:
        train, test = _split(_find_images(path), seed)
    return Dataset(
        path.resolve().name, tuple(train), _read_set(train, image_size), _read_set(test, image_size)
    )


def read_image(path: Path, size: tuple[int, int] | int) -> np.ndarray:
    """One image file as uint8 (height, width, 3); size is (height, width), or one number for a square.

    It is turned upright as its EXIF data say, scaled until it just covers that size, and the centre is cut
    out. Raises UserError if there is no such file or Pillow cannot read it.
    """
    height, width = (size, size) if isinstance(size, int) else size
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # a panorama; far above, an error
            with Image.open(path) as image:
                upright = _eight_bits(ImageOps.exif_transpose(image)).convert("RGB")
                return np.array(ImageOps.fit(upright, (width, height), Image.Resampling.BICUBIC))
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist, expected an image file.") from error
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        # the four ways in which Pillow turns a file down
        raise UserError(
            f"{path} cannot be read as an image ({error}); remove it, or save it again as PNG or JPEG."
        ) from error


def _eight_bits(image: Image.Image) -> Image.Image:
    """The same image with 8 bits a channel: Pillow itself would cut 16-bit greys off at 255."""
    if image.mode.startswith("I"):
        pixels = np.asarray(image).astype(np.float64)
        return Image.fromarray((pixels / 257).round().clip(0, 255).astype(np.uint8))
    if image.mode == "F":
        raise ValueError("its pixels are floating-point numbers of no known range")
    return image


def _find_images(folder: Path) -> dict[str, list[Path]]:
    """The image files of each class, both in sorted order."""
    classes = {entry.name: _image_files(entry) for entry in _visible(folder) if entry.is_dir()}
    if len(classes) < 2:
        found = f"only the class {next(iter(classes))!r}" if classes else "no folder"
        raise UserError(f"{folder} holds {found}, expected at least two class folders: {LAYOUT}.")
    for name, files in classes.items():
        if not files:
            raise UserError(
                f"{folder / name} holds no image, expected at least one; add some or remove the folder."
            )
    return classes


def _image_files(folder: Path) -> list[Path]:
    formats = Image.registered_extensions().items()
    known = {extension for extension, name in formats if name in Image.OPEN}  # others can only be written
    return [entry for entry in _visible(folder) if entry.is_file() and entry.suffix.lower() in known]


def _visible(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def _check_same_classes(train: dict, train_folder: Path, test: dict, test_folder: Path) -> None:
    if odd := sorted(train.keys() ^ test.keys()):
        has, lacks = (train_folder, test_folder) if odd[0] in train else (test_folder, train_folder)
        raise UserError(
            f"{has} has a class {odd[0]!r} that {lacks} has not, expected the same classes in both; "
            "add the missing folder or remove the other."
        )


def _split(classes: dict[str, list[Path]], seed: int) -> tuple[dict, dict]:
    """Training and test files of each class; at least one of either."""
    rng = np.random.Generator(np.random.Philox(seed))
    train, test = {}, {}
    for name, files in classes.items():
        if len(files) < 2:
            raise UserError(
                f"{files[0].parent} holds a single image, expected at least two: "
                "one to learn from, one to test with."
            )
        order = rng.permutation(len(files))
        held_out = max(1, round(TEST_SHARE * len(files)))
        test[name] = [files[i] for i in sorted(order[:held_out])]
        train[name] = [files[i] for i in sorted(order[held_out:])]
    return train, test


def _read_set(classes: dict[str, list[Path]], size: int) -> ImageSet:
    images = [read_image(path, size) for files in classes.values() for path in files]
    labels = np.repeat(np.arange(len(classes), dtype=np.int64), [len(files) for files in classes.values()])
    return ImageSet(np.stack(images), labels)
