"""The recipes that are shipped: every file is complete, means what it says, and makes a model."""

import json
import statistics
from dataclasses import MISSING, fields
from datetime import date

import pytest

from tests.tiny_runs import REPOSITORY
from tinyvit.backend import select_device
from tinyvit.data import DATASETS
from tinyvit.support.figures import duration
from tinyvit.training.choices import new_settings
from tinyvit.training.recipes import FOLDER, RECIPES, accuracy_of, named_recipe
from tinyvit.training.recipes.time_here import images_in_all
from tinyvit.training.settings import Settings
from tinyvit.training.starting_point import check_start, fresh_config

every_recipe = pytest.mark.parametrize("name", RECIPES)


def test_every_file_has_a_name():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(RECIPES)


@every_recipe
def test_a_recipe_is_valid_settings_from_which_a_model_is_made(name):
    recipe = named_recipe(name)
    settings = new_settings({"recipe": name}, None, select_device("cpu"))
    assert recipe.differences(settings) == []
    assert (settings.recipe, settings.dataset) == (name, recipe.given["dataset"])
    assert Settings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings
    check_start(settings, None)
    config = fresh_config(settings, 32, 10)
    assert (config.classes, config.drop_path) == (10, settings.drop_path)
    assert settings.crop_padding < min(config.image_size)
    assert settings.warmup_epochs <= settings.epochs / 4  # or a run would have a shorter one


@every_recipe
def test_a_recipe_gives_only_what_differs_from_the_defaults(name):
    defaults = {field.name: field.default for field in fields(Settings) if field.default is not MISSING}
    for setting, value in named_recipe(name).given.items():
        assert setting not in defaults or defaults[setting] != value, setting


@every_recipe
def test_a_recipe_leaves_open_what_depends_on_the_machine_or_the_moment(name):
    open_to_all = {"recipe", "data_dir", "device", "threads", "seed", "only", "weights", "target"}
    assert not open_to_all & named_recipe(name).given.keys()


@every_recipe
def test_a_recipe_says_what_it_is_for_in_a_sentence_or_two(name):
    recipe = named_recipe(name)
    assert recipe.about.endswith(".")
    assert 1 <= recipe.about.count(". ") + 1 <= 2
    assert len(recipe.purpose) < 100


@every_recipe
def test_what_was_reached_can_have_been_reached(name):
    recipe = named_recipe(name)
    assert len({(run.dataset, run.copy, run.processor, run.seed) for run in recipe.reached}) == len(
        recipe.reached
    ), "a seed is there twice"
    for run in recipe.reached:
        assert run.dataset in DATASETS
        assert 0.1 < run.accuracy < 1
        assert run.passes == recipe.settings.epochs, "the recipe has changed since: measure it anew"
        assert run.seed >= 0
        assert run.copy and run.processor
        of_cifar = 45_000 if run.copy.endswith("45,000 training images") else 50_000
        images, tested = (of_cifar, 10_000) if run.dataset.startswith("cifar") else (1, 0)
        in_all = images_in_all(recipe.settings, fresh_config(recipe.settings, 32, 10), images, tested)
        assert 60 * run.minutes == pytest.approx(in_all / run.images_per_second, rel=0.1)
        assert date.fromisoformat(run.date).year >= 2026


def table():
    """The rows of MEASUREMENTS.md's table of recipes: one for the runs of a recipe on a processor."""
    for name in RECIPES:
        groups = {}
        for run in named_recipe(name).reached:
            groups.setdefault((run.dataset, run.copy, run.processor, run.passes), []).append(run)
        for (dataset, copy, processor, passes), runs in groups.items():
            seeds = ", ".join(str(seed) for seed in sorted(run.seed for run in runs))
            values = [100 * run.accuracy for run in runs]
            time = duration(60 * statistics.mean(run.minutes for run in runs))
            rate = statistics.mean(run.images_per_second for run in runs)
            data = "" if (dataset, copy) == ("cifar10", "JPEG copy") else f" ({dataset}, {copy})"
            yield (
                f"| `{name}` | {seeds} | {passes:g} | {processor} | {time} at {rate:,.0f} images/s "
                f"| **{accuracy_of(values)} %**{data} | {max(run.date for run in runs)} |"
            )


def test_the_table_of_measurements_is_that_of_the_files():
    text = (REPOSITORY / "MEASUREMENTS.md").read_text("utf-8")
    stands = text.partition("<!-- recipes -->\n")[2].partition("\n<!-- end of recipes -->")[0]
    assert stands.splitlines()[2:] == list(table())
