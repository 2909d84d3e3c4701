"""Draw this lesson's figures: python -m lessons.03_linear.figures.draw (half a minute: it trains)"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, FAINT, INK, ORANGE, QUIET, Sheet
from lessons.one_shape import one_shape
from tinyvit.data.shapes import make_shapes
from tinyvit.ops import cross_entropy, cross_entropy_backward, linear, linear_backward

X = np.array([[1.0, 2.0], [3.0, 4.0]])
WEIGHT = np.array([[1.0, 0.0, -1.0], [2.0, 1.0, 0.0]])
BIAS = np.array([[10.0, 20.0, 30.0]])
DY = np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 1.0]])
CELL = 34
LEFT = {"x": 150, "W": 264, "b": 412, "y": 600}
PUSHES = (
    ("x", "one number of x", "moves one row of y"),
    ("W", "one number of W", "moves one column of y"),
    ("b", "one number of b", "moves one column, evenly"),
)


TASKS = (
    ("one shape, in the middle, light", {}),
    ("the same, light or dark", {"negatives": True}),
    ("the same, anywhere in the picture", {"negatives": True, "moves": True}),
    ("three to five shapes, anywhere", None),
)
HERE = Path(__file__).parent


def main():
    draw_pushes().save(HERE / "linear.png")
    draw_outer().save(HERE / "outer.png")
    data = tasks()
    draw_wall(data, {"linear": (QUIET, [linear_accuracy(*task) for task in data])}).save(HERE / "wall.png")


def tasks():
    """For each task: x, labels, and the same for 1000 new pictures, as rows of numbers from -1 to 1."""
    found = []
    for _, how in TASKS:
        if how is None:
            shapes = make_shapes(train=1000, test=1000, seed=0)
            parts = (shapes.train.images, shapes.train.labels), (shapes.test.images, shapes.test.labels)
        else:
            parts = one_shape(1000, seed=0, **how), one_shape(1000, seed=1, **how)
        found.append([array for images, labels in parts for array in (rows(images), labels)])
    return found


def rows(images):
    return ((images - 127.5) / 127.5).reshape(len(images), -1)


def linear_accuracy(x, labels, x_new, labels_new, epochs=16, rate=0.01):
    """The training of the lesson; the share of new pictures that are right."""
    rng = np.random.default_rng(0)
    weight, bias = np.zeros((x.shape[1], 10)), np.zeros(10)
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), 100):
            batch = order[start : start + 100]
            scores, cache = linear(x[batch], weight, bias)
            dscores = cross_entropy_backward(cross_entropy(scores, labels[batch])[1])
            _, dweight, dbias = linear_backward(dscores, cache)
            weight -= rate * dweight
            bias -= rate * dbias
    return (linear(x_new, weight, bias)[0].argmax(axis=1) == labels_new).mean()


def draw_wall(data, models):
    """A line for each task: three pictures, and a bar for the accuracy of each model (colour, accuracies)."""
    sheet = Sheet(760, 24 + 96 * len(TASKS) + 10)
    left, full, thick = 530, 170, 40 / len(models)  # the bars: where they begin, 100 %, how broad they are
    top = 24
    for number, ((name, how), (x, labels, *_)) in enumerate(zip(TASKS, data, strict=True)):
        for column, label in enumerate((5, 7, 4)):  # star, heart, cross
            dark = column == 1 and how != {}  # darker than the ground
            row = x[(labels == label) & ((x.mean(axis=1) > 0) == dark)][0]
            pixels = ((row + 1) * 127.5).round().astype(np.uint8).reshape(32, 32, 3)
            sheet.image(20 + 84 * column, top, pixels, 76)
        sheet.text(284, top + 38, name, 13, INK, "lm")
        sheet.rectangle(left, top + 14, full, 48, "#f4f5f7", FAINT)
        for index, (colour, accuracies) in enumerate(models.values()):
            bar = top + 18 + index * thick
            sheet.rectangle(left, bar, full * accuracies[number], thick - 2, colour, colour)
            accuracy = (
                f"{accuracies[number]:.0%}"
                if accuracies[number] < 0.99 or accuracies[number] == 1
                else f"{accuracies[number]:.1%}"
            )
            sheet.text(left + full + 8, bar + thick / 2 - 1, accuracy, 12, colour, "lm")
        top += 96
    guess = left + full / 10
    sheet.line([(guess, 30), (guess, top - 26)], ORANGE, 1.5)
    sheet.text(guess, top - 12, "guessing", 12, ORANGE)
    for index, (name, (colour, _)) in enumerate(models.items()):
        sheet.text(left + 110 + 80 * index, top - 12, name, 12, colour, "lm" if len(models) == 1 else "mm")
    return sheet


def draw_pushes():
    sheet = Sheet(760, 430)
    for name, width in (("x", 2), ("W", 3), ("b", 3)):
        sheet.text(LEFT[name] + width * CELL / 2, 34, name, 16)
    sheet.text(LEFT["y"] + 1.5 * CELL, 34, "change of y", 16)
    y, _ = linear(X, WEIGHT, BIAS[0])
    for number, (pushed, what, effect) in enumerate(PUSHES):
        top = 60 + 118 * number
        sheet.text(20, top + CELL - 9, what, 13, ORANGE, "lm")
        sheet.text(20, top + CELL + 9, "goes up by 1", 13, ORANGE, "lm")
        arrays = {"x": X.copy(), "W": WEIGHT.copy(), "b": BIAS.copy()}
        arrays[pushed][0, 0] += 1
        change = linear(arrays["x"], arrays["W"], arrays["b"][0])[0] - y
        for name, values in arrays.items():
            height = top + (CELL / 2 if name == "b" else 0)
            sheet.grid(LEFT[name], height, values, CELL, "{:.0f}", 1e9, 13)  # white
            if name == pushed:
                x0, y0 = LEFT[name], height
                corners = [(x0, y0), (x0 + CELL, y0), (x0 + CELL, y0 + CELL), (x0, y0 + CELL), (x0, y0 - 1)]
                sheet.line(corners, ORANGE, 3)
        sheet.arrow((530, top + CELL), (586, top + CELL), BLUE)
        sheet.grid(LEFT["y"], top, change, CELL, None, 4)
        for (r, c), value in np.ndenumerate(change):
            text = f"{value:+.0f}" if value else "0"
            sheet.text(LEFT["y"] + (c + 0.5) * CELL, top + (r + 0.5) * CELL, text, 13)
        sheet.text(LEFT["y"] + 1.5 * CELL, top + 2 * CELL + 15, effect, 12, BLUE)
    sheet.text(
        380, 410, "Backward, the gradient sums over the same entries: a row, a column, a column.", 13, QUIET
    )
    sheet.text(LEFT["W"] - 23, 34, "·", 16, INK)
    sheet.text(LEFT["b"] - 23, 34, "+", 16, INK)
    return sheet


def draw_outer():
    """dW as a sum of matrices, one for each row: its input as a column, its upstream gradient as a row."""
    sheet = Sheet(760, 222)
    dweight = X.T @ DY
    limit, top = 8, 96
    places = (96, "row 0", X[0], DY[0]), (352, "row 1", X[1], DY[1])
    for left, name, row, drow in places:
        sheet.text(left + 1.5 * CELL, 22, name, 15, INK)
        sheet.grid(left - CELL - 10, top, row[:, None], CELL, "{:.0f}", 1e9, 13)
        sheet.grid(left, top - CELL - 10, drow, CELL, "{:.0f}", 1e9, 13)
        sheet.grid(left, top, np.outer(row, drow), CELL, "{:.0f}", limit, 13)
        sheet.text(left - CELL - 20, top + CELL, "x", 13, QUIET, "rm")
        sheet.text(left - 14, top - CELL / 2 - 10, "dy", 13, QUIET, "rm")
    sheet.text(614 + 1.5 * CELL, 22, "dW", 15, INK)
    sheet.grid(614, top, dweight, CELL, "{:.0f}", limit, 13)
    sheet.text(258, top + CELL, "+", 20, INK)
    sheet.text(535, top + CELL, "=", 20, INK)
    sheet.text(
        380, 200, "Every row of x sends W a gradient of its own. dW is the sum of them all.", 13, QUIET
    )
    return sheet


if __name__ == "__main__":
    main()
