"""The points turn by -a."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py", ("np.sin(angles)", "-np.sin(angles)")))
