"""What the position embeddings have learned about the plane (ViT Figure 7, centre): their similarities.

Position i has a learned vector e_i. The model is not told that the patches form a grid. Whether it has
learned so is shown by the cosines

    similarity(i, j) = e_i . e_j / (|e_i| |e_j|)                                           (1)

arranged like the patches: neighbouring positions, and those in the same row or column, should be similar. In
a model that adds positions before every block, they are those of the first, since the figure in the paper
shows positions that are added there.

In a model with relative positions, a head by itself gives something to offsets between patches (ViT D.4).
A query q_i scores the offset d to token j with its vector r_d: S_ij = q_i . r_d / sqrt(K), beside the product
with the key (see ops.relative_scores). The normalised token that makes q_i is n_i w + b, and n_i differs from
token to token. What is left for n_i = 0 depends on no token, and so it is what the head has learned about
places alone:

    q = b Wq + bq        score(d) = q . r_d / sqrt(K)

Tokens are numbered row by row, so a patch a rows down and b columns to the right of the query's is i - j =
-(a gw + b) away. Two such places share one offset, and one score, where a row ends: in a grid of 8 columns, 7
to the right is also 1 down and 1 to the left.
"""

import math
import os
from collections.abc import Sequence

import numpy as np

from tinyvit.backend import to_numpy
from tinyvit.insight.draw_parts import HEAD, Part, save_parts
from tinyvit.model import Params, ViTConfig
from tinyvit.model.later.biases import attention_weights
from tinyvit.model.later.positions import part_of, position_table
from tinyvit.pictures.colours import QUIET, heat_colours
from tinyvit.pictures.sheet import Sheet
from tinyvit.pictures.text import text_width


def position_similarity(config: ViTConfig, params: Params, block: int = 0) -> np.ndarray | None:
    """The cosine similarity of every pair of patch positions: (gh, gw, gh, gw), 1 on the diagonal.

    [r, c] is the map for the patch in row r and column c. The class token's position is omitted. block is
    the one whose positions these are, if every block has its own. Returns None if no vector belongs to a
    patch: without positions, and with relative ones.
    """
    table = position_table(config, params, None if config.position_at == "stem" else block)
    if table is None:
        return None
    e = to_numpy(table).astype(np.float64)[config.prefix :]  # (T, D)
    e = e / np.maximum(np.linalg.norm(e, axis=1, keepdims=True), 1e-12)
    return (e @ e.T).reshape(*config.grid, *config.grid)  #                                  eq. 1


def offset_scores(config: ViTConfig, params: Params) -> np.ndarray | None:
    """The score of every offset in the plane: (layers, heads, 2 gh - 1, 2 gw - 1), the query in the middle.

    Returns None for a model without relative positions. In a new model all scores are 0.
    """
    if config.position != "relative":
        return None
    (gh, gw), N, H = config.grid, config.tokens, config.heads
    a, b = np.arange(1 - gh, gh)[:, None], np.arange(1 - gw, gw)
    rows = N - 1 + a * gw + b  # of the table, in which row m has offset N - 1 - m
    return np.stack([_scores(config, params, i, H)[:, rows] for i in range(config.layers)])


def _scores(config: ViTConfig, params: Params, i: int, H: int) -> np.ndarray:
    """Eq. 1 for every row of the table of block i: (H, 2N - 1)."""
    D = config.width
    _, b = (to_numpy(part).astype(np.float64) for part in params.group(f"blocks.{i}.norm1"))
    arrays = attention_weights(config, params, f"blocks.{i}")[:2]
    weight, bias = (to_numpy(array).astype(np.float64) for array in arrays)
    q = (b @ weight[:, :D] + bias[:D]).reshape(H, -1)  # (H, K)
    table = to_numpy(params[part_of(config, i)]).astype(np.float64)  # (2N - 1, K)
    return q @ table.T / math.sqrt(q.shape[1])


SIDE, SMALL_SIDE = 760, 380  # about how large the maps of a table are together, alone and beside others
SPACE = 3  # between the maps of two patches
LABEL, BETWEEN = 26, 24  # above a table, or a map of offsets, and around it


