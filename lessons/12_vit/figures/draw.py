"""Draw this lesson's figure: python -m lessons.12_vit.figures.draw"""

from pathlib import Path

from lessons.drawing import BLUE, INK, ORANGE, QUIET, Sheet


def main():
    sheet = Sheet(800, 400)
    steps = (
        ("image", "224 x 224 x 3", "#ffffff"),
        ("patches", "196 x 768", "#eef3fc"),
        ("linear", "196 x 768", "#dce8fb"),
        ("+ token,\nposition", "197 x 768", "#fbe7d3"),
        ("block", "197 x 768", "#dce8fb"),
        ("norm", "197 x 768", "#eef3fc"),
        ("pool", "768", "#eef3fc"),
        ("head", "1000", "#dce8fb"),
    )
    sheet.text(400, 30, "ViT-B/16: one image from pixels to logits, and its gradient back", 15, INK)
    top, width, gap = 92, 74, 22
    for number, (name, shape, fill) in enumerate(steps):
        x = 27 + number * (width + gap)
        if name == "block":
            for shift in (8, 4):
                sheet.box(x + shift, top - shift, width, 56, fill)
        sheet.box(x, top, width, 56, fill)
        sheet.text(x + width / 2, top + 28, name, 13)
        sheet.text(x + width / 2, top + 76, shape, 11, QUIET)
        start = x - gap + (9 if steps[number - 1][0] == "block" else 1)  # right of the box before
        if number:
            sheet.arrow((start, top + 20), (x - 1, top + 20), BLUE)
        if number > 2:  # pixels are not trained: the gradient ends at the first linear layer
            sheet.arrow((x - 1, top + 40), (start, top + 40), ORANGE)
    sheet.text(27 + 4 * (width + gap) + width / 2 + 4, top - 20, "12 times", 11, QUIET)
    sheet.text(690, 202, "forward", 13, BLUE, "rm")
    sheet.text(772, 202, "backward", 13, ORANGE, "rm")

    D, M = 768, 3072
    parts = (
        ("patch embedding", 768 * D + D, "#8db3f0"),
        ("position, token", 198 * D, "#f0b987"),
        ("attention, 12 blocks", 12 * 4 * (D * D + D), BLUE),
        ("MLP, 12 blocks", 12 * (2 * D * M + M + D), "#7fb8a4"),
        ("25 LayerNorms", 25 * 2 * D, "#b9a3d9"),
        ("head", D * 1000 + 1000, "#d9dee6"),
    )
    total = sum(size for _, size, _ in parts)
    sheet.text(27, 232, f"where its {total:,} parameters are", 15, INK, "lm")
    for row, (name, size, fill) in enumerate(parts):
        y = 252 + row * 23
        sheet.text(170, y + 9, name, 12, INK, "rm")
        length = max(1.5, 480 * size / (12 * (2 * D * M + M + D)))
        sheet.line([(180, y + 9), (180 + length, y + 9)], fill, 15)
        sheet.text(188 + length, y + 9, f"{size:,}", 12, QUIET, "lm")
    sheet.save(Path(__file__).parent / "vit.png")


if __name__ == "__main__":
    main()
