"""Training by a recipe: which settings a run gets, what it says at its start, and what it remembers."""

import json
import re

import pytest

from tests.tiny_runs import assert_one_line, interrupted_after, tiny
from tinyvit import evaluate, finetune, info, pretrain, train
from tinyvit.backend import select_device
from tinyvit.recipes.measured import at_this_speed, expected
from tinyvit.shell import progress
from tinyvit.training import wording
from tinyvit.training.choices import new_settings
from tinyvit.training.recipes import recipe
from tinyvit.training.settings import Settings

EXPECTED = (
    "recipe cpu-8-minutes: expect 75.0% (folder, drawn, one seed) in 2:00 at 100 img/s on a processor, "
    "2 cores"
)


def choose(repeated=None, **chosen):
    return new_settings(chosen, repeated, select_device("cpu"))


@pytest.fixture
def follow(go, photos, tmp_path):
    """follow(flags ...) trains by cpu-8-minutes: exit status, stdout, stderr."""
    flags = ("--recipe", "cpu-8-minutes", "--data-dir", photos, "--out", tmp_path / "run")
    return lambda *more: go(train, *flags, "--threads", "1", "--device", "cpu", *more)


# Settings.


def test_flags_take_precedence_over_the_recipe(rewrite):
    rewrite(lr=0.01)
    settings = choose(recipe="cpu-8-minutes", lr=0.02, seed=5)
    assert (settings.lr, settings.seed, settings.model, settings.epochs) == (0.02, 5, "nano/4", 3)
    assert choose(recipe="cpu-8-minutes", dataset="cifar100").dataset == "cifar100"


def test_a_choice_replaces_what_would_overrule_it(rewrite):
    rewrite(steps=100, warmup_steps=50, position="relative", position_at="shared")
    chosen = choose(recipe="cpu-8-minutes", epochs=9, warmup_epochs=0.25, position="1d")
    assert (chosen.steps, chosen.warmup_steps, chosen.position_at) == (None, None, "stem")


@pytest.mark.parametrize("dataset", ["cifar10", "cifar100"])
def test_a_run_without_a_recipe_follows_that_of_its_data_until_it_is_changed(dataset):
    name = recipe(dataset, on_gpu=False)["recipe"]
    assert choose(dataset=dataset) == choose(dataset=dataset, recipe=name)
    assert choose(dataset=dataset, seed=3, threads=1, data_dir="d").recipe == name
    assert choose(dataset=dataset, epochs=3).recipe is None
    assert choose(dataset=dataset, epochs=3, recipe=name).recipe == name


def test_a_run_that_learns_something_else_has_no_recipe():
    assert choose(dataset="cifar10", target="pixels").recipe is None
    repeated = choose(recipe="cpu-best")
    assert choose(repeated).recipe == "cpu-best"
    assert choose(repeated, weights="runs/a", model="a").recipe is None


def test_a_recipe_and_a_run_to_repeat_are_one_too_many(go, rewrite, follow, tmp_path):
    rewrite()
    assert follow()[0] == 0
    flags = (
        "--config",
        tmp_path / "run" / "config.json",
        "--recipe",
        "cpu-8-minutes",
        "--out",
        tmp_path / "b",
    )
    assert_one_line(go(train, *flags), "--config repeats", "omit --recipe, or --config")


def test_only_training_from_scratch_with_labels_has_recipes(go):
    for command, *words in ((finetune, "Ti_16"), (pretrain,)):
        assert_one_line(go(command, *words, "--recipe", "cpu-8-minutes"), "unrecognized arguments: --recipe")


def test_an_unknown_recipe_leaves_nothing(go, tmp_path):
    result = go(train, "--recipe", "best", "--out", tmp_path / "run")
    assert_one_line(result, "there is no recipe 'best'", "cpu-8-minutes (", "gpu-best (")
    assert not (tmp_path / "run").exists()


# What is said.


def test_what_a_run_says_and_remembers(go, follow, rewrite, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "SPEED_SECONDS", 0)
    rewrite({})
    status, out, err = follow()
    assert (status, err) == (0, "")
    line, speed = re.search(r"^tinyvit .*\n(.*)\n(.*)\n", out, re.MULTILINE).groups()
    assert line == EXPECTED
    assert re.fullmatch(r"at [\d,.]+ img/s, the speed seen here, the whole run takes about [\d:]+", speed)
    assert out.count("the speed seen here") == 1
    assert json.loads((tmp_path / "run" / "config.json").read_text())["settings"]["recipe"] == "cpu-8-minutes"
    assert "best.npz of recipe cpu-8-minutes on 8 test images: " in go(evaluate, tmp_path / "run")[1]
    assert json.loads(go(evaluate, tmp_path / "run", "--json")[1])["recipe"] == "cpu-8-minutes"
    assert "trained by the recipe cpu-8-minutes" in go(info, tmp_path / "run")[1]


