"""Draw this lesson's figure: python -m lessons.10_multi_head.figures.draw"""

from pathlib import Path

from lessons.drawing import FAINT, INK, PAPER, QUIET, Sheet

HEADS = ("#8db3f0", "#f0b987")  # head 1, head 2


def weights(sheet, left, top, cell, sliced):
    """qkv_weight of D = 4 and two heads: rows are numbers of the token, columns q, k, v of both heads."""
    for group, name in enumerate("qkv"):
        start = left + group * (4 * cell + 8)
        sheet.text(start + 2 * cell, top - 14, name, 14, INK)
        for row in range(4):
            for column in range(4):
                head = column // 2
                fill = HEADS[head] if not sliced or row // 2 == head else PAPER
                sheet.box(start + column * cell, top + row * cell, cell, cell, fill, FAINT)


def main():
    sheet = Sheet(760, 400)
    cell, top = 22, 96
    for left, title, sliced in (
        (52, "every head reads the whole token", False),
        (452, "each head its own slice: wrong", True),
    ):
        sheet.text(left + 140, 46, title, 15, INK)
        weights(sheet, left, top, cell, sliced)
        for row in range(4):
            sheet.text(left - 12, top + (row + 0.5) * cell, str(row + 1), 11, QUIET)
    sheet.text(20, top + 2 * cell, "x", 14, INK)

    top = 238
    for head, fill in enumerate(HEADS):
        y = top + head * 62
        sheet.labelled_box(52, y, 120, 40, f"q k v of head {head + 1}", fill, 12)
        sheet.arrow((176, y + 20), (222, y + 20))
        sheet.labelled_box(226, y, 170, 40, "softmax(q k^T / sqrt K) v", "#eef3fc", 12)
        sheet.arrow((400, y + 20), (446, y + 20))
        sheet.labelled_box(450, y, 44, 40, f"o {head + 1}", fill, 12)
        sheet.arrow((498, y + 20), (540, top + 41 + 20 * head))
    sheet.labelled_box(544, top + 24, 44, 54, "o 1", HEADS[0], 12)
    sheet.labelled_box(588, top + 24, 44, 54, "o 2", HEADS[1], 12)
    sheet.arrow((636, top + 51), (684, top + 51))
    sheet.text(660, top + 36, "Wo", 12, INK)
    sheet.labelled_box(688, top + 24, 44, 54, "y", PAPER, 14)
    sheet.text(588, top + 96, "side by side", 11, QUIET)
    sheet.text(
        380,
        384,
        "Only the results are cut into heads, and the output projection joins them again.",
        13,
        QUIET,
    )
    sheet.save(Path(__file__).parent / "multi_head.png")


if __name__ == "__main__":
    main()
