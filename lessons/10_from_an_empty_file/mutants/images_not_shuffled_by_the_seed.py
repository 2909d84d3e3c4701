"""The order of the images comes from the system's clock."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "train"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "rng.permutation(len(images))"
WRONG = "np.random.default_rng().permutation(len(images))"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
