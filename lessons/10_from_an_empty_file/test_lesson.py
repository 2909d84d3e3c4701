"""Checks of lesson 10: the milestones of a Vision Transformer written into an empty file."""

import ast
import importlib
import inspect
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from lessons.referee import assert_gradient, assert_same
from tinyvit import in_one_file
from tinyvit.data.shapes import make_shapes
from tinyvit.gradcheck import numerical_gradient
from tinyvit.model import layout

locate = importlib.import_module("lessons.10_from_an_empty_file.locate")

SMALL = {"image": 32, "patch": 8, "width": 32, "mlp": 64, "heads": 4, "layers": 2, "classes": 10}
WIDE = {"image": 12, "patch": 3, "width": 15, "mlp": 8, "heads": 5, "layers": 1, "classes": 4}


@pytest.fixture
def vit(impl):
    """The file under test; a function that is not there yet is to do."""

    class Vit:
        def __getattr__(self, name):
            if not hasattr(impl, name):
                raise NotImplementedError(f"write {name}: see the specification")
            return getattr(impl, name)

    return Vit()


def table(config):
    """Names and shapes of all parameters."""
    return {row.name: row.shape for row in layout(locate.library_config(config))}


def rows(number, seed=0):
    """Normalised pictures of the shapes, and random labels."""
    images = make_shapes(train=number, test=1).train.images.astype(np.float32) / 127.5 - 1
    return images, np.random.default_rng(seed).integers(0, 10, number)


@pytest.mark.hint("a module of your own making: NumPy or CuPy, the standard library, and tinyvit.data")
def test_it_stands_on_numpy_alone(vit, impl):
    assert vit.init  # nothing to check in an empty file
    path = Path(impl.__file__)
    if path.name == "solution.py" or not path.is_file():  # a wrong answer: both are made of one file
        path = Path(in_one_file.__file__)
    tree = ast.parse(path.read_bytes())
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names += [f"tinyvit.{alias.name}" for alias in node.names] if module == "tinyvit" else [module]
    allowed = (*sys.stdlib_module_names, "numpy", "cupy")
    foreign = [n for n in names if n.split(".")[0] not in allowed and not f"{n}.".startswith("tinyvit.data.")]
    assert not foreign, f"the file imports {', '.join(foreign)}: of tinyvit, only tinyvit.data is allowed"


@pytest.mark.hint("compare with the table of the specification; N counts the class token")
@pytest.mark.parametrize("config", [locate.TINY, WIDE], ids=["two blocks", "one wide block"])
def test_milestone_1_parameters(vit, config):
    params = vit.init(config, np.random.default_rng(0))
    expected = table(config)
    missing, extra = expected.keys() - params.keys(), params.keys() - expected.keys()
    assert not missing, f"init leaves out {', '.join(sorted(missing))}"
    assert not extra, f"init makes {', '.join(sorted(extra))}, which the table does not have"
    for name, shape in expected.items():
        assert params[name].shape == shape, f"{name} has shape {params[name].shape}, expected {shape}"
        assert params[name].dtype == np.float32, f"{name} has dtype {params[name].dtype}, expected float32"


@pytest.mark.hint("gains are the weights of the norms; how small the random ones are is left to you")
def test_milestone_1_first_values(vit):
    params = vit.init(SMALL, np.random.default_rng(0))
    for name, array in params.items():
        if "norm" in name and name.endswith("weight"):
            assert np.all(array == 1), f"{name} starts at {array.flat[0]:.4g}, expected 1"
        elif name.endswith("bias") or name in ("class_token", "head.weight"):
            assert not array.any(), f"{name} does not start at 0"
        else:
            assert 1e-4 < array.std() < 0.5, f"{name} starts with standard deviation {array.std():.2g}"


@pytest.mark.hint("images (B, H, W, 3) become logits (B, C); B is any number")
def test_milestone_1_logits(vit):
    params = vit.init(SMALL, np.random.default_rng(0))
    result = vit.forward(SMALL, params, rows(3)[0])
    what = type(result).__name__
    assert isinstance(result, tuple), f"forward returns {what}, expected a tuple that begins with the logits"
    logits = result[0]
    assert logits.shape == (3, 10), f"the logits have shape {logits.shape}, expected (3, 10)"
    assert logits.dtype == np.float32, f"the logits have dtype {logits.dtype}, expected float32"


@pytest.mark.hint("the parameters are random here: no gain is 1, no bias is 0, the head is not 0")
@pytest.mark.parametrize("config", [locate.TINY, WIDE], ids=["two blocks", "one wide block"])
def test_milestone_2_the_forward(vit, config):
    trial = locate.Trial(config)
    finding = locate.first_wrong_forward(vit, trial)
    assert finding is None, f"the logits are wrong. The first fault is in {finding}"


