"""A study, stopped anywhere and continued, finds what it would have found in one go."""

import json
import shlex
import shutil
import time
from contextlib import contextmanager
from unittest.mock import ANY

import pytest
from PIL import Image

from tests.support.shell.terminal import Unread
from tests.tiny_runs import assert_one_line, assert_same_run, interrupted_after
from tinyvit import data, study
from tinyvit.data import make_shapes
from tinyvit.engine import ReferenceEngine
from tinyvit.insight.pictures import of_runs
from tinyvit.training.settings import Settings
from tinyvit.training.studies import carry_out
from tinyvit.training.studies.paper import COMMON, SIZES, STUDIES, First, Study, Variant
from tinyvit.training.studies.plan import Plan
from tinyvit.training.studies.results import Row, rows_of

STEPS = 4
HALF = {"only": "disc,ring,square"}
TINY = Study(
    question="Does it work?",
    paper="Table 0: it does.",
    variants=lambda size, dataset: (
        Variant("slow", {"lr": 1e-4}, ("plain",), 1e-4, paper="12.5%"),
        Variant("tuned", {"fraction": 0.5}, ("tuned",), 2e-3, First("first", HALF)),
    ),
    usual=lambda size: (
        COMMON
        | {
            "model": "nano/16",
            "steps": STEPS,
            "batch_size": 10,
            "lr": 2e-3,
            "warmup_steps": 1,
            "crop_padding": 1,
        }
        | {"layers": 1, "width": 8, "mlp_width": 8, "heads": 2}
    ),
    x_name="learning rate",
)
NAMES = [f"{name}-{seed}" for seed in (0, 1) for name in ("slow", "first", "tuned")]


@pytest.fixture(autouse=True)
def tiny_studies(monkeypatch):
    """Studies of a second, on 60 training and 20 test images."""
    monkeypatch.setitem(STUDIES, "tiny", TINY)
    monkeypatch.setattr(data, "make_shapes", lambda seed: make_shapes(60, 20, seed))
    monkeypatch.setattr(of_runs, "draw_curves", lambda records, path, *_: path.touch())


@pytest.fixture
def run(go, tmp_path):
    """run(OUT, flags ...) carries out the tiny study: exit status, stdout, stderr."""
    return lambda out, *flags: go(study, "tiny", "--out", tmp_path / out, "--threads", "1", *flags)


def found(out):
    """results.json, but for the times."""
    result = json.loads((out / "results.json").read_text("utf-8"))
    for variant in result["variants"]:
        for one in variant["runs"]:
            del one["seconds"]
    return result


def tabulated(table):
    """The rows of the first table in a text: the cells by the headings above them."""
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return [dict(zip(lines[0], cells, strict=True)) for cells in lines[1:]]


def test_a_study_tabulates_and_draws_what_its_runs_came_to(run, tmp_path):
    status, out, err = run("a")
    assert (status, err) == (0, "")
    assert "Does it work? 6 runs on shapes" in out
    assert "3/6  tuned-0 " in out
    folder = tmp_path / "a"
    assert sorted(path.name for path in (folder / "runs").iterdir()) == sorted(NAMES)
    slow, tuned = found(folder)["variants"]
    config = json.loads((folder / "runs" / "slow-1" / "config.json").read_text("utf-8"))
    last = json.loads((folder / "runs" / "slow-1" / "metrics.jsonl").read_text("utf-8").splitlines()[-1])
    assert (slow["name"], slow["settings"], slow["first"]) == ("slow", {"lr": 1e-4}, None)
    assert tuned["first"] == HALF
    assert slow["runs"][1]["accuracy"] == last["test_accuracy"]
    assert slow["runs"][1]["parameters"] == config["parameters"]
    assert slow["runs"][1]["images_seen"] == STEPS * 10
    first, second = (one["accuracy"] for one in slow["runs"])
    assert slow["mean_accuracy"] == pytest.approx((first + second) / 2)
    assert slow["spread"] == pytest.approx(abs(first - second) / 2**0.5)
    table = (folder / "table.md").read_text("utf-8")
    figures = {"variant": "slow", "starts from": "scratch", "test accuracy": f"{50 * (first + second):.1f}%"}
    figures |= {"± over seeds": f"{100 * slow['spread']:.1f}", "seeds": "2", "images seen": "40"}
    figures |= {"parameters": f"{config['parameters']:,}", "in the paper": "12.5%"}
    figures |= {"multiply-adds": f"{slow['runs'][0]['multiply_adds']:,}", "time of a run": ANY}
    first, other = tabulated(table)
    assert first == figures and (other["starts from"], other["in the paper"]) == ("first", "-")
    assert "`python -m tinyvit.study tiny --dataset shapes --size small --seeds 2`" in table
    with Image.open(folder / "picture.png") as picture:
        assert picture.format == "PNG"
    status, out, _ = run("a")
    assert (status, out.splitlines()[0]) == (0, f"{folder} is finished: all 6 runs are done.")
    assert run("a", "--seeds", "3")[0] == 0
    assert len(found(folder)["variants"][0]["runs"]) == 3
    shutil.rmtree(folder / "runs" / "slow-0")
    left = rows_of(Plan("tiny", TINY, "small", "shapes", folder), 3)
    assert [row.of("seed") for row in left] == [[1, 2], [0, 1, 2]]


