"""A training run from start to end: what it leaves behind, and what its settings do."""

import json
import shutil
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from tests.tiny_runs import (
    arrays,
    assert_same_bits,
    assert_same_run,
    enter,
    interrupted_after,
    metrics,
    numbers,
    tiny,
)
from tinyvit import train
from tinyvit.data import DATASETS, image_side
from tinyvit.engine import ReferenceEngine
from tinyvit.model import preset
from tinyvit.optim import learning_rate
from tinyvit.training import evaluation
from tinyvit.training.recipes import recipe
from tinyvit.training.settings import Settings


@pytest.fixture
def run(capsys, monkeypatch, photos, tmp_path):
    """run(NAME, flags ...) trains and returns the run folder and what was printed."""

    def run(name, *more):
        status, out, err = enter(train, capsys, monkeypatch, *tiny(photos, tmp_path / name, *more))
        assert (status, err) == (0, "")
        return tmp_path / name, out

    return run


def test_a_run_leaves_seven_files_and_samples_and_says_what_comes_next(run):
    folder, out = run("a")
    names = {"config.json", "metrics.jsonl", "metrics.csv", "last.npz", "previous.npz", "best.npz"}
    names |= {"curves.png", "samples", "split.json"}
    assert {path.name for path in folder.iterdir()} == names
    records = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    keys = {"epoch", "step", "lr", "grad_norm", "train_loss", "test_loss", "test_accuracy"}
    keys |= {"images_per_second", "seconds"}
    assert [record.keys() for record in records] == [keys] * 3
    assert [(record["epoch"], record["step"]) for record in records] == [(1, 4), (2, 8), (3, 12)]
    assert all(0 < a["seconds"] < b["seconds"] for a, b in pairwise(records))
    for word in ("tinyvit.evaluate", "tinyvit.predict", "curves.png", "test accuracy"):
        assert word in out


def test_a_quiet_run_prints_nothing_but_errors(run, go):
    folder, out = run("a", "--quiet")
    assert out == "" and (folder / "best.npz").exists()
    status, out, err = go(train, "-q", "--config", "nowhere.json")
    assert (status, out) == (2, "") and "nowhere.json" in err


def test_output_that_is_piped_is_plain_lines(run):
    _, out = run("a")
    assert out.count("\nepoch ") == 3
    assert not set("\r\x1b") & set(out)


@pytest.mark.parametrize(
    ("flags", "lines"),
    [
        ("", []),
        ("--fraction 0.5", ["of these, 2 classes are used: 16 images to train on and 8 to test on"]),
        (
            "--validation 8",
            ["of these, 2 classes are used: 24 images to train on, 8 for validation and 8 to test on"],
        ),
        ("--only red,green", ["of these, 2 classes are used: 32 images to train on and 8 to test on"]),
    ],
)
def test_the_numbers_of_images_that_are_used_are_printed(run, photos, tmp_path, flags, lines):
    folder = photos
    if "--only" in flags:
        folder = shutil.copytree(photos, tmp_path / "p")
        shutil.copytree(photos / "red", folder / "green")
        for path in (folder / "green").iterdir():
            Image.open(path).transpose(Image.Transpose.ROTATE_90).save(path)
    _, out = run("a", "--epochs", "1", "--data-dir", folder, *flags.split())
    assert [found for found in out.splitlines() if found.startswith("of these")] == lines


def test_config_json_holds_every_setting(run):
    folder, _ = run("a", "--optimizer", "sgd", "--no-flip")
    config = json.loads((folder / "config.json").read_text())
    settings = Settings.from_dict(config["settings"])
    assert (settings.optimizer, settings.flip, settings.batch_size) == ("sgd", False, 8)
    assert config["classes"] == ["blue", "red"]
    assert settings.as_dict() == config["settings"]


