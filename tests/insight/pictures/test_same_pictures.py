"""Every kind of picture looks as it did: reduced to a few cells, it is compared with the one that is stored.

After a change on purpose, look at the pictures and store them:

    python -m tests.insight.pictures.test_same_pictures
"""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tinyvit.insight.pictures.attention import SeenPhoto, save_distance, save_heads, save_overlays
from tinyvit.insight.pictures.curves import draw_comparison, draw_curves
from tinyvit.insight.pictures.evaluation import Mistake, draw_confusion, draw_mistakes, draw_reliability
from tinyvit.insight.pictures.of_runs import COLUMNS, draw_augmentation, draw_patches
from tinyvit.insight.pictures.portrait import save_offset_scores, save_portrait, save_similarities
from tinyvit.insight.pictures.study import Found, draw_lines, draw_rows
from tinyvit.training.evaluation import reliability

STORED = Path(__file__).with_name("same_pictures.npz")
CELLS = 48, 32  # across and down


def values(*shape):
    """Numbers from 0 to 1 without any order, the same with every version of NumPy."""
    return (np.arange(1, np.prod(shape) + 1) * 0.6180339887 % 1).reshape(shape)


def image(height, width, seed=0):
    return (255 * values(height + seed, width, 3)[seed:]).astype(np.uint8)


RECORDS = [
    {"epoch": e, "step": 9 * e, "train_loss": 2 / e, "test_loss": 1 + 1 / e, "val_loss": 1.1 + 0.9 / e}
    | {
        "test_accuracy": 0.1 * e,
        "val_accuracy": 0.15 * e,
        "lr": 1e-3 / e,
        "seconds": 7.0 * e,
        "grad_norm": 1.0,
    }
    for e in range(1, 6)
]
HEADS = [(image(32, 24, i), values(2, 3, 4, 3) / 6, f"heart {9 * i}%") for i in (1, 2)]
PAIRS = [(image(32, 32, i), values(4, 4) ** 3, f"heart {9 * i}%") for i in (1, 2, 3)]
SIMILARITY = 2 * values(4, 4, 4, 4) - 1
FOUND = [
    Found("small", [0.5, 0.55], ["depth"], 1e3),
    Found("large", [0.7, 0.6, 0.65], ["depth", "width"], 4e4),
    Found("wide", [0.62], ["width"], 1e3),
    Found("level", [0.58]),
]
TABLE = reliability(np.stack([values(90), 1 - values(90)], axis=1), np.arange(90) % 3 // 2)
COUNTS = np.array([[5, 3, 0], [1, 11, 2], [0, 0, 0]])
FILTERS = values(7, 4, 4, 3) - 0.5
PATCHES = (255 * values(2, len(COLUMNS), 16, 24, 3)).astype(np.uint8)
PHOTOS = [SeenPhoto.seen_whole(image(40, 30, i), f"photo-{i}.jpg") for i in (1, 2)]
MISTAKES = [Mistake(image(32, 20, i), "heart", 0.9 - 0.2 * i, "disc", "a.png" * i) for i in range(3)]
DRAWINGS = {
    "distance": lambda p: save_distance(9 * values(3, 2), 5.0, 1200, p, "a title"),
    "distance in one image": lambda p: save_distance(9 * values(3, 2), 5.0, 1, p, "a title"),
    "heads": lambda p: save_heads(HEADS, p, "a title", "class token"),
    "overlays": lambda p: save_overlays([(each, values(4, 3) ** 4, "cat 7%") for each in PHOTOS], p),
    "portrait": lambda p: save_portrait(FILTERS, SIMILARITY, PAIRS, p, "a title"),
    "portrait without positions": lambda p: save_portrait(FILTERS, None, PAIRS, p, "a title"),
    "filters": lambda p: save_portrait(FILTERS, None, None, p, "a title"),
    "reliability": lambda p: draw_reliability(TABLE, p, "a title"),
    "reliability of many": lambda p: draw_reliability(
        TABLE._replace(images=TABLE.images * 10 ** (np.arange(len(TABLE.images)) % 7)), p, "a title"
    ),
    "patches": lambda p: draw_patches(PATCHES, p, "a title"),
    "offsets": lambda p: save_offset_scores(values(2, 3, 5, 7) - 0.5, p, "a title"),
    "offsets shared": lambda p: save_offset_scores(values(1, 3, 5, 7) - 0.5, p, "a title", True),
    "similarities": lambda p: save_similarities([SIMILARITY] * 2, p, "a title"),
    "augmentation": lambda p: draw_augmentation(
        np.stack([[image(24, 32, i + j) for j in range(4)] for i in range(2)]),
        ["disc", "heart"], [[["flipped"], ["moved", "darker"], []]] * 2, p, "a title",
    ),
    "comparison": lambda p: draw_comparison([("one", RECORDS), ("two", RECORDS[:3])], p),
    "confusion": lambda p: draw_confusion(COUNTS, ["cat", "dog", "owl"], p, "a title"),
    "curves": lambda p: draw_curves(RECORDS, p, "a title", 3),
    "mistakes": lambda p: draw_mistakes(MISTAKES, p, "a title"),
    "rows": lambda p: draw_rows("a question?", "a subtitle", FOUND, p),
    "lines": lambda p: draw_lines("a question?", "a subtitle", FOUND, "cost", "{:g}".format, p),
}  # fmt: skip


def cells_of(name, folder):
    """The size of a picture, and the mean brightness of each of its cells, int; colours count unequally."""
    DRAWINGS[name](folder / "picture.png")
    with Image.open(folder / "picture.png") as picture:
        reduced = np.asarray(picture.convert("RGB").resize(CELLS, Image.Resampling.BOX))
        return picture.size, (reduced @ np.array([0.5, 0.3, 0.2])).round().astype(int)


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_picture_looks_as_it_did(name, tmp_path):
    size, cells = cells_of(name, tmp_path)
    with np.load(STORED) as stored:
        np.testing.assert_array_equal(size, stored[f"{name} size"])
        np.testing.assert_allclose(cells, stored[name].astype(int), atol=2)


if __name__ == "__main__":
    found = {}
    for each in DRAWINGS:
        found[f"{each} size"], cells = cells_of(each, Path(tempfile.mkdtemp()))
        found[each] = cells.astype(np.uint8)
    np.savez_compressed(STORED, **found)
