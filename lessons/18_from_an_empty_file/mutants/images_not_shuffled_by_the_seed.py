"""The order of the images comes from the system's clock."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "train"
SOLUTION = Path(__file__).parents[1] / "solution.py"
globals().update(
    changed(SOLUTION, ("rng.permutation(len(images))", "np.random.default_rng().permutation(len(images))"))
)