def test_the_same_seed_gives_the_same_bits_and_another_seed_others(run):
    more = ("--dropout", "0.1", "--drop-path", "0.1")
    one, again, other = run("a", *more)[0], run("b", *more)[0], run("c", "--seed", "1", *more)[0]
    assert_same_run(one, again)
    a, c = arrays(one / "last.npz"), arrays(other / "last.npz")
    assert all((a[name] != c[name]).any() for name in a if name.endswith("weight") and a[name].ndim == 2)


def test_the_model_learns(run):
    _, out = run("a", "--epochs", "10", "--lr", "0.003")
    assert "test accuracy 100" in out


@pytest.mark.parametrize("parts", [2, 3, 8])
def test_a_batch_in_parts_gives_the_same_weights(run, parts):
    more = ("--epochs", "1", "--dropout", "0.1", "--drop-path", "0.1", "--optimizer", "sgd", "--lr", "0.1")
    whole = numbers(run("a", *more)[0] / "last.npz")
    cut = numbers(run("b", *more, "--accumulate", parts)[0] / "last.npz")
    for name in whole:
        np.testing.assert_allclose(cut[name], whole[name], rtol=1e-4, atol=1e-5, err_msg=name)


def test_with_a_validation_split_nobody_looks_at_the_test_images_before_the_end(run, monkeypatch):
    looked_at, evaluate = [], evaluation.evaluate

    def watched(engine, images):
        looked_at.append(len(images))
        return evaluate(engine, images)

    monkeypatch.setattr(evaluation, "evaluate", watched)
    folder, out = run("a", "--validation", "10")
    assert looked_at == [10, 10, 10, 8]
    records = metrics(folder)
    assert [record["test_accuracy"] is None for record in records] == [True, True, False]
    best = json.loads(str(arrays(folder / "best.npz")["progress"]))
    wanted = max(records, key=lambda record: (record["val_accuracy"], -record["val_loss"]))
    assert (best["best"], best["best_epoch"]) == (wanted["val_accuracy"], wanted["epoch"])
    assert "by validation accuracy" in out


@pytest.mark.parametrize(
    "more",
    [
        ("--optimizer", "sgd", "--lr", "0.05"),
        ("--optimizer", "adam"),
        ("--optimizer", "adamw"),
        ("--decay", "linear"),
        ("--decay", "constant"),
        ("--pool", "mean"),
        ("--dropout", "0.2"),
        ("--drop-path", "0.2"),
        ("--smoothing", "0.1"),
        ("--mixup", "0.2", "--smoothing", "0.1", "--accumulate", "3"),
        ("--cutmix", "1", "--batch-size", "1"),
        ("--erase", "1", "--repeats", "8"),
        ("--clip", "0"),
        ("--weight-decay", "0"),
        ("--warmup-epochs", "0"),
        ("--crop-padding", "7"),
        ("--no-flip",),
        ("--threads", "3"),
        ("--batch-size", "32"),
    ],
    ids=" ".join,
)
def test_every_choice_trains(run, monkeypatch, more):
    folder, _ = run("a", "--epochs", "2", *more)
    assert all(np.isfinite(array).all() for array in numbers(folder / "last.npz").values())
    assert len(metrics(folder)) == 2


def test_a_choice_is_respected(run, monkeypatch):
    two_blocks = ("--epochs", "1", "--layers", "2")  # of a single one, stochastic depth skips nothing
    plain = arrays(run("plain", *two_blocks)[0] / "last.npz")["param/head.weight"]
    choices = ["--optimizer sgd", "--optimizer adam", "--decay linear", "--decay constant", "--dropout 0.2"]
    choices += ["--drop-path 0.2", "--smoothing 0.1", "--clip 0.1", "--weight-decay 5", "--warmup-epochs 1"]
    choices += ["--crop-padding 0", "--no-flip", "--lr 0.01", "--batch-size 4", "--validation 8"]
    choices += ["--mixup 0.2", "--cutmix 1", "--erase 0.5", "--repeats 2", "--colour-jitter 0.4"]
    choices += ["--crop-padding 0 --crop-scale 0.5"]
    for choice in choices:
        folder, _ = run(choice.replace(" ", ""), *two_blocks, *choice.split())
        assert (arrays(folder / "last.npz")["param/head.weight"] != plain).any(), choice


