"""Draw this lesson's figures from a trained run:

python -m tinyvit.train --threads 1 --out RUN
python -m lessons.17_look_inside.figures.draw RUN
"""

import sys
from pathlib import Path

import numpy as np

import tinyvit
from lessons.drawing import INK, QUIET, Sheet
from tinyvit.analysis.filters import embedding_filters, filter_pictures
from tinyvit.model import initialise
from tinyvit.runs.folder import RunFolder
from tinyvit.visualize import main as visualize
from tinyvit.visualize import parser

HERE = Path(__file__).parent


def main(run):
    visualize(
        parser().parse_args([run, "--device", "cpu", "--threads", "1", "--out", str(HERE / "inside.png")])
    )
    draw_learned(tinyvit.load(run), RunFolder.open(Path(run)).settings().seed)


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


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
