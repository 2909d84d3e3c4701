"""The loss of the sigmoids is the mean over all B x B pairs, and should be a sum divided by B."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (".sum() / B", ".sum() / B**2"),
        ("- same) / B", "- same) / B**2"),
    )
)
