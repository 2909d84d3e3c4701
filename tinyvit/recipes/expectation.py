"""What a run by a recipe may expect: an accuracy and a time, from runs that were seen before."""

from tinyvit.recipes.measured import Measured, measurements, sentences
from tinyvit.recipes.named import RECIPES, Recipe, named_recipe
from tinyvit.runs.settings import Settings
from tinyvit.shell.figures import duration, img_per_second


def expected(settings: Settings) -> list[str]:
    """The lines that say what to expect of a run with these settings; none if it follows no recipe."""
    recipe = _recipe_of(settings)
    if recipe is None:
        return []
    if measured := _measured(recipe, settings):
        return [f"recipe {recipe.name}: expect {line}" for line in sentences(measured)]
    if settings.dataset != recipe.settings.dataset:
        made_for = f"recipe {recipe.name} was made for {recipe.settings.dataset}"
        return [f"{made_for}: nobody has measured it on {settings.dataset} yet"]
    if recipe.differences(settings):
        return [f"recipe {followed(settings)}: nobody has measured that"]
    return [f"recipe {recipe.name}: nobody has measured it yet"]


def followed(settings: Settings) -> str:
    """The recipe that a run with these settings followed, and in what it differed; empty if it named none."""
    recipe = _recipe_of(settings)
    if recipe is None:
        return ""
    changed = ", ".join(name.replace("_", " ") for name in recipe.differences(settings))
    return f"{recipe.name}, but for {changed}" if changed else recipe.name


def at_this_speed(settings: Settings, images: int, rate: float) -> str:
    """How long a whole run takes that trains on so many images (over all epochs) at `rate` images per second.

    Where such runs were measured, the longest decides, and its time for everything but training grows in
    proportion. But a run never takes less than its training alone.
    """
    recipe = _recipe_of(settings)
    measured = _measured(recipe, settings) if recipe else []
    work = max([images, *(each.seconds * each.rate for each in measured)])  # in images
    return (
        f"at {img_per_second(rate)}, the speed seen here, the whole run takes about {duration(work / rate)}"
    )


def _recipe_of(settings: Settings) -> Recipe | None:
    """The recipe that the settings name; None if they name none, or one that this version does not have."""
    return named_recipe(settings.recipe) if settings.recipe in RECIPES else None


def _measured(recipe: Recipe, settings: Settings) -> list[Measured]:
    """What the recipe has reached, if a run with these settings can be compared with that."""
    return [] if recipe.differences(settings) else measurements(recipe, settings.dataset)
