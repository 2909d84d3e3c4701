"""Recipes by name. Each is a file NAME.json beside this one, a JSON object with three keys:

about      what the recipe is for; its first sentence also stands in lists
settings   what differs from the defaults of Settings
reached    runs by this recipe that were seen to the end, each with the fields of Reached
"""

import json
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tinyvit.support.errors import UserError, did_you_mean
from tinyvit.support.figures import duration, img_per_second
from tinyvit.training.settings import Resume, Settings, that_resume

ON_CPU = ("cpu-8-minutes", "cpu-20-minutes", "cpu-hour", "cpu-best")
ON_GPU = ("gpu-30-seconds", "gpu-2-minutes", "gpu-best")
RECIPES = (*ON_CPU, *ON_GPU)
# Times in names are those of one kind of machine.
WITH_MACHINES = f"{', '.join(ON_CPU)} (on two Zen 5 cores), {', '.join(ON_GPU)} (on an H200)"
FOLDER = Path(__file__).parent
# Settings that may differ without making another recipe of it: where and how to compute, and what to look at.
_FREE = that_resume(Resume.FREE, Resume.COMPUTE)
_FREE |= {"recipe", "dataset", "seed", "accumulate", "ranks", "evaluate_every"}


@dataclass(frozen=True)
class Reached:
    """One run that followed a recipe to its end.

    copy says which files of the data set were read, such as 'official' or 'JPEG copy'. accuracy is the share
    of the test images that were classified correctly after the last epoch (0..1), passes the number of passes
    through the training set, minutes the whole run with its evaluations. images_per_second is the speed of
    the last passes, in which no patch is dropped. processor also says how many cores were used, and date is
    the day it ended, such as '2026-11-22'.
    """

    dataset: str
    copy: str
    accuracy: float
    seed: int
    passes: float
    processor: str
    images_per_second: float
    minutes: float
    date: str


@dataclass(frozen=True)
class Recipe:
    """The contents of a recipe's file; given is what it sets."""

    name: str
    about: str
    given: dict[str, Any]
    reached: tuple[Reached, ...]

    @cached_property
    def settings(self) -> Settings:
        """The complete settings. Raises UserError if the file gives a setting that does not exist."""
        return Settings.from_dict({**self.given, "recipe": self.name}, FOLDER / f"{self.name}.json")

    @property
    def purpose(self) -> str:
        """What it is for, in one sentence without a full stop."""
        return self.about.partition(". ")[0].rstrip(".")

    def differences(self, settings: Settings) -> list[str]:
        """The names of the settings that make a run another experiment than this recipe's."""
        mine = self.settings.as_dict()
        return [
            name for name, value in settings.as_dict().items() if name not in _FREE and value != mine[name]
        ]

    def results(self) -> Iterator[str]:
        """A line for each data set and processor: accuracy, with its spread over seeds, and time."""
        groups: dict[tuple, list[Reached]] = {}
        for run in self.reached:
            groups.setdefault((run.dataset, run.copy, run.processor, run.passes), []).append(run)
        for (dataset, copy, processor, _), runs in groups.items():
            values = [100 * run.accuracy for run in runs]
            spread, seeds = "", "one seed"
            if len(runs) > 1:
                spread, seeds = f" ± {statistics.stdev(values):.1f}", f"{len(runs)} seeds"
            time = duration(60 * statistics.mean(run.minutes for run in runs))
            speed = img_per_second(statistics.mean(run.images_per_second for run in runs))
            accuracy = f"{statistics.mean(values):.1f}{spread}% ({dataset}, {copy}, {seeds})"
            yield f"{accuracy} in {time} at {speed} on {processor}"
        if not groups:
            yield "nobody has measured it yet"


def followed(settings: Settings) -> str:
    """The recipe that a run with these settings followed, and in what it differed; empty if it named none."""
    if settings.recipe not in RECIPES:  # or one that this version does not have
        return ""
    changed = ", ".join(
        name.replace("_", " ") for name in named_recipe(settings.recipe).differences(settings)
    )
    return f"{settings.recipe}, but for {changed}" if changed else settings.recipe


def named_recipe(name: str) -> Recipe:
    """The recipe of that name. Raises UserError if there is none."""
    if name not in RECIPES:
        known = "; ".join(f"{each} ({named_recipe(each).purpose})" for each in RECIPES)
        raise UserError(
            f"there is no recipe {name!r}{did_you_mean(name, RECIPES)}, expected one of: {known}."
        )
    record = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    reached = tuple(Reached(**run) for run in record["reached"])
    return Recipe(name, record["about"], record["settings"], reached)
