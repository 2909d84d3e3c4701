"""What was seen in a model, as pictures and as numbers."""

from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.api import Model
from tinyvit.insight.distance import save_distance
from tinyvit.insight.draw_attention import save_overlays
from tinyvit.insight.draw_heads import save_heads
from tinyvit.insight.draw_parts import save_parts
from tinyvit.insight.draw_portrait import filters_part, save_portrait
from tinyvit.insight.filters import filter_strengths
from tinyvit.insight.patches import draw_patches, filled_patches
from tinyvit.insight.positions import position_similarity, save_offset_scores, save_similarities
from tinyvit.training.settings import Settings
from tinyvit.visualizing.look import Insight


def draw_picture(picture: str, model: Model, insight: Insight, path: Path, title: str) -> None:
    """Draw one of look.PICTURES, or 'inside', to a PNG at path."""
    draw = {
        "inside": _draw_inside,
        "filters": _draw_filters,
        "positions": _draw_positions,
        "distance": _draw_distance,
        "rollout": _draw_rollout,
        "heads": _draw_heads,
    }[picture]
    draw(model, insight, path, title)


def draw_filled_patches(model: Model, insight: Insight, settings: Settings, path: Path, title: str) -> None:
    """Draw what a model that learned without labels makes of corrupted patches, to a PNG at path."""
    views = [example.view for example in insight.examples]
    assert settings.target, "the model learned without labels"
    what = settings.target, settings.corrupt, settings.seed
    draw_patches(filled_patches(model.config, model.params, np.stack(views), *what), path, title)


def _draw_inside(model: Model, insight: Insight, path: Path, title: str) -> None:
    views = [example.view for example in insight.examples]
    rows = list(zip(views, insight.maps.get("inside", []), insight.captions, strict=False)) or None
    similarity = position_similarity(model.config, model.params)
    save_portrait(model.filters(), similarity, rows, path, title, _reader(model))


def _draw_filters(model: Model, insight: Insight, path: Path, title: str) -> None:
    save_parts([filters_part(model.filters(), _reader(model))], path, title)


def _draw_positions(model: Model, insight: Insight, path: Path, title: str) -> None:
    config = model.config
    if config.position == "relative":
        save_offset_scores(model.offset_scores(), path, title, shared=config.position_at == "shared")
        return
    blocks = range(config.layers if config.position_at == "blocks" and config.position != "sincos" else 1)
    maps = [model.position_similarity(block) for block in blocks]
    save_similarities(maps, path, title, learned=config.position != "sincos")


def _draw_distance(model: Model, insight: Insight, path: Path, title: str) -> None:
    save_distance(insight.distance, model.uniform_distance(), insight.count, path, title)


def _draw_rollout(model: Model, insight: Insight, path: Path, title: str) -> None:
    photos = [example.photo for example in insight.examples]
    save_overlays(list(zip(photos, insight.maps["rollout"], insight.captions, strict=False)), path)


def _draw_heads(model: Model, insight: Insight, path: Path, title: str) -> None:
    views = [example.view for example in insight.examples]
    who = "class token" if model.config.reads_token else "average patch"
    save_heads(list(zip(views, insight.maps["heads"], insight.captions, strict=False)), path, title, who)


def _reader(model: Model) -> str:
    return "root of the ResNet" if model.config.has_resnet else "patch embedding"


DIGITS = 5  # significant digits that are kept


def numbers_of(picture: str, model: Model, insight: Insight) -> dict[str, Any]:
    """The numbers behind one of look.PICTURES, as lists.

    filters     singular_values, filters[i][row][column][channel]
    positions   similarity[r][c][r'][c'], or a list of them if every block has its own;
                offset_scores[block][head][down][right] if positions are relative
    distance    pixels[block][head], uniform, images
    rollout     of each image shares[row][column]
    heads       of each image shares[block][head][row][column]
    """
    if picture == "filters":
        strengths = filter_strengths(model.config, model.params)
        return {"singular_values": _listed(strengths), "filters": _listed(model.filters())}
    if picture == "positions":
        return _positions(model)
    if picture == "distance":
        uniform = _listed(np.float64(model.uniform_distance()))
        return {"pixels": _listed(insight.distance), "uniform": uniform, "images": insight.count}
    pairs = zip(insight.examples, insight.maps[picture], strict=False)
    return {"images": [{"name": example.name, "shares": _listed(shares)} for example, shares in pairs]}


def _positions(model: Model) -> dict[str, Any]:
    config = model.config
    if config.position == "relative":
        return {"offset_scores": _listed(model.offset_scores())}
    if config.position_at != "blocks":
        return {"similarity": _listed(model.position_similarity())}
    return {"similarity": [_listed(model.position_similarity(block)) for block in range(config.layers)]}


def _listed(values: np.ndarray) -> Any:
    """The values as lists of numbers with so many digits."""
    return np.vectorize(lambda x: float(f"{x:.{DIGITS}g}"), otypes=[float])(values).tolist()
