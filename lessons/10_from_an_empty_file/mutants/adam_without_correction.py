"""Adam's running means are not corrected for their start at zero."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "update"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = "lr * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)"
WRONG = "lr * m / (np.sqrt(v) + 1e-8)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
