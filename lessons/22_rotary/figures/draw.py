"""Draw this lesson's figures: python -m lessons.22_rotary.figures.draw"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, FAINT, INK, ORANGE, QUIET, Sheet

HERE = Path(__file__).parent
THETA, K = 100.0, 16


def main():
    draw_turn()
    draw_scores()


def draw_turn():
    """A query and a key of one patch each, turned by 25 degrees for every column they stand further right."""
    sheet, radius, step = Sheet(760, 262), 92, np.radians(25)
    q, k = 0.92 * np.exp(1j * np.radians(75)), 0.8 * np.exp(1j * np.radians(10))
    for number, (i, j) in enumerate(((0, 0), (0, 2), (3, 5))):
        cx, cy = 130 + 250 * number, 134
        circle = np.exp(2j * np.pi * np.arange(73) / 72)
        sheet.line([(cx + radius * z.real, cy - radius * z.imag) for z in circle], FAINT, 1)
        for name, z, place, colour in (("q", q, i, BLUE), ("k", k, j, ORANGE)):
            new = z * np.exp(1j * step * place)
            if place:
                sheet.dashes([(cx, cy), (cx + radius * z.real, cy - radius * z.imag)], colour, 1)
                way = np.angle(z) + np.linspace(0, step * place, 40)
                arc = (0.3 if name == "q" else 0.42) * np.exp(1j * way)
                sheet.line([(cx + radius * w.real, cy - radius * w.imag) for w in arc], colour, 1)
            sheet.arrow((cx, cy), (cx + radius * new.real, cy - radius * new.imag), colour, 2.2)
            at = new * (1 + 0.13 / abs(new))
            sheet.text(cx + radius * at.real, cy - radius * at.imag, name, 15, colour)
        sheet.text(cx, 18, f"query in column {i}, key in column {j}", 14, INK)
        score = (q * np.exp(1j * step * i) * np.conj(k * np.exp(1j * step * j))).real
        sheet.text(cx, 248, f"q.k = {score:.2f}", 14, INK)
    sheet.save(HERE / "turn.png")


def draw_scores():
    """The score of one query against a key at every place: for each frequency alone, and for all together."""
    side, cell, at = 15, 7.5, (7, 7)
    r, c = np.indices((side, side)) - np.reshape(at, (2, 1, 1))
    f = THETA ** (-4 * np.arange(K // 4) / K)
    maps = [(f"f = {w:.2g}", (np.cos(w * r) + np.cos(w * c)) / 2) for w in f]
    for title, down, across in (("all four", 0, 0), ("2 up, 3 right", -2, 3)):
        every = [np.cos(w * (r - down)) + np.cos(w * (c - across)) for w in f]
        maps.append((title, (np.mean(every, axis=0) / 2 - 0.4) / 0.6))
    sheet = Sheet(786, 232)
    for number, (title, values) in enumerate(maps):
        left, top, width = 14 + 129 * number, 40, side * cell
        sheet.text(left + width / 2, 20, title, 14, INK)
        sheet.grid(left, top, values, cell, None, 1.0)
        x, y = left + at[1] * cell, top + at[0] * cell
        sheet.line([(x, y), (x + cell, y), (x + cell, y + cell), (x, y + cell), (x, y)], INK, 2)
        if number < len(f):
            words = f"round in {2 * np.pi / f[number]:.0f} patches"
            sheet.text(left + width / 2, top + width + 16, words, 12, QUIET)
    words = "The scores of the framed query. Blue: 1; white: 0, or 0.4 in the last two; orange: below."
    sheet.text(393, 210, words, 13, QUIET)
    sheet.save(HERE / "scores.png")


if __name__ == "__main__":
    main()
