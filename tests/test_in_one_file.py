"""The ViT in one file computes what the library computes, needs NumPy alone, and trains as a command."""

import ast
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.stand_in import DeviceArray, StandIn
from tests.tiny_runs import assert_one_line
from tinyvit import in_one_file as one
from tinyvit.gradcheck import random_params
from tinyvit.model import Params, ViTConfig, infer, initialise, layout
from tinyvit.objectives import loss_and_grads
from tinyvit.optim import AdamW, clip_norm, learning_rate

FILE = Path(one.__file__)
TINY = {"image": 8, "patch": 4, "width": 6, "mlp": 7, "heads": 2, "layers": 2, "classes": 3}
WIDE = {"image": 12, "patch": 3, "width": 15, "mlp": 8, "heads": 5, "layers": 1, "classes": 4}
BATCHES = [f"data_batch_{i}.bin" for i in range(1, 6)]


def library_config(config):
    names = ("image", "patch", "width", "mlp", "heads", "layers", "classes")
    return ViTConfig(*(config[name] for name in names))


def as_dict(params):
    return {name: array.copy() for name, array in params.items()}


def some_pictures(config, count, rng):
    images = rng.integers(0, 256, (count, config["image"], config["image"], 3), dtype=np.uint8)
    return images, rng.integers(0, config["classes"], count)


def assert_equal(got, expected, tolerance, what):
    assert np.shape(got) == np.shape(expected), what
    assert np.asarray(got).dtype == np.asarray(expected).dtype, what
    error = np.abs(np.asarray(got) - expected).max() / np.abs(expected).max()
    assert error <= tolerance, f"{what} differs by {error:.1e} of its largest entry"


# The same as the library.


@pytest.mark.parametrize("config", [TINY, WIDE, one.CONFIG], ids=["tiny", "wide", "default"])
def test_the_parameters_are_the_librarys(config):
    rows = {row.name: row for row in layout(library_config(config))}
    params = one.init(config, np.random.default_rng(0))
    assert {name: array.shape for name, array in params.items()} == {n: row.shape for n, row in rows.items()}
    assert list(params) == list(rows)  # one order for both
    theirs = initialise(library_config(config), seed=0)
    for name, array in params.items():
        if rows[name].decays or name == "position":
            assert array.std() == pytest.approx(theirs[name].std(), rel=0.5), name
        elif "norm" in name or name in ("class_token", "head.weight"):
            assert np.array_equal(array, theirs[name]), name


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-4)])
@pytest.mark.parametrize("config", [TINY, WIDE], ids=["tiny", "wide"])
def test_logits_loss_and_gradients_are_the_librarys(config, dtype, tolerance):
    rng = np.random.default_rng(3)
    theirs = random_params(library_config(config), rng, dtype)
    images = rng.normal(size=(5, config["image"], config["image"], 3)).astype(dtype)
    labels = rng.integers(0, config["classes"], 5)
    params = as_dict(theirs)
    assert_equal(
        one.forward(config, params, images)[0],
        infer(library_config(config), theirs, images),
        tolerance,
        "the logits",
    )
    grads = theirs.zeros_like()
    expected = loss_and_grads(library_config(config), theirs, images, labels, grads)
    loss, ours = one.loss_and_grads(config, params, images, labels)
    assert_equal(loss, expected, tolerance, "the loss")
    assert ours.keys() == grads.keys()
    for name in grads:
        assert_equal(ours[name], grads[name], tolerance, f"the gradient of {name}")
        assert np.array_equal(params[name], theirs[name]), f"{name} was written into"


