"""The images that a model is looked at with: test images of a run, or any image files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tinyvit.api import Model
from tinyvit.data import ImageSet, one_of_each
from tinyvit.data.image_files import images_below
from tinyvit.data.photos import Photo, read_photos
from tinyvit.errors import UserError
from tinyvit.insight.draw_attention import SeenPhoto
from tinyvit.shell.figures import short_names

BATCH = 32  # photos in memory at a time


class Examples(NamedTuple):
    """Batches of examples, and how many there are in all, counting those that cannot be read.

    unread lists the files that could not be read, once the batches have come that far.
    """

    batches: Iterator[list[Example]]
    total: int
    unread: Sequence[Path] = ()


class Example(NamedTuple):
    """An image as a model sees it, uint8 (h, w, 3), the whole photo, its name, and its class if known."""

    view: np.ndarray
    photo: SeenPhoto
    name: str
    label: int | None = None


def examples_of(test: ImageSet, count: int) -> Examples:
    """At most `count` test images, of all classes in turn."""
    chosen = one_of_each(test.labels, count)
    return Examples(_batches_of(test, chosen), len(chosen))


def examples_in(model: Model, words: Sequence[Path]) -> Examples:
    """Image files, and the images in folders, fitted as the model expects.

    One that cannot be read is reported on standard error and left out. Raises UserError if a folder has no
    images, and, when the last has been asked for, if none could be read.
    """
    paths = _files_among(words)
    unread: list[Path] = []
    return Examples(_batches_in(model, paths, unread), len(paths), unread)


def _batches_of(test: ImageSet, chosen: np.ndarray) -> Iterator[list[Example]]:
    for start in range(0, len(chosen), BATCH):
        indices = chosen[start : start + BATCH]
        yield [
            Example(test.images[i], SeenPhoto.seen_whole(test.images[i]), f"test image {i}", test.labels[i])
            for i in indices
        ]


def _files_among(words: Sequence[Path]) -> list[Path]:
    paths = []
    for word in words:
        if not word.is_dir():
            paths.append(word)
        elif images := images_below(word)[0]:
            paths += images
        else:
            raise UserError(f"{word} contains no images, expected one or more in it or below.")
    return paths


def _batches_in(model: Model, paths: Sequence[Path], unread: list[Path]) -> Iterator[list[Example]]:
    results = read_photos(paths, model.config.image_size, model.photo_fit)
    names = zip(paths, short_names(paths), strict=True)
    while batch := list(islice(results, BATCH)):
        examples = []
        for result in batch:
            path, name = next(names)
            if isinstance(result, Photo):
                assert result.whole is not None, "photos are read with it"
                photo = SeenPhoto(result.whole, result.box, name)
                examples.append(Example(result.view, photo, name))
            else:
                last = result
                unread.append(path)
                print(f"tinyvit.visualize: error: {result}", file=sys.stderr)
        if examples:
            yield examples
    if len(unread) == len(paths):
        which = "the image could not" if len(paths) == 1 else f"none of {len(paths):,} images could"
        raise UserError(f"{which} be read.") from last
