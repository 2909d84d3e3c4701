"""Photos in folders named by their classes, for judging a model that has those classes."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from tinyvit.data.dataset import ImageSet
from tinyvit.data.folder_files import folders_of_parts, images_by_class
from tinyvit.data.image_files import files_below
from tinyvit.data.photo_fit import PhotoFit
from tinyvit.data.photos import read_photos
from tinyvit.errors import UserError


def read_labelled(
    path: Path,
    split: str,
    classes: Sequence[str],
    size: tuple[int, int],
    fit: PhotoFit | None,
    note: Callable[[str], None],
) -> ImageSet:
    """The images in the folders below path that are named as the classes of a model; labels go by name.

    split is the part of a folder that is split into parts ('train', 'validation' or 'test'), or 'all'. size
    and fit are how photos are fitted (see photos.read_photos). note receives a line for what is left out.
    Raises UserError if path has no such folders, or a folder named as no class.
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
        for name, images in images_by_class(folder, files_below(folder).images).items():
            if images and name not in classes:
                raise UserError(
                    f"{folder} has a folder {name!r}, but the model has no such class, expected some of "
                    f"{', '.join(map(repr, classes))}: rename it, or remove it."
                )
            files += images
            labels += [classes.index(name)] * len(images) if images else []
    if not files:
        raise UserError(f"{path} has no images in folders named by their classes, expected PATH/CLASS/image.")
    seen = []
    with closing(read_photos(files, size, fit, with_whole=False)) as photos:
        for file, label, photo in zip(files, labels, photos, strict=True):
            if isinstance(photo, UserError):
                note(f"left out: {photo}")
            else:
                seen.append((photo.view, label, str(file.relative_to(path))))
    if not seen:
        raise UserError(
            f"none of the {len(files):,} images in {path} can be read: replace them, or give another "
            "--data-dir."
        )
    views, known, names = zip(*seen, strict=True)
    return ImageSet(np.stack(views), np.array(known, np.int64), names)
