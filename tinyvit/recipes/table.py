"""The table of recipes in MEASUREMENTS.md, in Markdown: a row for each that has been measured."""

from tinyvit.recipes.measured import Measured, measurements
from tinyvit.recipes.named import RECIPES, Recipe, named_recipe

_HEADING = (
    "| recipe | command | seeds | passes | device | time and speed | test accuracy | data |\n"
    "|---|---|---|---:|---|---|---:|---|"
)
_TITLES = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100"}


def table() -> str:
    """The table, or a sentence if nothing has been measured."""
    recipes = [named_recipe(name) for name in RECIPES]
    rows = [_row(recipe, measured) for recipe in recipes for measured in measurements(recipe)]
    return "\n".join([_HEADING, *rows]) if rows else "No recipe has been measured yet."


def _row(recipe: Recipe, measured: Measured) -> str:
    run = measured.runs[0]
    other = "" if run.dataset == recipe.settings.dataset else f" --dataset {run.dataset}"
    cells = (
        f"`{recipe.name}`",
        f"`python -m tinyvit.train --recipe {recipe.name}{other}`",
        ", ".join(str(seed) for seed in sorted(run.seed for run in measured.runs)),
        f"{run.passes:g}",
        run.processor,
        measured.speed.replace("img/s", "images/s"),
        f"**{measured.accuracy} %**",
        f"{_TITLES.get(run.dataset, run.dataset)}, {run.copy}",
    )
    return f"| {' | '.join(cells)} |"
