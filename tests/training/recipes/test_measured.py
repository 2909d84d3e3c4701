"""The report on a recipe's runs: in the list, and on its own page."""

import re

import pytest

from tests.tiny_runs import assert_one_line
from tinyvit import recipe
from tinyvit.training.recipes import ON_CPU, RECIPES, named_recipe


def test_runs_that_can_be_compared_are_averaged(rewrite):
    rewrite(
        {"accuracy": 0.702, "seed": 0, "minutes": 16.0, "images_per_second": 1000.0},
        {"accuracy": 0.708, "seed": 1, "minutes": 17.0, "images_per_second": 1400.0},
        {"accuracy": 0.714, "seed": 2, "minutes": 18.0, "images_per_second": 1200.0},
    )
    assert list(named_recipe("cpu-8-minutes").results()) == [
        "70.8 ± 0.6% (folder, drawn, 3 seeds) in 17:00 at 1,200 img/s on a processor, 2 cores"
    ]


def test_two_runs_have_no_spread_worth_a_number(rewrite):
    rewrite({"accuracy": 0.702, "seed": 0}, {"accuracy": 0.709, "seed": 1})
    assert next(named_recipe("cpu-8-minutes").results()).startswith("70.2, 70.9% (folder, drawn, 2 seeds)")


@pytest.mark.parametrize(
    ("other", "ending"),
    [
        (
            {"copy": "photographed"},
            "(folder, photographed, one seed) in 2:00 at 100 img/s on a processor, 2 cores",
        ),
        ({"processor": "another"}, "(folder, drawn, one seed) in 2:00 at 100 img/s on another"),
        ({"dataset": "shapes"}, "(shapes, drawn, one seed) in 2:00 at 100 img/s on a processor, 2 cores"),
    ],
)
def test_runs_that_cannot_be_compared_are_not(rewrite, other, ending):
    rewrite({"accuracy": 0.7}, {"accuracy": 0.8} | other)
    one, two = named_recipe("cpu-8-minutes").results()
    assert one.startswith("70.0% (folder, drawn, one seed)") and two == f"80.0% {ending}"


def test_the_list_says_what_each_recipe_is_for_and_what_it_reached(go, rewrite):
    rewrite({})
    status, out, err = go(recipe)
    assert (status, err) == (0, "")
    for name in RECIPES:
        assert re.search(rf"^  {name} +{re.escape(named_recipe(name).purpose)}$", out, re.MULTILINE)
    line = "75.0% (folder, drawn, one seed) in 2:00 at 100 img/s on a processor, 2 cores"
    assert re.search(rf"cpu-8-minutes +For tests\n +{re.escape(line)}\n", out)


def test_the_list_names_the_machine_of_each_name_and_calculates_the_time_on_this_one(go, rates):
    out = go(recipe)[1]
    for name in RECIPES:
        machine = "two Zen 5 cores" if name in ON_CPU else "an H200"
        assert re.search(rf"^  {name} .*{machine}", out, re.MULTILINE)
    here = re.findall(r"^ +on this machine about (.*)$", out, re.MULTILINE)
    assert here == ["10 minutes", "27 minutes", "49 minutes", "1.9 hours"]  # at 1,000 images a second
    assert len(rates) == 4, "for GPUs nothing is measured"
    assert "\non this machine about 27 minutes\n" in go(recipe, "cpu-20-minutes")[1]


def test_one_recipe_is_shown_with_its_settings_and_runs(go, rewrite):
    rewrite({}, {"seed": 7, "accuracy": 0.8})
    status, out, err = go(recipe, "cpu-8-minutes")
    assert (status, err) == (0, "")
    for line in (
        "  image size     8",
        "  model          nano/4",
        "They take seconds.",
        "--recipe cpu-8-minutes",
    ):
        assert line in out
    assert "  75.0%  folder, drawn, seed 0, 2026-11-22\n  80.0%  folder, drawn, seed 7, 2026-11-22\n" in out
    rewrite()
    assert "nobody has measured it yet" in go(recipe, "cpu-8-minutes")[1]


def test_an_unknown_name_is_answered_with_all_names_and_what_they_are_for(go, rewrite):
    rewrite()
    words = [f"{name} ({named_recipe(name).purpose})" for name in RECIPES]
    assert_one_line(go(recipe, "cpu-slow"), "there is no recipe 'cpu-slow'", *words)
