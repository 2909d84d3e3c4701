"""The logarithm has base 2."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("np.log(shares)", "np.log2(shares)")))
