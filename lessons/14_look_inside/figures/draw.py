"""Draw this lesson's figures from a trained run:

python -m tinyvit.train --threads 1 --out RUN
python -m lessons.14_look_inside.figures.draw RUN
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

import tinyvit
from lessons.drawing import INK, QUIET, RED, Sheet
from lessons.star import star
from tinyvit.insight.filters import embedding_filters, filter_pictures
from tinyvit.insight.pictures.attention import attention_heat, draw_attention_scale
from tinyvit.insight.pictures.colours import heat_colours
from tinyvit.model import initialise
from tinyvit.training.run_folder import RunFolder
from tinyvit.visualize import main as visualize
from tinyvit.visualize import parser

HERE = Path(__file__).parent
PATCH = 1, 2  # row and column of the patch that asks: the right half of the first star


def main(run):
    arguments = [run, "--device", "cpu", "--threads", "1", "--out", str(HERE / "inside.png")]
    visualize(parser().parse_args(arguments))
    model, seed = tinyvit.load(run), RunFolder.open(Path(run)).settings().seed
    draw_learned(model, seed)
    draw_one_patch(model, seed)


def draw_learned(model, seed):
    """Filters of the embedding at its start, after training, and of the difference of the two."""
    config, trained = model.config, model.params
    start = initialise(config, seed)
    learned = trained.zeros_like()
    learned.flat[:] = trained.flat - start.flat
    sheet = Sheet(800, 300)
    rows = (
        ("at the start", "drawn from the seed", start),
        ("after training", "what the model uses", trained),
        ("the difference", "what was learned", learned),
    )
    for number, (title, meaning, params) in enumerate(rows):
        top = 30 + 86 * number
        sheet.text(24, top + 24, title, 15, INK, "lm")
        sheet.text(24, top + 44, meaning, 12, QUIET, "lm")
        for i, picture in enumerate(filter_pictures(embedding_filters(config, params, 9))):
            sheet.image(170 + 68 * i, top, picture, 62)
        print(title, "length", round(float(np.linalg.norm(params["patch.weight"])), 2))
    sheet.save(HERE / "learned.png")


def draw_one_patch(model, seed):
    """The attention of one patch of the star in each block: a fresh model above a trained one."""
    fresh = tinyvit.preset("nano/4", 32, 10, seed=seed)
    row, column = PATCH
    side, left, top = 144, 190, 74
    sheet = Sheet(left + 4 * (side + 12) + 12, top + 2 * (side + 16) + 66)
    sheet.text(24, 30, "What the framed patch draws from each patch, mean of four heads", 15, INK, "lm")
    for number, (title, each) in enumerate((("random", fresh), ("trained", model))):
        up = top + number * (side + 16)
        sheet.image(24, up, star(), side)
        corner = 24 + side * column / 8, up + side * row / 8
        _frame(sheet, *corner, side / 8)
        attention = each.attention(star())[0]  # (layers, heads, N, N)
        for block, heads in enumerate(attention):
            drawn = heads.mean(axis=0)[1 + 8 * row + column, 1:].reshape(8, 8)
            across = left + block * (side + 12)
            if number == 0:
                sheet.text(across, top - 12, f"block {block + 1}", 13, INK, "lm")
            sheet.image(across, up, _overlay(drawn), side)
            _frame(sheet, across + side * column / 8, up + side * row / 8, side / 8)
            times = 64 * drawn / drawn.sum()
            strongest = np.argsort(-times.ravel())[:5]
            print(title, block + 1, [(*divmod(int(i), 8), round(float(times.flat[i]), 1)) for i in strongest])
        sheet.text_upwards(10, up + (side + 46) / 2, title, 13, INK)
    draw_attention_scale(sheet, left, top + 2 * (side + 16) + 8)
    sheet.save(HERE / "one_patch.png")


def _overlay(share):
    """The star in grey under the attention (8, 8), a flat colour for each patch: uint8 (256, 256, 3)."""
    grey = Image.fromarray(star()).convert("L").convert("RGB").resize((256, 256), Image.Resampling.BICUBIC)
    heat = Image.fromarray(heat_colours(attention_heat(share))).resize((256, 256), Image.Resampling.NEAREST)
    return np.asarray(Image.blend(grey, heat, 0.7))


def _frame(sheet, x, y, side):
    corners = [(x, y), (x + side, y), (x + side, y + side), (x, y + side), (x, y)]
    sheet.line(corners, "#ffffff", 4)
    sheet.line(corners, RED, 2)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