@pytest.mark.hint("the mean over the images of -log p of the right class")
def test_milestone_2_the_loss(vit):
    trial = locate.Trial()
    params = locate.plain(trial.params)
    loss, _ = vit.loss_and_grads(trial.config, params, trial.images, trial.labels)
    logits = trial.right_logits()
    logits = logits - logits.max(axis=1, keepdims=True)
    logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    assert_same(float(loss), -logp[[0, 1], trial.labels].mean(), "the loss")
    for name in params:
        params[name] = params[name] * 0 + (1000 if name == "head.bias" else 0)
    loss, _ = vit.loss_and_grads(trial.config, params, trial.images, trial.labels)
    assert_same(float(loss), math.log(3), "the loss of logits that are all 1,000")


@pytest.mark.hint("the operation that is named is the first on the way from the loss down to the pixels")
@pytest.mark.parametrize("config", [locate.TINY, WIDE], ids=["two blocks", "one wide block"])
def test_milestone_2_every_gradient(vit, config):
    trial = locate.Trial(config)
    grads, expected = trial.grads(vit), table(config)
    missing = expected.keys() - grads.keys()
    assert not missing, f"loss_and_grads returns no gradient of {', '.join(sorted(missing))}"
    for name, shape in expected.items():
        assert grads[name].shape == shape, f"the gradient of {name} has shape {grads[name].shape}"
    if locate.first_wrong_forward(vit, trial) is None:
        finding = locate.first_wrong_gradient(vit, trial)
        assert finding is None, f"the first wrong derivative is in {finding}"
    elif config is locate.TINY:  # the forward is another one than asked for: then at least its own derivative
        params = locate.plain(trial.params)
        for name in reversed(expected):
            pushed = numerical_gradient(
                lambda: vit.loss_and_grads(config, params, trial.images, trial.labels)[0], params[name]
            )
            assert_gradient(grads[name], pushed, f"the gradient of {name}")


@pytest.mark.hint("softmax takes the largest number off each row, and every row has its own")
def test_milestone_2_rows_of_scores_that_are_far_apart(vit):
    trial = locate.Trial()
    for name, array in trial.params.items():
        if ".qkv.weight" in name:
            array[:, : 2 * trial.config["width"]] *= 40  # scores from -10,000 to 10,000
    assert_same(
        trial.logits(vit), trial.right_logits(), "the array of logits of large queries and keys", 1e-7
    )


@pytest.mark.hint("work in new arrays: what forward was given belongs to the caller")
def test_milestone_2_nothing_is_changed_in_place(vit):
    trial = locate.Trial()
    params, images = locate.plain(trial.params), trial.images.copy()
    labels = trial.labels.copy()
    vit.loss_and_grads(trial.config, params, images, labels)
    assert np.array_equal(images, trial.images), "loss_and_grads changed the images"
    assert np.array_equal(labels, trial.labels), "loss_and_grads changed the labels"
    for name in params:
        assert np.array_equal(params[name], trial.params[name]), f"loss_and_grads changed {name}"


@pytest.mark.hint("the head starts at zero, so every class gets 1 / C")
def test_milestone_3_the_first_loss(vit):
    params = vit.init(SMALL, np.random.default_rng(0))
    loss, grads = vit.loss_and_grads(SMALL, params, *rows(8))
    assert abs(loss - math.log(10)) < 1e-5, f"the first loss is {loss:.4f}, expected log 10 = 2.3026"
    wrong = [name for name, g in grads.items() if g.dtype != np.float32]
    assert not wrong, f"the gradient of {wrong[0]} is {grads[wrong[0]].dtype}: float32 in, float32 out"


@pytest.mark.hint("Adam: running means of g and g squared in state, corrected for their start at zero")
def test_milestone_4_one_batch_by_heart(vit):
    params, state = vit.init(SMALL, np.random.default_rng(0)), {}
    images, labels = rows(8)
    losses = []
    for _ in range(80):
        loss, grads = vit.loss_and_grads(SMALL, params, images, labels)
        vit.update(params, grads, state, 5e-3)
        losses.append(float(loss))
    assert losses[-1] < 0.05, f"after 80 updates the loss of eight images is {losses[-1]:.3f}, expected 0.05"
    right = vit.forward(SMALL, params, images)[0].argmax(axis=1) == labels
    assert right.all(), f"{right.sum()} of 8 images are learned"


@pytest.mark.hint("the first step of Adam is lr times the sign of the gradient, whatever its size")
def test_milestone_4_the_first_update(vit):
    params, state = {"a": np.full((2, 3), 5, np.float32), "b": np.zeros(4, np.float32)}, {}
    grads = {"a": np.full((2, 3), 1e3, np.float32), "b": np.array([-1, 1e-3, -1e-3, 1], np.float32)}
    held = dict(params)
    vit.update(params, grads, state, 0.1)
    for name, array in held.items():
        assert params[name] is array, f"update puts a new array in params[{name!r}]: write into the old one"
    assert_same(params["a"] - 5, np.full((2, 3), -0.1, np.float32), "the first step of a", 1e-4)
    assert_same(params["b"], np.array([0.1, -0.1, 0.1, -0.1], np.float32), "the first step of b", 1e-4)


