"""What runs by a recipe have reached: accuracy, spread, time and speed; and what to expect of another."""

import statistics
from dataclasses import dataclass

from tinyvit.recipes.named import RECIPES, Reached, Recipe, named_recipe
from tinyvit.shell.figures import duration, img_per_second
from tinyvit.training.settings import Settings


@dataclass(frozen=True)
class Measured:
    """Runs by one recipe with the same data, the same processor and as many passes; at least one."""

    runs: tuple[Reached, ...]

    @property
    def accuracy(self) -> str:
        """The mean in percent and, from two runs on, the standard deviation over seeds: 70.8 ± 0.3."""
        values = [100 * run.accuracy for run in self.runs]
        spread = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
        return f"{statistics.mean(values):.1f}{spread}"

    @property
    def seconds(self) -> float:
        """How long a run takes, on average."""
        return 60 * statistics.mean(run.minutes for run in self.runs)

    @property
    def rate(self) -> float:
        """Images per second while training, on average."""
        return statistics.mean(run.images_per_second for run in self.runs)

    @property
    def speed(self) -> str:
        """Time and rate: 16:37 at 1,200 img/s."""
        return f"{duration(self.seconds)} at {img_per_second(self.rate)}"


def measurements(recipe: Recipe, dataset: str | None = None) -> list[Measured]:
    """The recipe's runs, on this data set if it is given, in groups that may be compared."""
    groups: dict[tuple, list[Reached]] = {}
    for run in recipe.reached:
        if dataset in (None, run.dataset):
            groups.setdefault((run.dataset, run.copy, run.processor, run.passes), []).append(run)
    return [Measured(tuple(runs)) for runs in groups.values()]


def sentences(measured: list[Measured]) -> list[str]:
    """All of it, a line for each experiment: accuracy does not depend on the processor, but time does."""
    experiments: dict[tuple, list[Measured]] = {}
    for each in measured:
        run = each.runs[0]
        experiments.setdefault((run.dataset, run.copy, run.passes), []).append(each)
    return [_sentence(groups) for groups in experiments.values()]


def _sentence(groups: list[Measured]) -> str:
    together = Measured(tuple(run for each in groups for run in each.runs))
    run, count = together.runs[0], len(together.runs)
    seeds = f"{count} seeds" if count > 1 else "one seed"
    times = ", or ".join(f"in {each.speed} on {each.runs[0].processor}" for each in groups)
    return f"{together.accuracy}% ({run.dataset}, {run.copy}, {seeds}) {times}"


_HEADING = (
    "| recipe | seeds | passes | device | time and speed | test accuracy | data |\n"
    "|---|---|---:|---|---|---:|---|"
)
_TITLES = {"cifar10": "CIFAR-10", "cifar100": "CIFAR-100"}


def table() -> str:
    """The table, or a sentence if nothing has been measured."""
    recipes = [named_recipe(name) for name in RECIPES]
    rows = [_row(recipe, measured) for recipe in recipes for measured in measurements(recipe)]
    return "\n".join([_HEADING, *rows]) if rows else "No recipe has been measured yet."


def _row(recipe: Recipe, measured: Measured) -> str:
    run = measured.runs[0]
    cells = (
        f"`{recipe.name}`",
        ", ".join(str(seed) for seed in sorted(run.seed for run in measured.runs)),
        f"{run.passes:g}",
        run.processor,
        measured.speed.replace("img/s", "images/s"),
        f"**{measured.accuracy} %**",
        f"{_TITLES.get(run.dataset, run.dataset)}, {run.copy}",
    )
    return f"| {' | '.join(cells)} |"


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


def at_this_speed(settings: Settings, images: float, rate: float, cost: float = 1.0) -> str:
    """How long a whole run takes that trains on so many images (over all epochs) at `rate` images per second.

    cost is what an image costs now, as a share of what one costs at last: see training.stages. Where such
    runs were measured, the longest decides, and its time for everything but training grows in proportion. But
    a run never takes less than its training alone.
    """
    recipe = _recipe_of(settings)
    measured = _measured(recipe, settings) if recipe else []
    work = max([images, *(each.seconds * each.rate for each in measured)])  # in images
    seconds = duration(work / (rate * cost))
    return f"at {img_per_second(rate)}, the speed seen here, the whole run takes about {seconds}"


def _recipe_of(settings: Settings) -> Recipe | None:
    """The recipe that the settings name; None if they name none, or one that this version does not have."""
    return named_recipe(settings.recipe) if settings.recipe in RECIPES else None


def _measured(recipe: Recipe, settings: Settings) -> list[Measured]:
    """What the recipe has reached, if a run with these settings can be compared with that."""
    return [] if recipe.differences(settings) else measurements(recipe, settings.dataset)