@pytest.mark.parametrize(("flags", "warmup"), [((), 0.5), (("--warmup-epochs", "1.5"), 1.5)])
def test_a_short_run_has_a_short_warm_up(run, flags, warmup):
    folder, _ = run("a", "--epochs", "2", *flags)
    assert json.loads((folder / "config.json").read_text())["settings"]["warmup_epochs"] == warmup


def test_steps_count_instead_of_epochs(run):
    whole, by_steps = run("a", "--epochs", "2")[0], run("b", "--steps", "8", "--warmup-epochs", "0.5")[0]
    assert_same_bits(whole / "last.npz", by_steps / "last.npz")
    assert metrics(whole) == metrics(by_steps)


def test_the_last_epoch_is_cut_short_where_the_steps_end(run, monkeypatch):
    steps, take_step = [], ReferenceEngine.step

    def watched(self, plan, lr):
        loss, norm = take_step(self, plan, lr)
        steps.append((float(loss), float(norm), lr))
        return loss, norm

    monkeypatch.setattr(ReferenceEngine, "step", watched)
    folder, out = run("a", "--steps", "6")
    losses, norms, rates = zip(*steps, strict=True)
    first, last = metrics(folder)
    assert (first["step"], last["step"]) == (4, 6)
    assert last["train_loss"] == pytest.approx(np.mean(losses[4:]))
    assert last["grad_norm"] == pytest.approx(np.mean(norms[4:]))
    assert (first["lr"], last["lr"]) == (rates[3], rates[5])
    assert out.count("\nepoch ") == 2
    assert rates == pytest.approx([learning_rate(step, 6, 1e-3, 2, "cosine") for step in range(1, 7)])
    settings = json.loads((folder / "config.json").read_text())["settings"]
    assert (settings["epochs"], settings["warmup_epochs"]) == (2, 6 / 4 / 4)


@pytest.mark.parametrize("on_gpu", [False, True])
@pytest.mark.parametrize("dataset", DATASETS)
def test_recipes_name_valid_settings_and_models(dataset, on_gpu):
    settings = Settings(dataset=dataset, **recipe(dataset, on_gpu))
    side = 32 if dataset == "arrays" else image_side(dataset)
    preset(settings.model, side, 10, pool=settings.pool, drop_path=settings.drop_path)
    assert settings.crop_padding < side
    assert settings.warmup_epochs <= settings.epochs / 4
    assert Settings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings


def test_the_last_checkpoint_is_the_best_where_the_last_epoch_is(run):
    folder, _ = run("a", "--epochs", "1")
    last, best = numbers(folder / "last.npz"), numbers(folder / "best.npz")
    assert best.keys() == {name for name in last if not name.startswith("optimizer/")}
    for name in best:
        assert best[name].tobytes() == last[name].tobytes(), name


def test_of_epochs_that_are_equally_right_the_surer_one_is_the_best(run, monkeypatch):
    losses, evaluate = iter([0.5, 0.3, 0.4]), evaluation.evaluate

    def judged(*args):
        return replace(evaluate(*args), counts=np.array([[3, 1], [1, 3]]), loss=next(losses))

    monkeypatch.setattr(evaluation, "evaluate", judged)
    folder, _ = run("a")
    assert json.loads(str(arrays(folder / "best.npz")["progress"]))["best_epoch"] == 2


def test_stopped_after_the_last_step_of_an_epoch_its_rate_is_unknown(run, monkeypatch, capsys, tmp_path):
    with interrupted_after(monkeypatch, 4), pytest.raises(AssertionError):  # run expects an end with status 0
        run("a")
    status, out, err = enter(train, capsys, monkeypatch, "--resume", tmp_path / "a")
    assert (status, err) == (0, "")
    assert out.count("  - img/s") == 1
    lines = (tmp_path / "a" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["images_per_second"] is None for line in lines] == [True, False, False]
