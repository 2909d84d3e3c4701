"""Order and crops come from NumPy's global generator."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "rng = model.params, np.random.default_rng(seed)",
            "rng = model.params, np.random.default_rng(np.random.randint(2**31))",
        ),
    )
)
