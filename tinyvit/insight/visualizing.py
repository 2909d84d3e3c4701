"""The contents of `tinyvit.visualize`: images, and what a model sees in them, as pictures and as numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tinyvit.data import ImageSet, one_of_each
from tinyvit.data.image_files import images_below
from tinyvit.data.photos import Photo, read_photos
from tinyvit.insight.attention import answering_tokens
from tinyvit.insight.filters import filter_strengths
from tinyvit.insight.looking import Looking
from tinyvit.insight.pictures.attention import SeenPhoto, save_distance, save_heads, save_overlays
from tinyvit.insight.pictures.of_runs import draw_patches, filled_patches
from tinyvit.insight.pictures.portrait import (
    filters_part,
    save_offset_scores,
    save_portrait,
    save_similarities,
)
from tinyvit.insight.pictures.sheet import save_parts
from tinyvit.insight.positions import position_similarity
from tinyvit.model import ViTConfig
from tinyvit.support.errors import UserError
from tinyvit.support.figures import short_names
from tinyvit.training.settings import Settings

PICTURES = ("filters", "positions", "distance", "rollout", "heads")
WITHOUT_IMAGES = ("filters", "positions")  # they show what the model is like whatever it sees
BATCH = 32  # photos in memory at a time
DIGITS = 5  # significant digits of printed numbers


# Images to look at.


class Example(NamedTuple):
    """An image as a model sees it, uint8 (h, w, 3), the whole photo, its name, and its class if known."""

    view: np.ndarray
    photo: SeenPhoto
    name: str
    label: int | None = None


class Examples(NamedTuple):
    """Batches of examples, and how many there are in all, counting those that cannot be read.

    unread lists the files that could not be read, once the batches have come that far.
    """

    batches: Iterator[list[Example]]
    total: int
    unread: Sequence[Path] = ()


def examples_of(test: ImageSet, count: int) -> Examples:
    """At most `count` test images, of all classes in turn."""
    chosen = one_of_each(test.labels, count)
    batches = (
        [
            Example(test.images[i], SeenPhoto.seen_whole(test.images[i]), f"test image {i}", test.labels[i])
            for i in chosen[start : start + BATCH]
        ]
        for start in range(0, len(chosen), BATCH)
    )
    return Examples(batches, len(chosen))


def examples_in(model: Looking, words: Sequence[Path]) -> Examples:
    """Image files, and the images in folders, fitted as the model expects.

    One that cannot be read is reported on standard error and left out. Raises UserError if a folder has no
    images, and, when the last has been asked for, if none could be read.
    """
    paths: list[Path] = []
    for word in words:
        images = images_below(word)[0] if word.is_dir() else [word]
        if not images:
            raise UserError(f"{word} contains no images, expected one or more in it or below.")
        paths += images
    unread: list[Path] = []
    return Examples(_batches_in(model, paths, unread), len(paths), unread)


def _batches_in(model: Looking, paths: Sequence[Path], unread: list[Path]) -> Iterator[list[Example]]:
    results = read_photos(paths, model.config.image_size, model.photo_fit)
    named = zip(paths, short_names(paths), results, strict=True)
    while batch := list(islice(named, BATCH)):
        examples = []
        for path, name, result in batch:
            if isinstance(result, Photo):
                assert result.whole is not None, "photos are read with it"
                examples.append(Example(result.view, SeenPhoto(result.whole, result.box, name), name))
            else:
                last = result
                unread.append(path)
                print(f"tinyvit.visualize: error: {result}", file=sys.stderr)
        if examples:
            yield examples
    if len(unread) == len(paths):
        which = "the image could not" if len(paths) == 1 else f"none of {len(paths):,} images could"
        raise UserError(f"{which} be read.") from last


# Looking at them: the distances of all images, and the maps of the first ones.


@dataclass
class Insight:
    """The results for `count` images.

    distances (layers, heads) are their sum over all images. maps are, for each picture of maps, a list with
    an array for each of the first images; examples and captions are those of the first images.
    """

    count: int = 0
    distances: np.ndarray = field(default_factory=lambda: np.zeros(()))
    maps: dict[str, list[np.ndarray]] = field(default_factory=dict)
    examples: list[Example] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)

    @property
    def distance(self) -> np.ndarray:
        """The mean distance of each head: (layers, heads)."""
        return self.distances / self.count

    @property
    def views(self) -> list[np.ndarray]:
        """The first images as the model sees them."""
        return [example.view for example in self.examples]


def needs_images(config: ViTConfig, picture: str) -> bool:
    """True if a picture, one of PICTURES or 'inside', shows how images are seen."""
    return config.has_transformer and picture not in WITHOUT_IMAGES


def why_nothing(config: ViTConfig, picture: str) -> str | None:
    """The reason why such a model has nothing to show in a picture, one of PICTURES; None if it has."""
    if picture in ("filters", "inside"):
        return None
    if not config.has_transformer:
        return "a ResNet has neither positions nor attention"
    if picture == "positions" and config.position in ("none", "bias"):
        return f"with position {config.position}, no vector belongs to a patch"
    return None


def look_inside(model: Looking, batches: Iterable[list[Example]], shown: Mapping[str, int]) -> Insight:
    """See, for each picture in shown, up to this many images: 'distance', 'rollout', 'heads' and 'inside'.

    Only these maps are kept, and of all other images nothing but the sum of distances, so that any number of
    images can be looked at.
    """
    looks = {"rollout": model.rollout, "heads": model.head_maps, "inside": model.attention_map}
    insight = Insight(maps={picture: [] for picture in shown if picture in looks})
    kept = max((shown[picture] for picture in insight.maps), default=0)
    for batch in batches:
        views = np.stack([example.view for example in batch])  # (b, h, w, 3)
        for picture, maps in insight.maps.items():
            if (room := shown[picture] - len(maps)) > 0:
                maps += list(looks[picture](views[:room]))
        if (room := shown.get("distance", 0) - insight.count) > 0:
            distances = model.attention_distance(views[:room])
            insight.distances = insight.distances + distances.sum(axis=0, dtype=np.float64)
            insight.count += len(views[:room])
        if (room := kept - len(insight.examples)) > 0:
            insight.captions += _captions(model, views[:room], batch)
            insight.examples += batch[:room]
        if len(insight.examples) >= kept and insight.count >= shown.get("distance", 0):
            break
    return insight


def _captions(model: Looking, views: np.ndarray, examples: list[Example]) -> list[str]:
    """The model's answer for each view, and the true class where it is known and differs."""
    if not model.has_head:
        return [""] * len(views)
    said = []
    for row, example in zip(model.probabilities(views), examples, strict=False):
        best = row.argmax()
        truth = "" if example.label in (None, best) else f", is {model.names[example.label]}"
        said.append(f"{model.names[best]} {100 * row[best]:.0f}%{truth}")
    return said


