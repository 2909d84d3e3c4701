"""The bias is added to the cosines before they are multiplied by the scale."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("S = cosines + bias", "S = cosines + scale * bias"),
        ("(dS * cosines).sum(), dS.sum())", "(dS * S).sum(), scale * dS.sum())"),
    )
)
