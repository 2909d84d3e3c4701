"""Fine-tuning a part of a model, as a user does it: frozen parts, layer-wise rates, LoRA."""

import json

import numpy as np
import pytest

from tests.tiny_runs import arrays, assert_one_line, assert_same_run, interrupted_after, metrics, tiny
from tinyvit import finetune, predict, preset, train

LEARNING = [
    ("--freeze", "backbone"),
    ("--freeze", "stem,blocks.0-1", "--optimizer", "adamw"),
    ("--layer-decay", "0.7", "--optimizer", "adamw"),
    ("--lora", "2"),
]


@pytest.fixture
def base(go, photos, tmp_path):
    """A run of nano/4 on 8 x 8 pixels and two classes."""
    assert go(train, *tiny(photos, tmp_path / "base", "--epochs", "1", "--layers", "3"))[0] == 0
    return tmp_path / "base"


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