# Pictures and numbers.


def draw_picture(picture: str, model: Looking, insight: Insight, path: Path, title: str) -> None:
    """Draw one of PICTURES, or 'inside', to a PNG at path."""
    config = model.config
    reader = "root of the ResNet" if config.has_resnet else "patch embedding"

    def rows(images: Sequence[Any]) -> list[tuple[Any, np.ndarray, str]]:
        return list(zip(images, insight.maps.get(picture, []), insight.captions, strict=False))

    if picture == "inside":
        similarity = position_similarity(config, model.params)
        save_portrait(model.filters(), similarity, rows(insight.views) or None, path, title, reader)
    elif picture == "filters":
        save_parts([filters_part(model.filters(), reader)], path, title)
    elif picture == "positions" and config.position == "relative":
        save_offset_scores(model.offset_scores(), path, title, shared=config.position_at == "shared")
    elif picture == "positions":
        learned = config.position != "sincos"
        blocks = range(config.layers if config.position_at == "blocks" and learned else 1)
        save_similarities([model.position_similarity(block) for block in blocks], path, title, learned)
    elif picture == "distance":
        save_distance(insight.distance, model.uniform_distance(), insight.count, path, title)
    elif picture == "rollout":
        save_overlays(rows([example.photo for example in insight.examples]), path)
    elif picture == "heads":
        save_heads(rows(insight.views), path, title, answering_tokens(config))


def draw_filled_patches(model: Looking, insight: Insight, settings: Settings, path: Path, title: str) -> None:
    """Draw what a model that learned without labels makes of corrupted patches, to a PNG at path."""
    assert settings.target, "the model learned without labels"
    what = settings.target, settings.corrupt, settings.seed
    draw_patches(filled_patches(model.config, model.params, np.stack(insight.views), *what), path, title)


def numbers_of(picture: str, model: Looking, insight: Insight) -> dict[str, Any]:
    """The numbers behind one of PICTURES, as lists.

    filters     singular_values, filters[i][row][column][channel]
    positions   similarity[r][c][r'][c'], or a list of them if every block has its own;
                offset_scores[block][head][down][right] if positions are relative
    distance    pixels[block][head], uniform, images
    rollout     of each image shares[row][column]
    heads       of each image shares[block][head][row][column]
    """
    config = model.config
    if picture == "filters":
        strengths = filter_strengths(config, model.params)
        return {"singular_values": _listed(strengths), "filters": _listed(model.filters())}
    if picture == "positions" and config.position == "relative":
        return {"offset_scores": _listed(model.offset_scores())}
    if picture == "positions" and config.position_at == "blocks":
        return {"similarity": [_listed(model.position_similarity(block)) for block in range(config.layers)]}
    if picture == "positions":
        return {"similarity": _listed(model.position_similarity())}
    if picture == "distance":
        uniform = _listed(np.float64(model.uniform_distance()))
        return {"pixels": _listed(insight.distance), "uniform": uniform, "images": insight.count}
    pairs = zip(insight.examples, insight.maps[picture], strict=False)
    return {"images": [{"name": example.name, "shares": _listed(shares)} for example, shares in pairs]}


def _listed(values: np.ndarray) -> Any:
    """The values as lists of numbers, rounded to this many digits."""
    return np.vectorize(lambda x: float(f"{x:.{DIGITS}g}"), otypes=[float])(values).tolist()
