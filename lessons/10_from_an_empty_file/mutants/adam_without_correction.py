"""Adam's running means are not corrected for their start at zero."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "update"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = "lr * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)"
WRONG = "lr * m / (np.sqrt(v) + 1e-8)"
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