def test_stopped_by_ctrl_c_and_by_the_clock_it_finds_the_same(run, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "draw", lambda *_: None)
    assert run("alone")[0] == 0
    with interrupted_after(monkeypatch, 2):
        status, out, _ = run("a")
    assert status == 130
    assert "0 of 6 runs are done. To continue:" in out
    with out_of_time_after(monkeypatch, "tuned-0", 3):
        status, out, err = run("a", "--minutes", "1")
    assert (status, err) == (0, "")
    assert "2 of 6 runs are done, about 0:0" in out
    assert f"python -m tinyvit.study tiny --minutes 1 --out {tmp_path / 'a'} --threads 1" in out
    table = (tmp_path / "a" / "table.md").read_text("utf-8")
    assert "| - | 1 |" in table and "| tuned | first | - | - | 0 |" in table
    with out_of_time_after(monkeypatch, "slow-1", STEPS):  # between two runs, all but exactly
        assert run("a", "--minutes", "1")[0] == 0
    assert run("a")[0] == 0
    assert found(tmp_path / "a") == found(tmp_path / "alone")
    for name in NAMES:
        if not name.startswith("tuned"):  # whose settings name the folder that it started from
            assert_same_run(tmp_path / "a" / "runs" / name, tmp_path / "alone" / "runs" / name)


