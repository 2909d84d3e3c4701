"""The line runs through the first and the last point."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ("b = -(centred @ y) / (centred @ centred)", "b = -(y[-1] - y[0]) / (x[-1] - x[0])"),
)
multiply_adds_of_vit, is_difference, fit_power_law = (
    answer[name] for name in ("multiply_adds_of_vit", "is_difference", "fit_power_law")
)
crossing, trust_comparison, best_split = (
    answer[name] for name in ("crossing", "trust_comparison", "best_split")
)
