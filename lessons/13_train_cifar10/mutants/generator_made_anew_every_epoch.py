"""Every epoch begins with the same seed, and so with the same order and the same crops."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "order, loss_sum = rng.permutation(count), 0.0",
            "rng = np.random.default_rng(seed)\n        order, loss_sum = rng.permutation(count), 0.0",
        ),
    )
)
