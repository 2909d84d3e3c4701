"""Draw this lesson's figure: python -m lessons.09_attention.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, INK, ORANGE, QUIET, Sheet


def main():
    sheet = Sheet(760, 300)
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    q, v = x @ np.array([[0.0, 2.0], [1.0, 0.0]]), 10 * x
    scores = q @ x.T
    A = np.exp(scores / np.sqrt(2))
    A /= A.sum(axis=1, keepdims=True)
    cell, top = 44, 84
    steps = (
        (60, scores, "points", "query of a row times key of a column", "{:.0f}", 5),
        (290, A, "A", "attention: rows add up to 1", "{:.2f}", 1),
        (490, v, "v", "what each says", "{:.0f}", 18),
        (636, A @ v, "o", "what each hears", "{:.1f}", 18),
    )
    for left, values, title, under, form, limit in steps:
        width, height = sheet.grid(left, top, values, cell, form, limit, 13)
        middle = left + width / 2
        sheet.text(middle, 38, title, 16, INK)
        sheet.text(middle, top + height + 22, under, 11, QUIET)
        for row, token in enumerate("abc"):
            sheet.text(left - 12, top + (row + 0.5) * cell, token, 13, QUIET)
            if values.shape[1] == 3:
                sheet.text(left + (row + 0.5) * cell, top - 12, token, 13, QUIET)
    middle = top + 1.5 * cell
    sheet.arrow((200, middle), (266, middle), BLUE)
    sheet.text(233, middle - 14, "softmax", 11, BLUE)
    sheet.text(233, middle + 16, "points / 1.41", 11, BLUE)
    sheet.text(448, middle, "@", 20, ORANGE)
    sheet.text(602, middle, "=", 22, ORANGE)
    sheet.text(
        380,
        280,
        "Row: who asks. Column: who is asked. Token c (last row) listens most to itself, then to b.",
        13,
        INK,
    )
    sheet.save(Path(__file__).parent / "attention.png")


if __name__ == "__main__":
    main()
