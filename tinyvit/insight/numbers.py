"""The numbers behind every picture of a model, for a JSON file."""

from typing import Any

import numpy as np

from tinyvit.analysis.filters import filter_strengths
from tinyvit.front import Model
from tinyvit.insight.look import Insight

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
