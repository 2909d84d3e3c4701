"""Looking at images through a model: the distances of all of them, and the maps of the first ones."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from tinyvit.api import Model
from tinyvit.model import ViTConfig
from tinyvit.visualizing.examples import Example

PICTURES = ("filters", "positions", "distance", "rollout", "heads")
WITHOUT_IMAGES = ("filters", "positions")  # they show what the model is like whatever it sees


@dataclass
class Insight:
    """What was seen with `count` images.

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


def needs_images(config: ViTConfig, picture: str) -> bool:
    """Whether a picture, one of PICTURES or 'inside', shows how images are seen."""
    return config.has_transformer and picture not in WITHOUT_IMAGES


def why_nothing(config: ViTConfig, picture: str) -> str | None:
    """Why there is nothing to show in a picture, one of PICTURES, of such a model; None if there is."""
    if picture in ("filters", "inside"):
        return None
    if not config.has_transformer:
        return "a ResNet has neither positions nor attention"
    if picture == "positions" and config.position == "none":
        return "with position none, no vector belongs to a patch"
    return None


def look_inside(model: Model, batches: Iterable[list[Example]], shown: Mapping[str, int]) -> Insight:
    """See, for each picture in shown, up to so many images: 'distance', 'rollout', 'heads' and 'inside'.

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


def _captions(model: Model, views: np.ndarray, examples: list[Example]) -> list[str]:
    """What the model says of each view, and what it is if that is known to be something else."""
    if not model.has_head:
        return [""] * len(views)
    said = []
    for row, example in zip(model.probabilities(views), examples, strict=False):
        best = row.argmax()
        truth = "" if example.label in (None, best) else f", is {model.names[example.label]}"
        said.append(f"{model.names[best]} {100 * row[best]:.0f}%{truth}")
    return said
