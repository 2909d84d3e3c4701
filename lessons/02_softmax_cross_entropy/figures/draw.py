"""Draw this lesson's figure: python -m lessons.02_softmax_cross_entropy.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, Sheet
from tinyvit.ops import softmax


def main():
    sheet = Sheet(690, 262)
    scores = np.array([[2.0, 1.0, 0.0], [1002.0, 1001.0, 1000.0]])
    p, _ = softmax(scores)
    target = np.array([[1.0, 0.0, 0.0]] * 2)
    cell = 42
    tops = (62, 142)
    columns = (
        (20, scores, "logits z", 1e9, "{:.0f}"),
        (206, p, "probabilities p", 1.0, "{:.3f}"),
        (370, target, "target t", 1.0, "{:.0f}"),
        (544, p - target, "gradient p - t", 1.0, "{:.3f}"),
    )
    for left, values, title, limit, form in columns:
        sheet.text(left + 1.5 * cell, 20, title, 15, INK)
        for row, top in enumerate(tops):
            sheet.grid(left, top, values[row], cell, form, limit, 11)
            for c, name in enumerate(("cat", "dog", "ship")):
                sheet.text(left + (c + 0.5) * cell, top - 10, name, 11, QUIET)
    for top in tops:
        middle = top + cell / 2
        sheet.arrow((152, middle), (200, middle), BLUE)
        sheet.line([(345, middle), (357, middle)], ORANGE, 2)
        for y in (middle - 3, middle + 3):
            sheet.line([(514, y), (526, y)], GREEN, 2)
    sheet.text(176, tops[0] - 10, "softmax", 12, BLUE)
    sheet.text(
        345, 212, "A thousand more on every logit: the same probabilities, the same gradient.", 13, QUIET
    )
    sheet.text(
        345,
        236,
        "It adds up to 0. A step against it lifts the cat, and lowers dog and ship by what each was given.",
        13,
        QUIET,
    )
    sheet.save(Path(__file__).parent / "cross_entropy.png")


if __name__ == "__main__":
    main()
