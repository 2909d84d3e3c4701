"""Photos in folders named by their classes, for judging a model that has those classes."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.data.dataset import ImageSet, Rows
from tinyvit.data.folder_files import beside_classes, folders_of_parts, images_by_class, name_below
from tinyvit.data.image_files import files_below
from tinyvit.data.photo_fit import PhotoFit
from tinyvit.data.photos import read_photos
from tinyvit.errors import UserError, nearest


class PhotoArray:
    """Photos as an array (n, H, W, 3) that is decoded where it is indexed, so that few are in memory.

    errors has a message for each photo that could not be read, by its index, once it has been asked for; its
    pixels are zeros. highest, uint8 (n, 1), has the highest value of each that has been read.
    """

    def __init__(self, files: Sequence[Path], size: tuple[int, int], fit: PhotoFit | None):
        self.shape, self.dtype, self.ndim = (len(files), *size, 3), np.dtype(np.uint8), 4
        self.errors: dict[int, str] = {}
        self.highest = np.zeros((len(files), 1), np.uint8)
        self._files, self._fit = files, fit

    def __getitem__(self, key: Any) -> np.ndarray:
        rows = np.atleast_1d(key).tolist()
        views = np.zeros((len(rows), *self.shape[1:]), np.uint8)
        files = (self._files[row] for row in rows)
        with closing(read_photos(files, self.shape[1:3], self._fit, with_whole=False)) as photos:
            for i, (row, photo) in enumerate(zip(rows, photos, strict=True)):
                if isinstance(photo, UserError):
                    self.errors[row] = str(photo)
                else:
                    views[i], self.highest[row] = photo.view, photo.view.max()
        return views if np.ndim(key) else views[0]


def read_labelled(
    path: Path,
    split: str,
    classes: Sequence[str],
    size: tuple[int, int],
    fit: PhotoFit | None,
    note: Callable[[str], None],
) -> tuple[ImageSet, PhotoArray]:
    """The images in the folders below path that are named as the classes of a model; labels go by name.

    split is the part of a folder that is split into parts ('train', 'validation' or 'test'), or 'all'. size
    and fit are how photos are fitted (see photos.read_photos). note receives a line for what is left out.
    Images are decoded when they are used; the array then knows those that cannot be read. Raises UserError if
    path has no such folders, or a folder named as no class.
    """
    if not path.is_dir():
        raise UserError(f"{path} is not a folder, expected one with a folder for each class.")
    folders = folders_of_parts(path)
    if split != "all" and split not in folders:
        raise UserError(f"{path} has no folder of {split} images: choose --split all.")
    wanted = list(folders.values()) if split == "all" else [folders[split]]
    files: list[Path] = []
    labels: list[int] = []
    for folder in wanted:
        below = files_below(folder)
        for name, images in images_by_class(folder, below.images).items():
            if images and name not in classes:
                raise UserError(
                    f"{folder} has a folder {name!r}, but the model has no such class, expected some of "
                    f"{nearest(repr(name), [*map(repr, classes)])}: rename it, or remove it."
                )
            files += images
            labels += [classes.index(name)] * len(images) if images else []
        for file, why in below.unusable.items():
            note(f"left out {file}: {why}")
        if loose := sum(file.parent == folder for file in below.images):
            note(beside_classes(folder, loose))
    if not files:
        raise UserError(f"{path} has no images in folders named by their classes, expected PATH/CLASS/image.")
    photos = PhotoArray(files, size, fit)
    names = tuple(name_below(path, file) for file in files)
    return ImageSet(Rows(photos, range(len(files))), np.array(labels, np.int64), names), photos
