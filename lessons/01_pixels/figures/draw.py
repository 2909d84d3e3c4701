"""Draw this lesson's figure: python -m lessons.01_pixels.figures.draw"""

import importlib
from pathlib import Path

import numpy as np

from lessons.drawing import INK, QUIET, Sheet
from tinyvit.data import normalise
from tinyvit.data.shapes import make_shapes

solution = importlib.import_module("lessons.01_pixels.solution")


def main():
    data = make_shapes(train=3000, test=10, seed=0).train
    names = make_shapes(train=10, test=10).classes
    x = normalise(data.images, np.float64)
    weight, _ = solution.fit_linear(x.reshape(len(x), -1), data.labels, 10, 3000.0)
    templates = weight.T.reshape(10, 32, 32, 3)
    weight, _ = solution.fit_linear(turned(x).reshape(len(x), -1), data.labels, 10, 300.0)
    light_templates = weight.T.reshape(10, 32, 32)

    sheet = Sheet(690, 352)
    titles = (
        "an image of each class",
        "its template, fitted to the images as they are: 27 % right",
        "its template, once every shape is lighter than its ground: 91 % right",
    )
    for row, title in enumerate(titles):
        sheet.text(20, 20 + 104 * row, title, 13, INK, "lm")
    for label, name in enumerate(names):
        left = 20 + 65.5 * label
        sheet.image(left, 32, data.images[np.flatnonzero(data.labels == label)[2]], 60)
        sheet.image(left, 136, as_picture(templates[label]), 60)
        sheet.image(left, 240, as_picture(light_templates[label]), 60)
        sheet.text(left + 30, 312, name, 12, INK)
    sheet.text(345, 337, "Templates: grey for weights around 0, lighter above, darker below.", 12, QUIET)
    sheet.save(Path(__file__).parent / "templates.png")


def turned(x):
    """Grey images (n, 32, 32), the border around 0, the shape always lighter than the ground."""
    g = x.mean(axis=3)
    border = np.concatenate([g[:, 0], g[:, -1], g[:, :, 0], g[:, :, -1]], axis=1)
    g = g - border.mean(axis=1)[:, None, None]
    return g * np.sign(g.mean(axis=(1, 2), keepdims=True))


def as_picture(template):
    """Weights as bytes: 0 becomes the middle grey, the largest becomes white or black."""
    limit = np.quantile(np.abs(template), 0.99)
    return (127.5 + 127.5 * (template / limit).clip(-1, 1)).astype(np.uint8)


if __name__ == "__main__":
    main()
