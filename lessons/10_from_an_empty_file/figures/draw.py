"""Draw the figure of lesson 10: python -m lessons.10_from_an_empty_file.figures.draw

Four ViTs learn the same pictures from the same start: the right one, and three with a wrong backward.
"""

from pathlib import Path

import numpy as np

from lessons.drawing import BLUE, GREEN, INK, ORANGE, QUIET, RED, Sheet, plot_losses
from lessons.mutation import wrong_answers
from tinyvit import in_one_file
from tinyvit.data.shapes import make_shapes

HERE = Path(__file__).parent
CONFIG = {"image": 32, "patch": 8, "width": 32, "mlp": 64, "heads": 4, "layers": 2, "classes": 10}
CURVES = (
    (None, "right", BLUE),
    ("no_path_through_the_mean", "LayerNorm's mean", ORANGE),
    ("root_of_k_forgotten_backward", "the root of K", GREEN),
    ("gelu_slope_without_the_three", "GELU's slope", RED),
)


def losses(vit, data, steps: int = 400) -> np.ndarray:
    """The loss of every step, in a running mean over 20 steps."""
    rng = np.random.default_rng(0)
    params, state, values = vit.init(CONFIG, rng), {}, []
    for _ in range(steps):
        rows = rng.integers(0, len(data.images), 50)
        images = data.images[rows].astype(np.float32) / 127.5 - 1
        loss, grads = vit.loss_and_grads(CONFIG, params, images, data.labels[rows])
        vit.update(params, grads, state, 2e-3)
        values.append(float(loss))
    return np.convolve(values, np.ones(20) / 20, "valid")


def main() -> None:
    """Train the four and draw their curves."""
    data = make_shapes(train=3000, test=10).train
    wrong = wrong_answers(HERE.parent)
    curves = [losses(wrong[name].module() if name else in_one_file, data) for name, _, _ in CURVES]
    paper = Sheet(560, 232)
    paper.text(24, 20, "Three of these four have a wrong backward pass", 14, INK, "lm")
    plot_losses(paper, 60, 40, np.stack(curves, axis=1), tuple(colour for _, _, colour in CURVES), "step")
    for row, (_, label, colour) in enumerate(CURVES):
        y = 70 + 24 * row
        paper.line([(420, y), (440, y)], colour, 2)
        paper.text(448, y, label, 12, QUIET, "lm")
    paper.save(HERE / "curves.png")
    print([f"{curve[-1]:.2f}" for curve in curves])


if __name__ == "__main__":
    main()