def save_similarities(
    similarities: Sequence[np.ndarray], path: str | os.PathLike[str], title: str, learned: bool = True
) -> None:
    """Draw position similarities (gh, gw, gh, gw), one for each block if there are several, to a PNG.

    Raises UserError if the picture cannot be written.
    """
    several = len(similarities) > 1
    low = min(1 - 1e-6, *(float(similarity.min()) for similarity in similarities))
    tiles = [_grid_of_maps(one, low, SMALL_SIDE if several else SIDE) for one in similarities]
    labels = [f"block {i + 1}" if several else "" for i in range(len(tiles))]
    name = "position embedding" if learned else "position embedding, fixed"
    meaning = "a map for each patch: the cosine of its position with every other"
    part = _tiled(name, meaning, tiles, labels, f"cosine {low:.2f}", "1", math.ceil(math.sqrt(len(tiles))))
    save_parts([part], path, title)


def save_offset_scores(
    scores: np.ndarray, path: str | os.PathLike[str], title: str, shared: bool = False
) -> None:
    """Draw the scores of offsets (layers, heads, 2 gh - 1, 2 gw - 1) to a PNG: a map for each head.

    shared says that all blocks read the same table of offsets. Raises UserError if the picture cannot be
    written.
    """
    layers, heads, h, w = scores.shape
    most = max(float(np.abs(scores).max()), 1e-12)
    pixels = max(1, 110 // max(h, w))
    shares = 0.5 + scores.reshape(-1, h, w) / (2 * most)
    tiles = [heat_colours(share).repeat(pixels, axis=0).repeat(pixels, axis=1) for share in shares]
    labels = [f"block {i + 1}, head {j + 1}" for i in range(layers) for j in range(heads)]
    meaning = "what each head gives to a key's place by itself; the query is in the middle"
    name = "relative positions, one table for all blocks" if shared else "relative positions"
    part = _tiled(name, meaning, tiles, labels, f"score {-most:.2g}", f"{most:.2g}", heads)
    save_parts([part], path, title)


def _grid_of_maps(similarity: np.ndarray, low: float, side: int) -> np.ndarray:
    """The maps of all patches, laid out like the patches: uint8 (height, width, 3)."""
    gh, gw = similarity.shape[:2]
    pixels = max(1, math.ceil(side / max(gh, gw) ** 2))  # a side of each patch in a map
    colours = heat_colours((similarity - low) / (1 - low))  # (gh, gw, gh, gw, 3)
    colours = colours.repeat(pixels, axis=2).repeat(pixels, axis=3)
    framed = np.full((gh, gw, gh * pixels + SPACE, gw * pixels + SPACE, 3), 255, np.uint8)
    framed[:, :, :-SPACE, :-SPACE] = colours
    return framed.transpose(0, 2, 1, 3, 4).reshape(gh * framed.shape[2], gw * framed.shape[3], 3)


def _tiled(
    name: str, meaning: str, tiles: list[np.ndarray], labels: list[str], low: str, high: str, columns: int
) -> Part:
    """Pictures of one size in rows, each below its label, and the scale of their colours."""
    height, width = tiles[0].shape[:2]
    above = LABEL if any(labels) else 0
    across = max([width, *(math.ceil(text_width(label, 13)) for label in labels)]) + BETWEEN
    down = above + height + (BETWEEN if len(tiles) > 1 else 0)
    whole = max(across * columns - BETWEEN, 240), down * math.ceil(len(tiles) / columns)

    def draw(sheet: Sheet, left: int) -> None:
        for i, (tile, label) in enumerate(zip(tiles, labels, strict=True)):
            x, y = left + i % columns * across, HEAD + i // columns * down
            sheet.text(x, y + LABEL / 2, label, 13, QUIET, "lm")
            sheet.image(x, y + above, tile)
        draw_scale(sheet, left, HEAD + whole[1] + 16, min(whole[0], 420), low, high)

    return Part(name, meaning, *whole, draw)


def draw_scale(sheet: Sheet, left: int, top: int, width: int, low: str, high: str) -> None:
    """Draw the heat colours in a bar between the words for its two ends, width points in all."""
    start = left + math.ceil(text_width(low, 14)) + 12
    stop = left + width - math.ceil(text_width(high, 14)) - 12
    sheet.image(start, top, heat_colours(np.linspace(0, 1, max(stop - start, 2)))[None].repeat(12, axis=0))
    sheet.text(left, top + 6, low, 14, QUIET, "lm")
    sheet.text(left + width, top + 6, high, 14, QUIET, "rm")
