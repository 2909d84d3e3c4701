"""The lines are followed over the sizes, not over their logarithms."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ("sizes[i] * (sizes[i + 1] / sizes[i]) ** share", "sizes[i] + (sizes[i + 1] - sizes[i]) * share"),
)
multiply_adds_of_vit, is_difference, fit_power_law = (
    answer[name] for name in ("multiply_adds_of_vit", "is_difference", "fit_power_law")
)
crossing, trust_comparison, best_split = (
    answer[name] for name in ("crossing", "trust_comparison", "best_split")
)
