"""What a study's comparisons come to: gains of pairs of variants, and how much of them may be chance."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from tinyvit.studies import STUDIES
from tinyvit.studies.picture import draw
from tinyvit.studies.plan import Plan
from tinyvit.studies.results import Row
from tinyvit.studies.study import SIZES, Comparison, Study, Variant
from tinyvit.studies.worth import common_spread, worths_of
from tinyvit.studies.writing import write_results
from tinyvit.training.settings import Settings

VARIANTS = (Variant("plain", {}), Variant("plain-and-salt", {}), Variant("full", {}))
COMPARED = (
    Comparison("salt", "plain recipe", "plain-and-salt", "plain"),
    Comparison("salt", "full recipe", "full", "plain-and-salt"),
)
SALTED = Study("Salt?", "Yes.", lambda *_: VARIANTS, usual=lambda size: {}, comparisons=lambda size: COMPARED)
UNKNOWN = dict.fromkeys(("parameters", "multiply_adds", "images_seen", "loss", "seconds"), 1.0)


def row(variant, accuracies):
    """A variant with the results of its seeds; None diverged."""
    results = [
        {"seed": seed, "accuracy": value, "diverged": value is None} | UNKNOWN
        for seed, value in enumerate(accuracies)
    ]
    return Row(variant, tuple(results))


def rows(*accuracies):
    return [row(*pair) for pair in zip(VARIANTS, accuracies, strict=True)]


def plan(out=Path()):
    return Plan("salted", SALTED, "small", "shapes", out)


def test_a_gain_is_that_of_the_means_and_its_error_comes_from_all_runs():
    found = rows([0.5, 0.52, 0.54], [0.6, 0.7], [0.8, 0.82] * 3)
    squares = 2 * 0.02**2 + 2 * 0.05**2 + 6 * 0.01**2
    spread = math.sqrt(squares / 8)
    assert common_spread(found) == pytest.approx(spread)
    first, second = worths_of(plan(), found)
    assert (first.comparison, second.comparison) == COMPARED
    assert first.gain == pytest.approx(0.13)
    assert first.by_seed == pytest.approx((0.1, 0.18))
    assert first.error == pytest.approx(spread * math.sqrt(1 / 3 + 1 / 2))
    assert second.by_seed == pytest.approx((0.2, 0.12))


def test_seeds_that_diverged_and_variants_without_runs_are_left_out():
    first, second = worths_of(plan(), rows([0.5, 0.6], [None, 0.7], [0.8, 0.85]))
    assert first.by_seed == pytest.approx((0.1,))
    assert first.gain == pytest.approx(0.15)
    assert second.by_seed == pytest.approx((0.15,))
    assert [worth.comparison for worth in worths_of(plan(), rows([0.5], [0.6], []))] == [COMPARED[0]]
    assert worths_of(plan(), rows([0.5], [None], [0.7])) == []


@pytest.mark.parametrize("again", [[], [0.5]], ids=["one seed", "one variant has two"])
def test_few_runs_say_nothing_of_chance(tmp_path, again):
    found = rows([0.5, *again], [0.6], [0.8])
    assert [worth.error for worth in worths_of(plan(), found)] == [None, None]
    write_results(plan(tmp_path), 1, found)
    table = (tmp_path / "table.md").read_text("utf-8")
    assert "| salt | +10.0 | +20.0 |" in table and "Too few variants have two runs" in table


def test_gains_are_written_and_drawn(tmp_path):
    found = rows([0.5, 0.52] * 2, [0.6, 0.64] * 2, [0.55, 0.55] * 2)
    write_results(plan(tmp_path), 4, found)
    table = (tmp_path / "table.md").read_text("utf-8")
    error = math.sqrt((4 * 0.01**2 + 4 * 0.02**2) / 9 * 2 / 4)
    assert "| points gained by | in the plain recipe | in the full recipe |" in table
    assert f"| salt | +11.0 ± {100 * error:.1f} | -7.0 ± {100 * error:.1f} |" in table
    written = json.loads((tmp_path / "results.json").read_text("utf-8"))["comparisons"]
    assert [one["gain"] for one in written] == pytest.approx([0.11, -0.07])
    assert written[0]["gain_by_seed"] == pytest.approx([0.1, 0.12] * 2)
    draw(plan(tmp_path), found)
    assert (tmp_path / "picture.png").stat().st_size > 5_000


@pytest.mark.parametrize("size", SIZES)
def test_each_comparison_of_ingredients_is_of_two_runs_that_differ_in_that_ingredient_alone(size, tmp_path):
    plan = Plan("ingredients", STUDIES["ingredients"], size, "cifar10", tmp_path)
    settings = {
        variant.name: Settings.from_dict({"model": "", **plan.job(variant, 0).chosen}).as_dict()
        for variant in plan.variants
    }
    compared = plan.study.comparisons(size)
    changed = {}
    for one in compared:
        added, without = settings[one.added], settings[one.without]
        differences = {name: added[name] for name in added if added[name] != without[name]}
        assert differences, one
        assert changed.setdefault(one.name, differences) == differences
        assert without[next(iter(differences))] == settings["plain"][next(iter(differences))]
    assert len(compared) == 2 * len(changed) == len(settings) - 2
    assert len(changed) == 11
    names = [name for differences in changed.values() for name in differences]
    assert len(set(names)) == len(names)
    if size == "large":
        full = {name: settings["full"][name] for name in names}
        assert full == {name: value for found in changed.values() for name, value in found.items()}


def test_seeds_matter_as_much_for_every_variant():
    """The common spread is right on average: that of draws of which it is known."""
    rng = np.random.default_rng(0)
    squares = [
        common_spread(rows(*(rng.normal(mean, 0.03, 4) for mean in (0.1, 0.5, 0.9)))) ** 2 for _ in range(400)
    ]
    assert math.sqrt(np.mean(squares)) == pytest.approx(0.03, rel=0.05)
