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

    sheet = Sheet(690, 346)
    random = f"40 of {SMALL} windows cut from the images at random, and laid on every place"
    titles = (
        "an image of each class",
        f"its template, fitted to 3,000 images: {100 * whole:.1f} % right",
        f"{random}: {100 * pieces:.1f} % right",
    )
    for row, title in enumerate(titles):
        sheet.text(20, 20 + 104 * row, title, 13, INK, "lm")
    for label, name in enumerate(data.classes):
        left = 20 + 65.5 * label
        sheet.image(left, 32, images[np.flatnonzero(labels == label)[2]], 60)
        sheet.image(left, 136, as_picture(templates[label]), 60)
        for place in range(4):
            window = small[4 * label + place].reshape(8, 8)
            sheet.image(left + 31 * (place % 2), 240 + 31 * (place // 2), as_picture(window, 0.3), 29)
        sheet.text(left + 30, 208, name, 12, INK)
    sheet.text(345, 330, "Templates: grey for weights around 0, lighter above, darker below.", 12, QUIET)
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


def as_picture(template, faintest=0.0):
    """Weights as bytes: 0 is the middle grey, the largest is white or black, unless below the faintest."""
    limit = max(np.quantile(np.abs(template), 0.99), faintest)
    return (127.5 + 127.5 * (template / limit).clip(-1, 1)).astype(np.uint8)


if __name__ == "__main__":
    main()