def test_a_study_that_nobody_reads_ends_quietly_and_is_continued(run, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("tinyvit.support.shell.moving_line.PLAIN_SECONDS", 0)  # a line for each step
        patch.setattr("sys.stdout", Unread(f"in {tmp_path / 'a'}"))
        status, _, err = run("a")
    assert (status, err) == (0, "")
    assert [path.name for path in (tmp_path / "a" / "runs").iterdir()] == NAMES[:1]
    assert run("a")[0] == 0


@contextmanager
def out_of_time_after(monkeypatch, name, step):
    """Within this context, an hour passes during that step of the run of that name."""
    clock, running = [time.monotonic()], []
    take_step, make = ReferenceEngine.step, carry_out.make_run

    def stepped(self, plan, lr):
        clock[0] += 3600 * (running[-1] == name and plan.step == step)
        return take_step(self, plan, lr)

    def made(plan, job, *rest):
        running.append(job.name)
        return make(plan, job, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(time, "monotonic", lambda: clock[0])
        patch.setattr(ReferenceEngine, "step", stepped)
        patch.setattr(carry_out, "make_run", made)
        yield


def test_no_time_at_all_is_no_mistake(run, tmp_path):
    status, out, err = run("a", "--minutes", "1e-9")
    assert (status, err) == (0, "")
    assert "0 of 6 runs are done. To continue:" in out
    assert not (tmp_path / "a" / "table.md").exists()


def test_a_folder_that_cannot_be_made_is_one_line(run, tmp_path):
    (tmp_path / "file").touch()
    assert_one_line(run("file/a"), f"cannot create the folder {tmp_path / 'file' / 'a'}", "--out")


def test_a_folder_holds_one_study(run, go, tmp_path, monkeypatch):
    run("a", "--minutes", "1e-9")
    assert_one_line(run("a", "--size", "medium"), "was begun with size small, not medium", "--out")
    assert_one_line(run("a", "--dataset", "cifar10"), "was begun with dataset shapes, not cifar10")
    assert_one_line(go(study, "pooling", "--out", tmp_path / "a"), "a was begun with study tiny, not pooling")
    changed = Study(TINY.question, TINY.paper, lambda *_: TINY.variants("small", "shapes")[:1], TINY.usual)
    monkeypatch.setitem(STUDIES, "tiny", changed)
    assert_one_line(run("a"), "other settings")
    for damaged in ("{", "3"):
        (tmp_path / "a" / "study.json").write_text(damaged)
        assert_one_line(run("a"), "study.json is damaged")


def test_a_run_that_diverges_is_a_result_too(run, tmp_path, monkeypatch):
    diverging = Variant("wild", {"lr": 1e30, "warmup_steps": 0, "clip": 0.0}, ("plain",), 1e30)
    both = Study("?", "!", lambda *_: (diverging, TINY.variants("small", "shapes")[0]), TINY.usual)
    monkeypatch.setitem(STUDIES, "tiny", both)
    status, out, err = run("a")
    assert (status, err) == (0, "")
    assert "diverged" in out
    wild, slow = found(tmp_path / "a")["variants"]
    assert [one["diverged"] for one in wild["runs"]] == [True, True]
    assert wild["mean_accuracy"] is None and slow["mean_accuracy"] is not None
    assert "| wild | - (2 diverged) | - | 2 |" in (tmp_path / "a" / "table.md").read_text("utf-8")
    assert "all 4 runs are done" in run("a")[1]


def test_what_starts_from_a_run_that_diverged_has_diverged_too(run, tmp_path, monkeypatch):
    wild = First("first", {"lr": 1e30, "warmup_steps": 0, "clip": 0.0})
    variants = Variant("tuned", {}, ("tuned",), 1.0, wild), TINY.variants("small", "shapes")[0]
    monkeypatch.setitem(STUDIES, "tiny", Study("?", "!", lambda *_: variants, TINY.usual))
    assert run("a", "--seeds", "1")[::2] == (0, "")
    tuned, slow = found(tmp_path / "a")["variants"]
    assert tuned["runs"][0]["diverged"] and slow["mean_accuracy"] is not None
    assert "all 3 runs are done" in run("a", "--seeds", "1")[1]


def test_a_run_killed_between_its_last_checkpoint_and_its_metrics_is_finished(run, tmp_path):
    assert run("a", "--seeds", "1")[0] == 0
    whole = found(tmp_path / "a")
    metrics = tmp_path / "a" / "runs" / "slow-0" / "metrics.jsonl"
    metrics.unlink()
    assert run("a", "--seeds", "1")[::2] == (0, "")
    assert found(tmp_path / "a") == whole and metrics.is_file()


def test_the_studies_are_listed_with_their_questions_and_costs(go):
    status, out, err = go(study)
    assert (status, err) == (0, "")
    for line, (name, listed) in zip(out.splitlines(), STUDIES.items(), strict=True):
        assert line.startswith(f"  {name:<{max(map(len, STUDIES))}}  {listed.question}")
        assert " runs, " in line and "image passes" in line
    assert_one_line(go(study, "nonsense"), "there is no study 'nonsense'", "pooling")
    assert_one_line(go(study, "--minutes", "3"), "--out and --minutes are for a study: name one")


def test_the_command_that_continues_a_study_is_the_one_that_began_it():
    given = ["pooling", "--minutes=1234567.5", "--data-dir=d.0", "--out=-x 1.0", "--seeds=3"]
    args = study.parser().parse_args(given)
    words = shlex.split(study.again(args).partition("tinyvit.study")[2])
    assert vars(study.parser().parse_args(words)) == vars(args)


def test_a_picture_is_named_only_if_it_was_drawn(tmp_path, monkeypatch, capsys):
    diverged = Row(Variant("wild", {}), ({"diverged": True, "accuracy": None},))
    monkeypatch.setattr(study, "rows_of", lambda *_: [diverged])
    monkeypatch.setattr(study, "write_results", lambda *_: None)
    study.show(Plan("tiny", TINY, "small", "shapes", tmp_path), 1)
    assert capsys.readouterr().out.endswith("results.json\n") and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("size", SIZES)
def test_every_study_is_made_of_runs_that_can_be_made(name, size, tmp_path):
    plan = Plan(name, STUDIES[name], size, "cifar10", tmp_path)
    jobs = list(plan.jobs(1))
    assert len({job.name for job in jobs}) == len(jobs)
    for job in jobs:
        settings = Settings.from_dict({"model": "", **job.chosen})
        assert settings.steps > settings.warmup_steps
        assert plan.work(job) > 0
    if STUDIES[name].x_name and not STUDIES[name].measured_x:
        assert all(variant.x or len(variant.lines) == 1 for variant in plan.variants)
