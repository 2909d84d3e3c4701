"""The tokens are the patches: the class token is not counted."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ("N = patches + 1", "N = patches"),
)
multiply_adds_of_vit, is_difference, fit_power_law = (
    answer[name] for name in ("multiply_adds_of_vit", "is_difference", "fit_power_law")
)
crossing, trust_comparison, best_split = (
    answer[name] for name in ("crossing", "trust_comparison", "best_split")
)