def test_a_run_that_differs_from_its_recipe_says_in_what(go, follow, rewrite, tmp_path):
    rewrite({})
    assert follow("--lr", "0.003")[0] == 0
    what = "cpu-8-minutes, but for lr"
    assert f"best.npz of recipe {what}" in go(evaluate, tmp_path / "run")[1]
    assert (
        f"trained by the recipe {what}: see python -m tinyvit.recipe cpu-8-minutes\n"
        in go(info, tmp_path / "run")[1]
    )


@pytest.mark.parametrize("known", [False, True])
def test_a_resumed_run_says_only_what_was_not_known(go, follow, rewrite, tmp_path, monkeypatch, known):
    rewrite({})
    with interrupted_after(monkeypatch, 5):
        status, out, _ = follow()
    assert (status, EXPECTED in out, "the speed seen here" in out) == (130, True, False)
    monkeypatch.setattr(progress, "SPEED_SECONDS", 0)
    monkeypatch.setattr(wording, "SPEED_SECONDS", 0 if known else 1000)
    status, out, err = go(train, "--resume", tmp_path / "run")
    assert (status, err) == (0, "")
    assert "expect" not in out
    assert out.count("the speed seen here") == (not known)


def test_a_run_without_a_recipe_says_nothing_of_the_kind(go, photos, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "SPEED_SECONDS", 0)
    status, out, _ = go(train, *tiny(photos, tmp_path / "run", "--epochs", "1"))
    assert (status, "recipe cpu" in out, "the speed seen here" in out) == (0, False, False)
    said = go(evaluate, tmp_path / "run")[1] + go(info, tmp_path / "run")[1]
    assert "of recipe" not in said
    assert "the recipe" not in said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, EXPECTED),
        ({"seed": 4, "threads": 7, "device": "gpu", "accumulate": 2, "evaluate_every": 3}, EXPECTED),
        (
            {"lr": 0.5, "crop_padding": 2},
            "recipe cpu-8-minutes, but for crop padding, lr: nobody has measured that",
        ),
        (
            {"dataset": "shapes"},
            "recipe cpu-8-minutes was made for folder: nobody has measured it on shapes yet",
        ),
    ],
)
def test_figures_are_those_of_the_same_experiment_only(rewrite, change, said):
    rewrite({}, {"dataset": "cifar10"})
    assert expected(choose(recipe="cpu-8-minutes", **change)) == [said]


def test_what_nobody_has_measured_is_called_so(rewrite):
    rewrite()
    assert expected(choose(recipe="cpu-8-minutes")) == ["recipe cpu-8-minutes: nobody has measured it yet"]


def test_a_recipe_measured_on_another_data_set_than_its_own_has_figures_there(rewrite):
    rewrite({"dataset": "shapes", "accuracy": 0.5})
    (line,) = expected(choose(recipe="cpu-8-minutes", dataset="shapes"))
    assert line.startswith("recipe cpu-8-minutes: expect 50.0% (shapes, drawn")


def test_a_recipe_of_another_version_is_no_obstacle(rewrite):
    settings = Settings(dataset="shapes", model="nano/4", recipe="cpu-forgotten")
    assert expected(settings) == []
    assert at_this_speed(settings, 6000, 100.0).endswith("takes about 1:00")


@pytest.mark.parametrize(
    ("change", "time"),
    [({}, "4:00"), ({"epochs": 5}, "2:00")],  # 6,000 images at 50 a second; what was measured took longer
)
def test_the_time_at_the_speed_seen_grows_from_what_was_measured(rewrite, change, time):
    rewrite({"minutes": 2.0, "images_per_second": 100.0})
    line = at_this_speed(choose(recipe="cpu-8-minutes", **change), 6000, 50.0)
    assert line == f"at 50 img/s, the speed seen here, the whole run takes about {time}"


def test_a_run_never_takes_less_than_its_training(rewrite):
    """A measured run may have had fewer training images, where some were held out."""
    rewrite({"minutes": 0.9, "images_per_second": 100.0}, {"minutes": 0.8, "seed": 1, "processor": "another"})
    line = at_this_speed(choose(recipe="cpu-8-minutes"), 6000, 50.0)
    assert line.endswith("takes about 2:00")
