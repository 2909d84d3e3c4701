"""The study of lesson 15: what is compared differs in one ingredient, and gains come with their errors."""

import importlib
import math

import pytest

from tinyvit.training.settings import Settings
from tinyvit.training.studies.paper import SIZES
from tinyvit.training.studies.plan import Plan

study = importlib.import_module("lessons.15_recipes.ingredients")
draw = importlib.import_module("lessons.15_recipes.figures.draw")


@pytest.mark.parametrize("size", SIZES)
def test_each_comparison_is_of_two_runs_that_differ_in_that_ingredient_alone(size, tmp_path):
    plan = Plan("ingredients", study.STUDY, size, "cifar10", tmp_path)
    settings = {
        variant.name: Settings.from_dict({"model": "", **plan.job(variant, 0).chosen}).as_dict()
        for variant in plan.variants
    }
    changed = {}
    compared = list(study.comparisons(size))
    for name, _, with_it, without_it in compared:
        added, without = settings[with_it], settings[without_it]
        differences = {key: added[key] for key in added if added[key] != without[key]}
        assert differences and changed.setdefault(name, differences) == differences
        assert without[next(iter(differences))] == settings["plain"][next(iter(differences))]
    assert len(compared) == 2 * len(changed) == len(settings) - 2 == 22
    if size == "large":
        full = {key: value for differences in changed.values() for key, value in differences.items()}
        assert full == {key: settings["full"][key] for key in full}


def test_gains_have_one_spread_for_all_variants():
    found = {"plain": [0.5, 0.52], "plain-and-muon": [0.6, 0.64], "full": [0.8], "full-without-muon": []}
    (gain,) = draw.compared(found, "small")
    spread = math.sqrt((2 * 0.01**2 + 2 * 0.02**2) / 2)
    assert gain["gain"] == pytest.approx(0.11) and gain["gain_by_seed"] == pytest.approx([0.1, 0.12])
    assert gain["standard_error"] == pytest.approx(spread)


def test_the_study_is_carried_out_by_a_command_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setattr(study, "carry_out", lambda plan, seeds, where, deadline: 7)
    args = type("Args", (), {"minutes": 1.0, "size": "small", "seeds": 1, "device": "cpu", "out": tmp_path})
    assert study.main(args) == 7
    assert "python -m lessons.15_recipes.ingredients --size small" in (tmp_path / "table.md").read_text(
        "utf-8"
    )
