"""The line is fitted the other way round, compute over error."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    (
        "b = -(centred @ y) / (centred @ centred)",
        "b = -((y - y.mean()) @ (y - y.mean())) / (centred @ y) if abs(centred @ y) > 1e-9 else 0.0",
    ),
)
multiply_adds_of_vit, is_difference, fit_power_law = (
    answer[name] for name in ("multiply_adds_of_vit", "is_difference", "fit_power_law")
)
crossing, trust_comparison, best_split = (
    answer[name] for name in ("crossing", "trust_comparison", "best_split")
)
