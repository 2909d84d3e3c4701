"""The gradient of the frequencies lacks the part of the keys."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("dangles + from_keys", "dangles")))
