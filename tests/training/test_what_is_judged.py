"""The images and the weights that each judgement is of, and what the settings do to each part of the data."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from tests.tiny_runs import tiny
from tests.training.test_average import averages
from tests.training.test_fit import CONFIG, colours
from tinyvit import evaluate, pretrain, train
from tinyvit.data import hold_out, load_dataset
from tinyvit.engine import ReferenceEngine
from tinyvit.model import initialise
from tinyvit.support.shell.progress import Progress
from tinyvit.training import evaluation
from tinyvit.training import fit as fitting
from tinyvit.training.run_data import load_data
from tinyvit.training.settings import Settings
from tinyvit.weights.checkpoint import load_checkpoint

FIGURES = [0.5, 0.9, 0.6, 0.3, 0.7]  # accuracies of one judgement after the other; losses are 2 less these
EMA, VALIDATION = ("--ema", "0.6"), ("--validation", "8")
CHOSEN_BY_TEST = "epoch 2, has the best test accuracy, 90.0%; after the last epoch it was 60.0% (95% interval"
CHOSEN = "epoch 2, the best by validation accuracy (90.0%), has test accuracy 70.0% (95% interval 36.6"


@pytest.fixture
def weights(monkeypatch):
    """The weights before the first step and after each of whatever is trained."""
    seen, take_step = [], ReferenceEngine.step

    def watched(self, plan, lr):
        if not seen:
            seen.append(self.params.flat.copy())
        result = take_step(self, plan, lr)
        seen.append(self.params.flat.copy())
        return result

    monkeypatch.setattr(ReferenceEngine, "step", watched)
    return seen


@pytest.fixture
def looks(monkeypatch):
    """The images and the weights of each judgement, whose figures are those above."""
    looked = []

    def judged(engine, images, *more, **named):
        looked.append((images, engine.params.flat.copy()))
        accuracy = FIGURES[len(looked) - 1]
        return SimpleNamespace(accuracy=accuracy, loss=2 - accuracy)

    monkeypatch.setattr(evaluation, "evaluate", judged)
    monkeypatch.setattr(evaluation, "evaluate_patches", judged)
    return looked


def assert_same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("command", [train, pretrain], ids=["train", "pretrain"])
@pytest.mark.parametrize(
    ("flags", "expected", "said"),
    [
        ((), ["test 4", "test 8", "test 12"], CHOSEN_BY_TEST),
        (EMA, ["test 4", "test 8", "test 12"], CHOSEN_BY_TEST),
        (("--evaluate-every", "2"), ["test 8", "test 12"], "epoch 3, the last, has test accuracy 90.0% (95%"),
        (VALIDATION, [*(f"validation {step}" for step in (3, 6, 9)), "test 9", "test 6"], CHOSEN),
        ((*VALIDATION, *EMA), [*(f"validation {step}" for step in (3, 6, 9)), "test 9", "test 6"], CHOSEN),
        (
            (*VALIDATION, "--patience", "1", "--epochs", "9"),
            [*(f"validation {step}" for step in (3, 6, 9)), "test 9", "test 6"],
            CHOSEN,
        ),
    ],
)
def test_a_run_is_judged_by_these_images_after_these_steps(
    go, photos, tmp_path, weights, looks, command, flags, expected, said
):
    status, out, _ = go(command, *tiny(photos, tmp_path / "run", *flags))
    assert status == 0
    data, after = load_dataset("folder", photos, 8), averages(weights) if EMA[0] in flags else weights
    data = hold_out(data, 8, 0) if VALIDATION[0] in flags else data
    for (images, found), look in zip(looks, expected, strict=True):
        part, step = look.split()
        assert images.names == getattr(data, part).names, look
        assert_same(found, after[int(step)])
    best = load_checkpoint(tmp_path / "run" / "best.npz")
    assert_same(best.params.flat, after[int(expected[1].split()[1])])
    parts = {"train": data.train, "validation": data.validation, "test": data.test}
    split = {part: list(images.names) for part, images in parts.items() if images}
    assert json.loads((tmp_path / "run" / "split.json").read_text()) == split
    if command is train:
        assert f"best.npz, of {said}" in out


@pytest.mark.parametrize("ema", [0.0, 0.6])
@pytest.mark.parametrize("patience", [None, 1])
def test_fit_judges_the_validation_images_and_ends_with_what_it_judged(weights, looks, ema, patience):
    params, data, others = initialise(CONFIG, 1), colours(), colours()
    settings = {"epochs": 3, "batch_size": len(data), "ema": ema, "lr": 0.01}
    fitting.fit(CONFIG, params, data, validation=others, patience=patience, **settings)
    after = averages(weights) if ema else weights
    for (images, found), step in zip(looks, (1, 2, 3), strict=True):
        assert images is others
        assert_same(found, after[step])
    assert_same(params.flat, after[2 if patience else 3])  # the second is the best


@pytest.mark.parametrize("checkpoint", ["best", "last"])
@pytest.mark.parametrize("split", ["test", "validation", "train"])
def test_the_command_judges_the_images_and_the_checkpoint_that_it_is_asked_for(
    go, trained, monkeypatch, checkpoint, split
):
    looked, real = [], evaluate.logits_of
    monkeypatch.setattr(evaluate, "logits_of", lambda *args: looked.append(args) or real(*args))
    assert go(evaluate, trained, "--checkpoint", checkpoint, "--split", split, "--json")[0] == 0
    (engine, images, *_), settings = looked[0], json.loads((trained / "config.json").read_text())["settings"]
    data = hold_out(load_dataset("folder", settings["data_dir"], 8), 8, 0)
    assert images.names == getattr(data, split).names
    saved = load_checkpoint(trained / f"{checkpoint}.npz")
    np.testing.assert_array_equal(engine.params.flat, saved.params.flat)


def parts_of(photos, **settings):
    """The images of each part of the data of a run with these settings, as a set of (name, class)."""
    data = load_data(
        Settings(dataset="folder", model="nano/4", data_dir=str(photos), **settings), None, Progress.silent()
    )
    found = {}
    for part in ("train", "validation", "test"):
        if images := getattr(data, part):
            classes = [data.classes[c] for c in images.labels]
            found[part] = set(zip(images.names, classes, strict=True))
            assert len(found[part]) == len(images)
    return found


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    """Three classes of 20 photos."""
    folder, rng = tmp_path_factory.mktemp("three"), np.random.default_rng(0)
    for name in COLOURS:
        (folder / name).mkdir()
        for i in range(20):
            Image.fromarray(rng.integers(0, 256, (8, 8, 3), np.uint8)).save(folder / name / f"{i}.png")
    return folder


COLOURS = ("blue", "green", "red")


@pytest.mark.parametrize("seed", [0, 5])
def test_what_the_settings_do_to_each_part_of_the_data(three, seed):
    def parts(**settings):
        return parts_of(three, seed=seed, **settings)

    def of(images, *classes):
        return {(name, c) for name, c in images if c in classes}

    plain, held_out, half = parts(), parts(validation=9), parts(fraction=0.5)
    assert all(name.startswith(f"{c}/") for images in plain.values() for name, c in images)
    assert {part: len(images) for part, images in plain.items()} == {"train": 48, "test": 12}
    assert not plain["train"] & plain["test"]
    assert held_out["test"] == half["test"] == plain["test"]  # whatever else is left out or held out
    assert held_out["train"] | held_out["validation"] == plain["train"]
    assert [len(of(held_out["validation"], c)) for c in COLOURS] == [3, 3, 3]
    assert half["train"] < plain["train"] and len(half["train"]) == 24
    both = parts(validation=9, fraction=0.5)
    assert (both["validation"], both["test"]) == (held_out["validation"], plain["test"])
    assert both["train"] < held_out["train"] and len(both["train"]) == 18
    two = parts(only="blue,red")
    assert two == {part: of(images, "red", "blue") for part, images in plain.items()}
    assert parts(only="blue,red", validation=4)["test"] == two["test"]
    assert parts(balanced=True, weights="w") == plain
