"""Training by a recipe: which settings a run gets, what it says at its start, and what it remembers."""

import itertools
import json
import re
from types import SimpleNamespace

import pytest

from tests.tiny_runs import assert_one_line, interrupted_after, tiny
from tinyvit import evaluate, finetune, info, pretrain, train
from tinyvit.backend import select_device
from tinyvit.training.choices import new_settings
from tinyvit.training.recipes import followed, recipe, time_here
from tinyvit.training.recipes.time_here import training_rate
from tinyvit.training.settings import Settings
from tinyvit.training.starting_point import fresh_config

NAMED = "recipe cpu-8-minutes: python -m tinyvit.recipe cpu-8-minutes shows what it reached"


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


def test_what_a_run_says_and_remembers(go, follow, rewrite, tmp_path):
    rewrite()
    status, out, err = follow()
    assert (status, err) == (0, "")
    assert re.search(r"^tinyvit .*\n(.*)\n", out, re.MULTILINE)[1] == NAMED
    assert json.loads((tmp_path / "run" / "config.json").read_text())["settings"]["recipe"] == "cpu-8-minutes"
    assert "best.npz of recipe cpu-8-minutes on 8 test images: " in go(evaluate, tmp_path / "run")[1]
    assert json.loads(go(evaluate, tmp_path / "run", "--json")[1])["recipe"] == "cpu-8-minutes"
    assert "trained by the recipe cpu-8-minutes" in go(info, tmp_path / "run")[1]


def test_a_long_run_says_about_how_long_it_takes_here(follow, rewrite, rates, monkeypatch, tmp_path):
    rewrite()
    assert "on this machine" not in follow()[1]
    assert not rates, "a short run is not kept waiting"
    monkeypatch.setattr(time_here, "_SHORT", 0)
    monkeypatch.setattr(time_here, "training_rate", lambda *args: 1.0)
    # Three passes through 32 images, and three evaluations on 8 of a third of the cost.
    words = "\nit takes about 2 minutes on this machine, calculated from a second of training\n"
    assert words in follow("--out", tmp_path / "b")[1]
    assert "on this machine" not in follow("--out", tmp_path / "c", "--lr", "0.003")[1]


def test_the_rate_is_that_of_whole_steps(monkeypatch):
    settings, ticks = choose(recipe="cpu-8-minutes", threads=1), itertools.count()
    monkeypatch.setattr(time_here, "time", SimpleNamespace(perf_counter=lambda: next(ticks) / 4))
    assert training_rate(settings, fresh_config(settings, 8, 2), 1.0) == settings.batch_size / 0.25


def test_a_run_that_differs_from_its_recipe_says_in_what(go, follow, rewrite, tmp_path):
    rewrite()
    status, out, _ = follow("--lr", "0.003")
    assert (status, "recipe cpu-8-minutes, but for lr: " in out) == (0, True)
    what = "cpu-8-minutes, but for lr"
    assert f"best.npz of recipe {what}" in go(evaluate, tmp_path / "run")[1]
    assert (
        f"trained by the recipe {what}: see python -m tinyvit.recipe cpu-8-minutes\n"
        in go(info, tmp_path / "run")[1]
    )


def test_a_resumed_run_does_not_name_its_recipe_again(go, follow, rewrite, tmp_path, monkeypatch):
    rewrite()
    with interrupted_after(monkeypatch, 5):
        status, out, _ = follow()
    assert (status, NAMED in out) == (130, True)
    status, out, err = go(train, "--resume", tmp_path / "run")
    assert (status, err, NAMED in out) == (0, "", False)


def test_a_run_without_a_recipe_says_nothing_of_the_kind(go, photos, tmp_path):
    status, out, _ = go(train, *tiny(photos, tmp_path / "run", "--epochs", "1"))
    assert (status, "\nrecipe " in out) == (0, False)
    said = go(evaluate, tmp_path / "run")[1] + go(info, tmp_path / "run")[1]
    assert "of recipe" not in said
    assert "the recipe" not in said


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({}, "cpu-8-minutes"),
        ({"seed": 4, "threads": 7, "device": "gpu", "accumulate": 2, "evaluate_every": 3}, "cpu-8-minutes"),
        ({"dataset": "shapes"}, "cpu-8-minutes"),
        ({"lr": 0.5, "crop_padding": 2}, "cpu-8-minutes, but for crop padding, lr"),
    ],
)
def test_a_recipe_is_followed_unless_another_experiment_is_made_of_it(rewrite, change, name):
    rewrite()
    assert followed(choose(recipe="cpu-8-minutes", **change)) == name


def test_a_recipe_of_another_version_is_no_obstacle():
    assert followed(Settings(dataset="shapes", model="nano/4", recipe="cpu-forgotten")) == ""
