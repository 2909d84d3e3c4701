"""Successive halving: the better half of the variants has twice the time, and no other is looked at again."""

import json

import pytest
from PIL import Image

from tests.tiny_runs import assert_one_line, interrupted_after
from tinyvit import data, study
from tinyvit.data import make_shapes
from tinyvit.studies import STUDIES
from tinyvit.studies.halving import HalvingPlan
from tinyvit.studies.results import result_of
from tinyvit.studies.study import COMMON, Study, Variant
from tinyvit.training import saving

SHAPE = {"model": "nano/4", "layers": 2, "width": 8, "mlp_width": 8, "heads": 2, "pool": "mean"}
TINY = Study(
    question="Which is the best?",
    paper="It does not say.",
    variants=lambda size, dataset: (
        Variant("base", {}),
        Variant("dropping", {"patch_dropout": 0.5}),
        Variant("slow", {"lr": 1e-9}),
        Variant("slower", {"lr": 1e-10}),
    ),
    usual=lambda size: COMMON | SHAPE | {"steps": 8, "warmup_steps": 1, "batch_size": 10, "validation": 20},
    x_name="time",
    measured_x="seconds",
    rounds=3,
)
ACCURACIES = {"base": 0.6, "dropping": 0.7, "slow": 0.9, "slower": 0.1}  # on the images held out
RUNS = [f"{name}-1x-0" for name in ACCURACIES] + ["dropping-2x-0", "slow-2x-0", "slow-4x-0", "slow-4x-1"]


@pytest.fixture
def run(go, tmp_path, monkeypatch):
    """run(flags ...) carries out the tiny study."""
    monkeypatch.setitem(STUDIES, "tiny", TINY)
    monkeypatch.setattr(data, "make_shapes", lambda seed: make_shapes(80, 20, seed))
    monkeypatch.setattr(saving, "draw_curves", lambda records, path, *_: path.touch())
    return lambda *flags: go(study, "tiny", "--out", tmp_path / "a", "--threads", "1", *flags)


@pytest.fixture
def judged(monkeypatch):
    """The accuracies of finished runs are those above, and the opposite on the test images; those in the set
    that this gives have diverged; a step took 1 s, or 3 s in `slow` and, in its second round, 5 s."""
    from tinyvit.studies import halving, results

    diverged, seconds = set(), {"slow-1x-0": 3, "slow-2x-0": 5}

    def result(folder):
        name = folder.name.rsplit("-", 2)[0]
        if name in diverged:
            return {"diverged": True, "held_out": None, "seconds": None, "images_seen": None}
        found = results.result_of(folder)
        took = found["images_seen"] // 10 * seconds.get(folder.name, 1)
        return found | {"held_out": ACCURACIES[name], "accuracy": 1 - ACCURACIES[name], "seconds": took}

    monkeypatch.setattr(halving, "result_of", result)
    return diverged


def steps(folder, name):
    return json.loads((folder / "runs" / name / "config.json").read_text("utf-8"))["settings"]["steps"]


def test_the_better_half_has_twice_the_time_and_seeds_come_last(run, judged, tmp_path, monkeypatch):
    with interrupted_after(monkeypatch, 5):
        assert run()[0] == 130
    assert "0 of 8 runs are done. To continue:" in run("--minutes", "1e-9")[1]
    status, out, err = run()
    assert (status, err) == (0, "")
    assert "8/8  slow-4x-1" in out
    folder = tmp_path / "a"
    assert sorted(path.name for path in (folder / "runs").iterdir()) == sorted(RUNS)
    assert steps(folder, "base-1x-0") == 8
    small = steps(folder, "dropping-1x-0")
    assert 8 < small < 16  # most steps see half of the patches
    median = (8 + small) / 2  # seconds of base, dropping, slow and slower: 8, more, 24 and 8
    assert steps(folder, "dropping-2x-0") == 2 * median  # by the clock
    assert steps(folder, "slow-2x-0") == round(2 * median / 3) == 7
    assert steps(folder, "slow-4x-0") == round(4 * median * (8 + 7) / (24 + 35))
    found = json.loads((folder / "results.json").read_text("utf-8"))
    assert [one["name"] for one in found["variants"]] == [name[:-2] for name in RUNS[:-1]]
    assert len(found["variants"][-1]["runs"]) == 2
    with Image.open(folder / "picture.png") as picture:
        assert picture.format == "PNG"
    assert "is finished: all 8 runs are done." in run()[1]


def test_what_was_held_out_decides_and_not_the_test_images(run, tmp_path, monkeypatch):
    assert run("--seeds", "1")[0] == 0
    runs = tmp_path / "a" / "runs"
    last = {
        path.name: json.loads((path / "metrics.jsonl").read_text("utf-8").splitlines()[-1])
        for path in runs.iterdir()
    }
    for name, record in last.items():
        found = result_of(runs / name)
        assert (found["held_out"], found["accuracy"]) == (record["val_accuracy"], record["test_accuracy"])
    by_held_out = sorted(RUNS[:4], key=lambda name: last[name]["val_accuracy"], reverse=True)
    assert {f"{name[:-5]}-2x-0" for name in by_held_out[:2]} == {name for name in last if "-2x-" in name}
    assert len(last) == 7
    assert all(record["test_accuracy"] is not None for record in last.values())


def test_nothing_is_decided_before_a_round_is_finished(tmp_path):
    plan = HalvingPlan("tiny", TINY, "small", "shapes", tmp_path)
    assert [job.name for job in plan.jobs(3)] == RUNS[:4]
    assert plan.count(3) == 9


@pytest.mark.parametrize(
    ("lost", "then"),
    [
        (("base", "dropping", "slow"), ["slower-2x-0", "slower-4x-0", "slower-4x-1"]),
        (("base", "dropping", "slow", "slower"), []),
    ],
)
def test_variants_that_diverged_are_out(run, judged, tmp_path, lost, then):
    judged |= set(lost)
    assert run()[0] == 0
    assert sorted(path.name for path in (tmp_path / "a" / "runs").iterdir()) == sorted(RUNS[:4] + then)
    assert f"is finished: all {4 + len(then)} runs are done." in run()[1]


def test_the_threads_are_those_of_the_beginning(run):
    run("--minutes", "1e-9")
    assert_one_line(run("--threads", "2"), "was begun with threads 1, not 2", "--out")


def test_all_rounds_and_seeds_cost_as_much_as_the_first(tmp_path):
    plan = HalvingPlan("tiny", TINY, "small", "shapes", tmp_path)
    first = sum(job.images for job in plan.jobs(1))
    assert plan.total(lambda job: job.images, seeds=2) == 4 * first
