"""Draw this lesson's figure: python -m lessons.01_pixels.figures.draw"""

import importlib
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from lessons.drawing import INK, QUIET, Sheet
from tinyvit.data import normalise
from tinyvit.data.shapes import make_shapes

solution = importlib.import_module("lessons.01_pixels.solution")

SMALL = 200  # windows used as templates


def main():
    data = make_shapes(train=3000, test=2000, seed=0)
    images, labels = data.train.images, data.train.labels
    x, test = (normalise(part.images, np.float32) for part in (data.train, data.test))
    weight, bias = solution.fit_linear(x.reshape(len(x), -1), labels, 10, 3000.0)
    whole = accuracy(solution.class_scores(test, weight, bias), data.test.labels)
    templates = weight.T.reshape(10, 32, 32, 3)

    chosen = np.random.default_rng(0).choice(windows(x).reshape(-1, 64), SMALL)
    small = chosen - chosen.mean(axis=1, keepdims=True)
    rows, new = (everywhere(part, small) for part in (x, test))
    weight, bias = solution.fit_linear(rows, labels, 10, 1.0)
    pieces = accuracy(new @ weight + bias, data.test.labels)
    # How much more a window speaks for a class on the class's own images than on the others.
    mean = np.array([rows[labels == label].mean(axis=0) for label in range(10)])  # (10, SMALL)
    speaks = (mean - mean.mean(axis=0)) / rows.std(axis=0)

    sheet = Sheet(690, 352)
    titles = (
        "an image of each class",
        f"its template, fitted to 3,000 images: {100 * whole:.0f} % right",
        f"four of {SMALL} small windows cut from the images, laid on every place: {100 * pieces:.0f} % right",
    )
    for row, title in enumerate(titles):
        sheet.text(20, 20 + 104 * row, title, 13, INK, "lm")
    for label, name in enumerate(data.classes):
        left = 20 + 65.5 * label
        sheet.image(left, 32, images[np.flatnonzero(labels == label)[2]], 60)
        sheet.image(left, 136, as_picture(templates[label]), 60)
        for place, number in enumerate(np.argsort(-speaks[label])[:4]):
            row, column = divmod(place, 2)
            sheet.image(left + 31 * column, 240 + 31 * row, as_picture(small[number].reshape(8, 8)), 29)
        sheet.text(left + 30, 312, name, 12, INK)
    note = "Grey for 0, lighter above, darker below. The windows are those that match their class best."
    sheet.text(345, 337, note, 12, QUIET)
    sheet.save(Path(__file__).parent / "templates.png")


def windows(x):
    """All 8 x 8 windows on every second place, grey: (n, 169, 64)."""
    grey = x.mean(axis=3)
    return sliding_window_view(grey, (8, 8), axis=(1, 2))[:, ::2, ::2].reshape(len(x), 169, 64)


def everywhere(x, small):
    """The mean size of each small template's match over all places, (n, SMALL)."""
    blocks = [np.abs(windows(x[at : at + 250]) @ small.T).mean(axis=1) for at in range(0, len(x), 250)]
    return np.concatenate(blocks).astype(np.float64)


def accuracy(scores, labels):
    return (scores.argmax(axis=1) == labels).mean()


def as_picture(template):
    """Weights as bytes: 0 becomes the middle grey, the largest becomes white or black."""
    limit = np.quantile(np.abs(template), 0.99)
    return (127.5 + 127.5 * (template / limit).clip(-1, 1)).astype(np.uint8)


if __name__ == "__main__":
    main()
