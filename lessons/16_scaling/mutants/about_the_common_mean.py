"""The spread is taken about the mean of all values, so a difference adds to it."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    (
        "centred = np.concatenate([first - first.mean(), second - second.mean()])",
        "centred = np.concatenate([first, second]) - np.concatenate([first, second]).mean()",
    ),
)
multiply_adds_of_vit, is_difference, fit_power_law = (
    answer[name] for name in ("multiply_adds_of_vit", "is_difference", "fit_power_law")
)
crossing, trust_comparison, best_split = (
    answer[name] for name in ("crossing", "trust_comparison", "best_split")
)
