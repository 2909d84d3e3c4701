"""Images and labels in one .npz file, as numpy.savez writes it and keras and MedMNIST give it.

The arrays are called x and y, or x_train, y_train, x_test, y_test; also train_images, train_labels and so on,
and val, valid or validation for a third part. Images are (n, H, W), (n, H, W, 1) or (n, H, W, 3), whole
numbers from 0 to 255 or fractions from 0 to 1; labels are whole numbers or text (also as bytes in UTF-8), and
classes, if it is there, has their names.
"""

import hashlib
from pathlib import Path

import numpy as np
from PIL import Image

from tinyvit.data.dataset import Dataset, Note
from tinyvit.data.images_given import FEW, as_bytes, darkness
from tinyvit.data.parts import Given, dataset_of, is_missing, listed, part_called, splits
from tinyvit.data.photos import read_photo
from tinyvit.support.errors import UserError
from tinyvit.support.files.npz import read_npz

NAMES = "x and y, or x_train, y_train and perhaps x_test, y_test, x_val, y_val"
_REMEDY = f"Save the arrays again with numpy.savez, as {NAMES}."
_KINDS = {"x": ("x", "image", "images"), "y": ("y", "label", "labels")}


def load_arrays(path: Path, image_size: int | None, seed: int, note: Note) -> Dataset:
    """The data set in an .npz file: images (n, H, H, 3), or (n, image_size, image_size, 3) if that is given.

    Nothing is ever unpickled. Raises UserError if the file has no such arrays, or they do not fit together.
    """
    arrays = read_npz(path, _REMEDY, with_bytes=True)
    found = _by_part(path, arrays)
    given: dict[str, Given] = {}
    for part, pair in found.items():
        if pair.keys() != {"x", "y"}:
            lacking = "labels" if "x" in pair else "images"
            raise UserError(f"{path} has {min(pair.values())!r}, but not its {lacking}, expected {NAMES}.")
        images, labels = _pixels(path, pair["x"], arrays), _labels(path, pair["y"], arrays)
        if len(images) != len(labels):
            raise UserError(
                f"{path} has {len(images):,} images and {len(labels):,} labels in {part}, expected a "
                "label for each image."
            )
        given[part] = _sized(path, images, image_size), labels, ()
    used = {"classes", *(name for pair in found.values() for name in pair.values())}
    if others := sorted(arrays.keys() - used):
        note(f"left out the arrays {listed(map(repr, others))}: they are neither images nor labels")
    classes = [*map(str, _text(path, "classes", np.ravel(arrays.get("classes", []))))]
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].shape} {arrays[name].dtype}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return dataset_of(path, given, classes, seed, digest.hexdigest(), note)


def _by_part(path: Path, arrays: dict[str, np.ndarray]) -> dict[str, dict[str, str]]:
    """For each part, which arrays are its images, 'x', and its labels, 'y'."""
    found: dict[str, dict[str, str]] = {}
    for name in arrays:
        words = name.lower().split("_")
        for kind, spellings in _KINDS.items():
            rest = [word for word in words if word not in spellings]
            part = part_called(rest[0]) if rest else "train"
            if len(rest) == len(words) - 1 and len(rest) < 2 and part:
                if kind in found.setdefault(part, {}):
                    raise UserError(f"{path} has both {found[part][kind]!r} and {name!r}, expected {NAMES}.")
                found[part][kind] = name
    if splitting := [name for name in arrays if splits(name)]:
        raise UserError(
            f"{path} has an array {splitting[0]!r}, expected the parts in arrays of their own, {NAMES}: save "
            "them so, or leave it out."
        )
    if not found:
        raise UserError(f"{path} has the arrays {', '.join(map(repr, arrays)) or 'none'}, expected {NAMES}.")
    return found


def _pixels(path: Path, name: str, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Images uint8 (n, H, W, 3)."""
    images = arrays[name]
    images = images[..., None] if images.ndim == 3 else images
    if images.ndim != 4 or images.shape[3] not in (1, 3) or not images.size:
        raise UserError(
            f"{path} has {name!r} of shape {arrays[name].shape}, expected images (n, H, W), (n, H, W, 1) or "
            "(n, H, W, 3), at least one."
        )
    pixels = as_bytes(images, f"the images {name!r} in {path}")
    if why := darkness(pixels, FEW):
        raise UserError(f"{path} has {name!r}, but {why}.")
    return np.ascontiguousarray(np.broadcast_to(pixels, (*images.shape[:3], 3)))


def _labels(path: Path, name: str, arrays: dict[str, np.ndarray]) -> np.ndarray:
    labels = _text(path, name, arrays[name])
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.ndim != 1 or labels.dtype.kind not in "iuU":
        raise UserError(
            f"{path} has {name!r} of shape {arrays[name].shape} and dtype {labels.dtype}, expected labels "
            "(n,), whole numbers or text."
        )
    if labels.dtype.kind == "U" and (missing := sum(map(is_missing, labels.tolist()))):
        raise UserError(f"{path} has {name!r} with {missing:,} empty labels: leave these images out.")
    return labels


def _text(path: Path, name: str, values: np.ndarray) -> np.ndarray:
    """Bytes as text in UTF-8; other arrays as they are."""
    try:
        text_array = np.char.decode(values, "utf-8") if values.dtype.kind == "S" else values
        if text_array.dtype.kind == "U":
            [text.lower() for text in text_array.ravel().tolist()]
    except (UnicodeDecodeError, SystemError) as error:  # the latter of a number that is no character
        raise UserError(f"{path} has {name!r} that is no text ({error}): save it again.") from None
    return text_array


def _sized(path: Path, images: np.ndarray, image_size: int | None) -> np.ndarray:
    """Square images of that size, or of the size that they have."""
    if image_size is None and images.shape[1] != images.shape[2]:
        raise UserError(
            f"{path} has images of {images.shape[1]} x {images.shape[2]} pixels, expected square ones: give "
            "--image-size N to have them scaled, and cut to a square."
        )
    if image_size is None or images.shape[1:3] == (image_size, image_size):
        return images
    return np.stack([read_photo(Image.fromarray(each), image_size, with_whole=False).view for each in images])
