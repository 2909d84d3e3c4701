"""The same image twice: in two parts of a data set, where it makes a model look better, or in two classes."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tinyvit.data.dataset import Dataset, ImageSet, Note
from tinyvit.data.parts import PURPOSES, listed

_AT_A_TIME = 500  # images in memory


def without_twins(dataset: Dataset, note: Note, is_again: bool = False) -> Dataset:
    """The same data; the parts that tinyvit has drawn lose the images that an earlier part has too.

    Images are the same if all of their pixels are. A part that would lose all of its images keeps them. note
    receives a line for each kind of twins; if is_again, only for those that are left out now.
    """
    parts: dict[str, Any] = {part: getattr(dataset, part) for part in PURPOSES if getattr(dataset, part)}
    first: dict[bytes, tuple[str, int, str]] = {}  # part, label and name of the first image with these pixels
    torn, left_out = [], dict(dataset.left_out)
    for part, images in parts.items():
        twins: dict[int, tuple[str, str]] = {}  # by their places here: the part of the other, and the names
        for i, digest in enumerate(_digests(images)):
            name = images.names[i] if images.names else f"image {i} {PURPOSES[part]}"
            earlier, label, its_name = first.setdefault(digest, (part, images.labels[i], name))
            if label != images.labels[i]:
                torn.append(f"{its_name} = {name}")
            if earlier != part:
                twins[i] = earlier, f"{name} = {its_name}"
        is_cut = part in dataset.drawn and 0 < len(twins) < len(images)
        for earlier in dict.fromkeys(earlier for earlier, _ in twins.values()):
            pairs = [pair for its_part, pair in twins.values() if its_part == earlier]
            if is_cut or not is_again:
                what = f"images {PURPOSES[part]} that are also there {PURPOSES[earlier]}"
                note(f"{what}: {len(pairs):,}{', left out' * is_cut} ({listed(pairs)})")
        if is_cut:
            parts[part] = images.take(np.setdiff1d(np.arange(len(images)), [*twins]))
            if images.names:
                left_out |= {images.names[i]: f"the same image: {pair}" for i, (_, pair) in twins.items()}
    if torn and not is_again:
        note(f"images that are in two classes: {len(torn):,} ({listed(torn)})")
    return replace(dataset, **parts, left_out=left_out)


def _digests(images: ImageSet) -> Iterator[bytes]:
    """A digest of the pixels of each image, a few of which are read at a time."""
    for start in range(0, len(images), _AT_A_TIME):
        for pixels in np.asarray(images.images[start : start + _AT_A_TIME]):
            yield hashlib.blake2b(pixels, digest_size=16).digest()