def test_training_takes_the_steps_of_the_librarys_adamw_clipping_and_schedule(monkeypatch):
    rng = np.random.default_rng(4)
    theirs, norms = random_params(library_config(TINY), rng), []
    initial, batches, take = as_dict(theirs), [], one.loss_and_grads

    def recorded(config, params, images, labels):
        batches.append((images, labels))
        return take(config, params, images, labels)

    monkeypatch.setattr(one, "loss_and_grads", recorded)
    monkeypatch.setattr(one, "init", lambda config, rng: initial)
    monkeypatch.setattr(one, "normalise", lambda images, like: images / 127.5 - 1)  # all in float64
    trained = one.train(TINY, *some_pictures(TINY, 240, rng), epochs=3, report=lambda line: None)
    steps = len(batches)
    warmup = math.ceil(steps / 20)
    assert warmup > 1
    optimiser, grads = AdamW(theirs, weight_decay=0.05), theirs.zeros_like()
    for step, (images, labels) in enumerate(batches, 1):
        grads.clear()
        loss_and_grads(library_config(TINY), theirs, images, labels, grads)
        norms.append(float(clip_norm(grads, 1.0)))
        optimiser.step(grads, learning_rate(step, steps, 1.5e-3, warmup), step)
    assert min(norms) < 1 < max(norms)
    for name in theirs:
        assert_equal(trained[name], theirs[name], 1e-9, f"{name} after {steps} steps")


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_ten_updates_are_those_of_the_librarys_adamw(decay):
    rng, state = np.random.default_rng(5), {}
    theirs = random_params(library_config(WIDE), rng)
    params, optimiser = as_dict(theirs), AdamW(theirs, weight_decay=decay)
    for step in range(1, 11):
        grads = Params(rng.normal(size=theirs.count), theirs.rows)
        one.update(params, as_dict(grads), state, lr=0.01 * step, decay=decay)
        optimiser.step(grads, lr=0.01 * step, step=step)
    for name in theirs:
        assert_equal(params[name], theirs[name], 1e-12, f"{name} after ten steps")


# It stands alone.


@pytest.fixture
def as_on_a_gpu(monkeypatch):
    """A stand-in for CuPy whose arrays NumPy's functions pass on to it, as they do CuPy's."""
    cupy = StandIn()
    call = lambda self, function, types, args, kwargs: getattr(cupy, function.__name__)(*args, **kwargs)
    monkeypatch.setattr(DeviceArray, "__array_function__", call, raising=False)
    call = lambda self, ufunc, method, *inputs, **kwargs: getattr(cupy, ufunc.__name__)(*inputs, **kwargs)
    monkeypatch.setattr(DeviceArray, "__array_ufunc__", call)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return cupy


