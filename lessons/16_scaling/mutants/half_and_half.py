"""Model and images each get the root of the budget."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ("n = (alpha * A / (beta * B) * pairs**beta) ** (1 / (alpha + beta))", "n = pairs**0.5"),
)
multiply_adds_of_vit, is_difference, fit_power_law = (
    answer[name] for name in ("multiply_adds_of_vit", "is_difference", "fit_power_law")
)
crossing, trust_comparison, best_split = (
    answer[name] for name in ("crossing", "trust_comparison", "best_split")
)
