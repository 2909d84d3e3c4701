"""Fine-tuning a part of a model, as a user does it: frozen parts, layer-wise rates, LoRA."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from tests.tiny_runs import arrays, assert_one_line, assert_same_run, interrupted_after, metrics, tiny
from tinyvit import finetune, predict, preset, pretrain, train
from tinyvit.backend import select_device
from tinyvit.support.errors import UserError
from tinyvit.training.choices import fitted_to_data, new_settings
from tinyvit.training.run_folder import RunFolder

LEARNING = [
    ("--freeze", "backbone"),
    ("--freeze", "stem,blocks.0-1", "--optimizer", "adamw"),
    ("--layer-decay", "0.7", "--optimizer", "adamw"),
    ("--lora", "2"),
]


@pytest.fixture
def base(run_once):
    """A run of nano/4 on 8 x 8 pixels and two classes."""
    return run_once("--epochs", "1", "--layers", "3")


def onto(photos, out, *more):
    flags = {"dataset": "folder", "data-dir": photos, "batch-size": 8, "epochs": 3}
    flags |= {"threads": 1, "device": "cpu", "out": out}
    return [str(word) for name, value in flags.items() for word in (f"--{name}", value)] + [*more]


def parameters(run, name):
    return {
        name.removeprefix("param/"): a for name, a in arrays(run / f"{name}.npz").items() if "param/" in name
    }


@pytest.mark.parametrize("learning", LEARNING)
def test_a_run_that_was_stopped_ends_with_the_same_bits(go, base, photos, tmp_path, monkeypatch, learning):
    status, out, err = go(finetune, base, *onto(photos, tmp_path / "a", *learning))
    assert (status, err) == (0, "")
    assert " numbers learn, and " in out
    with interrupted_after(monkeypatch, 3):
        assert go(finetune, base, *onto(photos, tmp_path / "b", *learning))[0] != 0
    assert go(finetune, "--resume", tmp_path / "b")[0] == 0
    assert_same_run(tmp_path / "b", tmp_path / "a")
    losses = [record["train_loss"] for record in metrics(tmp_path / "a")]
    assert losses[-1] < losses[0]


def test_what_is_frozen_is_in_the_result_as_it_was(go, base, photos, tmp_path):
    assert go(finetune, base, *onto(photos, tmp_path / "a", "--freeze", "backbone"))[0] == 0
    before, after = parameters(base, "best"), parameters(tmp_path / "a", "last")
    for name, values in after.items():
        assert (values == before[name]).all() != name.startswith("head."), name


def test_the_model_of_lora_is_one_like_any_other(go, base, photos, tmp_path):
    assert go(finetune, base, *onto(photos, tmp_path / "a", "--lora", "2"))[0] == 0
    settings = json.loads((tmp_path / "a" / "config.json").read_text("utf-8"))["settings"]
    assert (settings["optimizer"], settings["lr"], settings["lora_alpha"]) == ("adamw", 1e-3, None)
    before, after = parameters(base, "best"), parameters(tmp_path / "a", "best")
    assert after.keys() == before.keys()
    name = "blocks.1.attn.out.weight"
    assert np.linalg.matrix_rank((after[name] - before[name]).astype(np.float64), tol=1e-5) == 2
    assert go(predict, tmp_path / "a", *sorted((photos / "red").iterdir())[:1])[0] == 0


def test_a_part_that_the_model_does_not_have_is_one_line(go, base, photos, tmp_path):
    result = go(finetune, base, *onto(photos, tmp_path / "a", "--freeze", "blocks.3"))
    assert_one_line(result, "blocks.3", "blocks.0 to blocks.2")


NEW_HEAD = "would freeze the new head, which is all zeros"
TOGETHER = "LoRA learns at one rate in all blocks: omit --layer-decay, or --lora"
NOTHING_LEARNS = [
    (finetune, "--freeze head", NEW_HEAD),
    (finetune, "--freeze head.weight,stem", NEW_HEAD),
    (finetune, "--freeze head --lora 2", NEW_HEAD),
    (finetune, "--freeze backbone,head", "would freeze the whole model"),
    (train, "--freeze head", NEW_HEAD),
    (pretrain, "--freeze head", NEW_HEAD),
    (finetune, "--lora 10000", "--lora 10,000 is more than the rank of the matrices, which is 64 at most"),
    (train, "--lora 33 --width 32", "--lora 33 is more than the rank of the matrices, which is 32 at most"),
    (finetune, "--lora-alpha 4", "--lora-alpha has no effect without --lora: give --lora as well"),
    (finetune, "--lora 2 --freeze stem", "LoRA is for attention that is frozen, and all of it would learn"),
    (finetune, "--lora 2 --layer-decay 0.5", TOGETHER),
    (train, "--lora 2 --layer-decay 0.5", TOGETHER),
    (finetune, "--freeze blocks.7", "--freeze has 'blocks.7', but the blocks of the model are blocks.0 to"),
    (train, "--freeze nonsense", "--freeze has 'nonsense', which is no part of the model"),
    (train, "--only red,green", "has no class 'green': expected some of 'blue', 'red'"),
    (train, "--only red", "expected at least two different classes to keep, not 'red'"),
    (pretrain, "--only red,red", "expected at least two different classes to keep, not 'red', 'red'"),
    (train, "--epochs 3 --warmup-epochs 3.5", "the warm-up of 3.5 epochs is longer than the run of 3 epochs"),
    (finetune, "--steps 9 --warmup-steps 10", "the warm-up of 10 steps is longer than the run of 9 steps"),
]


@pytest.mark.parametrize(("command", "flags", "why"), NOTHING_LEARNS)
def test_what_cannot_learn_is_refused_before_any_photo_is_read(
    go, base, photos, tmp_path, monkeypatch, command, flags, why
):
    monkeypatch.setattr("tinyvit.data.folder.read_photos", lambda *args, **more: pytest.fail("it was read"))
    words = [base, *onto(photos, tmp_path / "a")] if command is finetune else tiny(photos, tmp_path / "a")
    if "--steps" in flags:
        del words[words.index("--epochs") : words.index("--epochs") + 2]
    assert_one_line(go(command, *words, *flags.split()), why)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("flags", "status", "why"),
    [
        ("--epochs 2 --warmup-epochs 2", 0, ""),  # the last update has the whole rate
        ("--epochs 2 --warmup-steps 8", 0, ""),
        ("--epochs 2 --warmup-steps 9", 2, "the warm-up of 9 steps is longer than the run of 2 epochs"),
        ("--steps 6 --warmup-epochs 2", 2, "the warm-up of 2 epochs is longer than the run of 6 steps"),
        ("--steps 2", 0, ""),  # the usual warm-up adapts
        ("--freeze head.bias", 0, ""),
        ("--lora 64 --width 64", 0, ""),
    ],
)
def test_what_can_learn_is_let_through(go, photos, tmp_path, flags, status, why):
    words = tiny(photos, tmp_path / "a", *flags.split())
    result = go(train, *words)
    if status:
        assert_one_line(result, why)
    assert result[0] == status


@pytest.mark.parametrize(("images", "batch"), [(13, 1), (99, 4), (127, 4), (128, 128), (60_000, 128)])
def test_a_usual_batch_that_does_not_fit_the_images_is_smaller(images, batch):
    settings = new_settings({"recipe": "cpu-8-minutes", "batch_size": 128}, None, select_device("cpu"))
    few = fitted_to_data(settings, images, {"recipe": "cpu-8-minutes"})
    assert (few.batch_size, few.recipe) == (batch, "cpu-8-minutes" if batch == 128 else None)
    assert fitted_to_data(settings, images, {"batch_size": 128}).batch_size == 128
    thrice = fitted_to_data(replace(settings, repeats=3), images, {})
    assert 3 <= thrice.batch_size == max(batch, 4)


def test_seventeen_photos_and_no_flags(go, photos, tmp_path):
    few = tmp_path / "few"
    for name, count in (("red", 9), ("blue", 8)):
        (few / name).mkdir(parents=True)
        for i in range(count):
            shutil.copy(photos / name / f"{i}.png", few / name)
    words = ("--dataset", "folder", "--data-dir", few, "--epochs", "2", "--out", tmp_path / "run")
    status, out, err = go(train, *words)
    assert (status, err) == (0, "")
    assert "a batch has 1 image instead of the usual 32, as there are only 13 to train on" in out
    assert RunFolder(tmp_path / "run").settings().batch_size == 1
    again = ("--config", tmp_path / "run/config.json", "--out", tmp_path / "again", "--batch-size", "32")
    assert_one_line(go(train, *again), "a batch of 32 images cannot be drawn from 13")


def test_python_refuses_what_cannot_learn():
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (20, 8, 8, 3), dtype=np.uint8), np.arange(20) % 2
    new = preset("nano/4", 8, 2, layers=2)
    for settings, why in (
        ({"freeze": "head"}, NEW_HEAD),
        ({"lora": 65}, "lora 65 is more than the rank"),
        ({"lora": 2, "freeze": "stem"}, "all of it would learn"),
        (
            {"warmup_epochs": 2},
            "warm-up of 2 epochs is longer than the run of 1 epoch, .* a shorter warmup_epochs",
        ),
    ):
        with pytest.raises(UserError, match=why):
            new.fit(images, labels, epochs=1, **settings)
    new.fit(images, labels, epochs=1, warmup_epochs=1)
    before = new.params["head.weight"].copy()
    new.fit(images, labels, epochs=1, freeze="head")  # which has learned something by now
    np.testing.assert_array_equal(new.params["head.weight"], before)
    assert before.any()


def test_python_has_the_same(photos):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (20, 8, 8, 3), dtype=np.uint8), np.arange(20) % 2
    model = preset("nano/4", 8, 2, layers=2, seed=1)
    before = {name: model.params[name].copy() for name in model.params}
    model.fit(images, labels, epochs=3, freeze="stem,blocks.0")
    moved = {name for name in before if (model.params[name] != before[name]).any()}
    assert {name.split(".")[0] for name in moved} == {"blocks", "norm", "head"}
    assert not any(name.startswith("blocks.0.") for name in moved)
    model.fit(images, labels, epochs=1, lora=1)