def test_it_needs_nothing_but_numpy_or_cupy_and_the_standard_library():
    imports = {
        (node.module if isinstance(node, ast.ImportFrom) else name.name).split(".")[0]
        for node in ast.walk(ast.parse(FILE.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in node.names
    }
    assert imports - set(sys.stdlib_module_names) == {"numpy", "cupy"}


def test_it_is_short_enough_to_be_read_in_one_go():
    lines = FILE.read_text("utf-8").splitlines()
    assert len(lines) <= 320 and max(map(len, lines)) <= 110


def test_it_runs_as_a_plain_script():
    words = [sys.executable, FILE.name, "nowhere"]
    process = subprocess.run(words, cwd=FILE.parent, capture_output=True, text=True)
    result = process.returncode, process.stdout, process.stderr
    assert_one_line(result, "not CIFAR-10's binary version: ", "nowhere", "data_batch_1.bin")


def test_on_a_gpu_all_arrays_stay_there(as_on_a_gpu):
    data, lines = some_pictures(TINY, 60, np.random.default_rng(6)), []
    expected = one.train(TINY, *data, epochs=2, report=lines.append, test=data)
    params = one.train(TINY, *data, epochs=2, report=lines.append, test=data, xp=as_on_a_gpu)
    assert all(type(array) is DeviceArray for array in params.values())
    assert all(np.array_equal(params[name].get(), expected[name]) for name in expected)
    without_speed = [re.sub(r"\S+ images/s", "", line) for line in lines]
    assert without_speed[:2] == without_speed[2:]


# The data and the command.


@pytest.mark.parametrize("kind", range(10))
def test_a_silhouette_fills_a_part_of_the_unit_disc_and_is_its_own_mirror_image(kind):
    x, y = np.random.default_rng(kind).uniform(-1.5, 1.5, (2, 20_000))
    inside = one.SILHOUETTES[kind](x, y)
    assert np.hypot(x, y)[inside].max() <= 1 and inside.mean() > 0.1
    assert np.array_equal(inside, one.SILHOUETTES[kind](-x, y))


def test_pictures_of_a_kind_differ_in_all_but_their_form():
    images, labels = one.draw_pictures(500, np.random.default_rng(1))
    assert (images.dtype, images.shape) == (np.uint8, (500, 32, 32, 3))
    assert np.bincount(labels).tolist() == [50] * 10
    assert len({image.tobytes() for image in images}) == 500
    middles = np.stack([images[labels == kind].mean(axis=0) for kind in range(10)])
    assert np.ptp(middles.mean(axis=(1, 2)), axis=0).max() < 40  # of 256: colours do not reveal the kind


def write_cifar10(folder, records=20):
    """Images as bright as their labels, 0 to 2, in CIFAR-10's binary version; returns labels and pixels."""
    rng, rows = np.random.default_rng(7), []
    for name in (*BATCHES, "test_batch.bin"):
        rows.append(rng.integers(0, 80, (records, 3073), dtype=np.uint8))
        rows[-1][:, 0] %= 3
        rows[-1][:, 1:] += 80 * rows[-1][:, :1]
        (folder / name).write_bytes(rows[-1].tobytes())
    rows = np.concatenate(rows)
    return rows[:, 0], rows[:, 1:].reshape(-1, 3, 32, 32)


def test_cifar10_is_read_from_its_binary_files(tmp_path):
    labels, planes = write_cifar10(tmp_path)
    training, test = one.read_cifar10(tmp_path)
    assert (len(training[0]), len(test[0])) == (100, 20)
    assert np.array_equal(np.concatenate([training[1], test[1]]), labels)
    images = np.concatenate([training[0], test[0]])
    assert all(np.array_equal(images[..., channel], planes[:, channel]) for channel in range(3))


@pytest.mark.parametrize("data", ["silhouettes", "cifar10"])
def test_the_command_trains_and_says_what_to_read_next(go, tmp_path, monkeypatch, as_on_a_gpu, data):
    config, draw = {"patch": 16, "width": 16, "mlp": 16, "heads": 2, "layers": 1}, one.draw_pictures
    monkeypatch.setattr(one, "CONFIG", one.CONFIG | config)
    monkeypatch.setattr(one, "draw_pictures", lambda count, rng: draw(count // 50, rng))
    write_cifar10(tmp_path, records=100)
    before = DeviceArray.launches
    status, out, err = go(one, *([tmp_path] if data == "cifar10" else []))
    *lines, last = out.splitlines()
    assert (status, err) == (0, "")
    assert DeviceArray.launches > before  # CuPy is taken where it finds a GPU
    shown = r"epoch (\d+)/(\d+)  loss (\d\.\d{3})  test accuracy (\d+\.\d)%  \d+ images/s"
    epochs, totals, losses, accuracies = zip(
        *(re.fullmatch(shown, line).groups() for line in lines), strict=True
    )
    assert [*map(int, epochs)] == [*range(1, len(lines) + 1)] and {*totals} == {str(len(lines))}
    assert float(losses[-1]) < float(losses[0])
    assert data == "silhouettes" or float(accuracies[-1]) > 90
    named = re.findall(r"\b\w+/[\w./]*", last)
    assert named and all((FILE.parents[1] / path.rstrip(".")).exists() for path in named)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "data_batch_3.bin").unlink(), "data_batch_3.bin"),
        (lambda folder: (folder / "test_batch.bin").unlink(), "test_batch.bin"),
        (lambda folder: (folder / "test_batch.bin").write_bytes(b""), "test_batch.bin is empty or cut short"),
        (
            lambda folder: (folder / "data_batch_5.bin").write_bytes(b"1" * 5000),
            "data_batch_5.bin is empty or cut",
        ),
        (lambda folder: [path.unlink() for path in folder.iterdir()], "data_batch_1.bin"),
    ],
    ids=["no third batch", "no test", "an empty file", "a short file", "an empty folder"],
)
def test_a_folder_without_all_of_cifar10_is_refused_in_one_line(go, tmp_path, spoil, said):
    write_cifar10(tmp_path)
    spoil(tmp_path)
    assert_one_line(go(one, tmp_path), said)
