"""The spread is estimated from the two lists that are compared, the limit from all."""

from pathlib import Path

from lessons.mutation import changed

BOTH = """\
        both = [*(values - values.mean()), *(mine - mine.mean())]
        spread = math.sqrt(sum(x * x for x in both) / max(1, len(both) - 2))
"""
ERROR = "        error = spread *"

globals().update(changed(Path(__file__).parents[1] / "solution.py", (ERROR, BOTH + ERROR)))
