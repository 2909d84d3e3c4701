"""Training returns the parameters that it began with."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "train"
SOLUTION = Path(__file__).parents[3] / "tinyvit/in_one_file.py"
RIGHT = 'images/s")\n    return params'
WRONG = 'images/s")\n    return init(config, np.random.default_rng(seed))'
globals().update(changed(SOLUTION, (RIGHT, WRONG)))
