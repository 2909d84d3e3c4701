"""The two variances are averaged, though one comes from more values."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    (
        "variance = (centred @ centred) / freedom",
        "variance = np.mean([np.var(each, ddof=1) for each in (first, second) if len(each) > 1])",
    ),
)
multiply_adds_of_vit, is_difference, fit_power_law = (
    answer[name] for name in ("multiply_adds_of_vit", "is_difference", "fit_power_law")
)
crossing, trust_comparison, best_split = (
    answer[name] for name in ("crossing", "trust_comparison", "best_split")
)
