"""Every picture of a model by its name, drawn from the model and what was seen with it."""

from pathlib import Path

import numpy as np

from tinyvit.analysis.filled_patches import filled_patches
from tinyvit.analysis.position_similarity import position_similarity
from tinyvit.front import Model
from tinyvit.insight.look import Insight
from tinyvit.pictures.attention import save_overlays
from tinyvit.pictures.distance import save_distance
from tinyvit.pictures.heads import save_heads
from tinyvit.pictures.parts import save_parts
from tinyvit.pictures.patches import draw_patches
from tinyvit.pictures.portrait import filters_part, save_portrait
from tinyvit.pictures.positions import save_offset_scores, save_similarities
from tinyvit.runs.settings import Settings


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
    who = "class token" if model.config.has_token else "average patch"
    save_heads(list(zip(views, insight.maps["heads"], insight.captions, strict=False)), path, title, who)


def _reader(model: Model) -> str:
    return "root of the ResNet" if model.config.has_resnet else "patch embedding"