@pytest.mark.hint("every parameter has its own two running means; the steps are counted from 1")
def test_milestone_4_three_updates(vit):
    rng = np.random.default_rng(0)
    params, state = {"a": np.ones(4), "b": np.ones(4)}, {}
    right = {name: (np.ones(4), np.zeros(4), np.zeros(4)) for name in params}
    for step in (1, 2, 3):
        grads = {name: rng.normal(size=4) for name in params}
        vit.update(params, {name: g.copy() for name, g in grads.items()}, state, 0.1)
        for name, g in grads.items():
            p, m, v = right[name]
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            p = p - 0.1 * m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
            right[name] = p, m, v
            assert_same(params[name], p, f"{name} after update {step}", 1e-6)


def easy(number=600):
    """Dark, medium and light pictures of no colour: what can be learned in a second."""
    labels = np.arange(number) % 3
    noise = np.random.default_rng(0).integers(0, 70, (number, 8, 8, 1))
    images = (noise + 90 * labels[:, None, None, None]).astype(np.uint8)
    return images.repeat(3, axis=3), labels


@pytest.mark.hint("predict takes bytes, as train does: normalise in the same way, and work in mini-batches")
def test_milestone_5_epochs(vit):
    images, labels = easy()
    before = images.copy()
    reports = []
    params = vit.train(locate.TINY, images, labels, epochs=10, seed=1, report=reports.append)
    assert np.array_equal(images, before), "train changed the images"
    assert len(reports) == 10, f"report was called {len(reports)} times in 10 epochs"
    guesses = vit.predict(locate.TINY, params, images)
    assert guesses.shape == (600,), f"predict returned shape {guesses.shape}, expected (600,)"
    for count in (577, 77):  # a prime number, which no mini-batch divides, and less than many a mini-batch
        fewer = vit.predict(locate.TINY, params, images[:count])
        assert np.shape(fewer) == (count,), f"predict returned shape {np.shape(fewer)}, expected ({count},)"
        assert np.array_equal(fewer, guesses[:count]), f"predict says otherwise of the first {count} alone"
    alone = vit.predict(locate.TINY, params, images[labels == 2])
    assert np.array_equal(alone, guesses[labels == 2]), (
        "predict says otherwise of the light pictures alone: are images scaled by the others of their batch?"
    )
    right = (guesses == labels).mean()
    assert right > 0.9, f"after 10 epochs {right:.0%} of three plain greys are told apart, expected 90 %"


@pytest.mark.hint("every epoch takes all images once, the last few too, in a new random order")
def test_milestone_5_what_an_epoch_takes(vit, monkeypatch):
    assert vit.loss_and_grads
    greys = np.arange(130, 200, dtype=np.uint8)  # any border of zeros is darker
    names = inspect.unwrap(vit.train).__globals__
    epochs, real = [[]], names["loss_and_grads"]

    def recorded(config, params, images, labels, *args, **kwargs):
        assert images.dtype == np.float32, f"train learns from {images.dtype} images, expected float32"
        epochs[-1] += images.max(axis=(1, 2, 3)).tolist()  # the same if they are cropped or flipped
        return real(config, params, images, labels, *args, **kwargs)

    monkeypatch.setitem(names, "loss_and_grads", recorded)
    images = np.broadcast_to(greys[:, None, None, None], (70, 8, 8, 3)).copy()
    vit.train(locate.TINY, images, np.arange(70) % 3, 2, 1, lambda text: epochs.append([]))
    first, second, *_ = epochs
    assert first, "train does not call loss_and_grads, so nobody can see what it learns from"
    for number, seen in ((1, first), (2, second)):
        assert len(set(seen)) == 70, f"epoch {number} takes {len(set(seen))} of 70 images"
        assert len(seen) == 70, f"epoch {number} takes {len(seen)} images where there are 70"
    assert first != second, "the second epoch takes the images in the same order as the first"


@pytest.mark.hint("all random numbers come from np.random.default_rng(seed)")
def test_milestone_5_a_seed_repeats_a_training(vit):
    images, labels = easy(30)
    a, b, c = (vit.train(locate.TINY, images, labels, 2, seed, lambda text: None) for seed in (1, 1, 2))
    assert all(np.array_equal(a[name], b[name]) for name in a), "the same seed gave other parameters"
    assert any(not np.array_equal(a[name], c[name]) for name in a), "another seed gave the same parameters"
