"""Fine-tuning: a trained model learns other classes or larger images, in a run like any other."""

import json
import math
import shutil
import signal

import numpy as np
import pytest
from PIL import Image

from tests.tiny_runs import arrays, assert_one_line, assert_same_run, interrupted_after, metrics
from tinyvit import evaluate, finetune, predict, train, visualize
from tinyvit.engine import ReferenceEngine
from tinyvit.model import ViTConfig, initialise, preset
from tinyvit.training.recipes import FINE_TUNING, fitted_fine_tuning
from tinyvit.training.settings import Settings
from tinyvit.weights.read import load_weights
from tinyvit.weights.resize import resize_positions
from tinyvit.weights.safetensors import write_safetensors
from tinyvit.weights.save import save_official
from tinyvit.weights.torch_names import to_torch_names

CLASSES = ("dark", "green", "light")


@pytest.fixture(scope="module")
def others(tmp_path_factory):
    """Another folder data set: 3 classes, 10 images each of 16 x 16 pixels, of which 2 are for testing."""
    folder, rng = tmp_path_factory.mktemp("others"), np.random.default_rng(1)
    for name, colour in zip(CLASSES, ((0, 0, 0), (0, 120, 0), (120, 120, 120)), strict=True):
        (folder / name).mkdir()
        for i in range(10):
            pixels = rng.integers(0, 130, (16, 16, 3)) + colour
            Image.fromarray(pixels.astype(np.uint8)).save(folder / name / f"{i}.png")
    return folder


@pytest.fixture
def base(run_once, tmp_path):
    """A run of nano/4 on 8 x 8 pixels and two classes."""
    return shutil.copytree(run_once("--epochs", "2"), tmp_path / "base")


def onto(others, out, *more, without=None):
    """Flags of fine-tuning for 2 epochs of 6 steps on images of 16 x 16, but for one that is omitted."""
    flags = {"dataset": "folder", "data-dir": others, "resolution": 16, "batch-size": 4}
    flags |= {"epochs": 2, "threads": 1, "device": "cpu", "out": out}
    flags.pop(without, None)
    return [str(word) for name, value in flags.items() for word in (f"--{name}", value)] + [*map(str, more)]


@pytest.fixture
def tuned(go, base, others, tmp_path):
    """The base, fine-tuned."""
    status, _, err = go(finetune, base, *onto(others, tmp_path / "tuned"))
    assert (status, err) == (0, "")
    return tmp_path / "tuned"


def test_fine_tuning_is_repeated_from_its_config_as_it_was(go, tuned, tmp_path):
    assert go(finetune, "--config", tuned / "config.json", "--out", tmp_path / "again")[0] == 0
    assert_same_run(tmp_path / "again", tuned)


def test_fine_tuning_is_repeated_in_another_folder_from_the_same_weights(
    go, base, others, tmp_path, monkeypatch
):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    shutil.copytree(base, "start")
    assert go(finetune, "start", *onto(others, "run", "--epochs", "1"))[0] == 0
    monkeypatch.chdir(tmp_path)
    assert config(tmp_path / "here" / "run")["settings"]["weights"] == str(tmp_path / "here" / "start")
    assert go(finetune, "--config", "here/run/config.json", "--out", "again")[0] == 0
    assert_same_run(tmp_path / "again", tmp_path / "here" / "run")


def config(run):
    return json.loads((run / "config.json").read_text("utf-8"))


def test_config_json_records_the_settings(tuned, base):
    settings, model = config(tuned)["settings"], config(tuned)["model"]
    assert settings["weights"] == str(base)
    assert settings["model"] == "base"
    assert (settings["resolution"], settings["image_size"]) == (16, 16)
    assert (settings["optimizer"], settings["weight_decay"], settings["lr"]) == ("sgd", 0.0, 0.01)
    assert (model["image_size"], model["patch_size"], model["classes"]) == ([16, 16], 4, 3)
    assert config(tuned)["classes"] == list(CLASSES)
    assert [record["step"] for record in metrics(tuned)] == [6, 12]


def first_state(monkeypatch):
    """The parameters before the first step that is made, and its loss."""
    seen, take_step = {}, ReferenceEngine.step

    def watched(self, plan, lr):
        if "params" in seen:
            return take_step(self, plan, lr)
        seen["params"] = {name: self.params[name].copy() for name in self.params}
        seen["loss"], norm = take_step(self, plan, lr)
        return seen["loss"], norm

    monkeypatch.setattr(ReferenceEngine, "step", watched)
    return seen


@pytest.mark.parametrize(
    ("flags", "method"), [((), "corners"), (("--position-resize", "bicubic"), "bicubic")]
)
def test_it_starts_from_the_weights_with_a_head_that_knows_nothing(
    go, base, others, tmp_path, monkeypatch, flags, method
):
    seen = first_state(monkeypatch)
    assert go(finetune, base, *onto(others, tmp_path / "tuned", *flags))[0] == 0
    before = {name.removeprefix("param/"): a for name, a in arrays(base / "best.npz").items() if "/" in name}
    start = seen["params"]
    assert float(seen["loss"]) == pytest.approx(math.log(3), rel=1e-6)
    assert start["head.weight"].shape == (64, 3)
    assert not start["head.weight"].any() and not start["head.bias"].any()
    expected = resize_positions(before["position"], (2, 2), (4, 4), True, method)
    np.testing.assert_array_equal(start["position"], expected)
    for name in start.keys() - {"head.weight", "head.bias", "position"}:
        np.testing.assert_array_equal(start[name], before[name], err_msg=name)


def test_without_a_resolution_images_are_read_as_large_as_the_model_takes_them(go, base, others, tmp_path):
    flags = onto(others, tmp_path / "tuned", "--epochs", "1", without="resolution")
    assert go(finetune, base, *flags)[0] == 0
    settings, model = config(tmp_path / "tuned")["settings"], config(tmp_path / "tuned")["model"]
    assert (settings["image_size"], settings["resolution"], model["image_size"]) == (8, None, [8, 8])


def test_small_images_are_enlarged_to_the_resolution(go, base, others, tmp_path):
    status, _, _ = go(finetune, base, *onto(others, tmp_path / "t", "--image-size", "8", "--epochs", "1"))
    assert status == 0
    settings, model = config(tmp_path / "t")["settings"], config(tmp_path / "t")["model"]
    assert (settings["image_size"], settings["resolution"], model["image_size"]) == (8, 16, [16, 16])
    accuracy = 100 * max(record["test_accuracy"] for record in metrics(tmp_path / "t"))
    assert f"accuracy {accuracy:.2f}%" in go(evaluate, tmp_path / "t")[1]
    assert go(visualize, tmp_path / "t", "--images", "2", "--device", "cpu")[0] == 0


def test_it_learns(go, base, others, tmp_path):
    flags = onto(others, tmp_path / "tuned", "--epochs", "20", "--lr", "0.03")
    _, out, _ = go(finetune, base, *flags)
    losses = [record["train_loss"] for record in metrics(tmp_path / "tuned")]
    assert losses[-1] < 0.5 < losses[0]
    assert "test accuracy 100" in out


@pytest.mark.parametrize("command", [finetune, train], ids=lambda command: command.__name__)
def test_stopped_and_resumed_it_ends_with_the_same_bits(
    go, base, tuned, others, tmp_path, monkeypatch, command
):
    run = tmp_path / "run"
    with interrupted_after(monkeypatch, 8):
        assert go(finetune, base, *onto(others, run))[0] == 128 + signal.SIGINT
    shutil.rmtree(base)  # what it started from is no longer needed
    status, out, err = go(command, "--resume", run)
    assert (status, err) == (0, "")
    assert "after step 8 of 12" in out
    assert_same_run(run, tuned)
    assert "is finished" in go(command, "--resume", run)[1]


def test_stopped_before_the_first_checkpoint_it_starts_again(go, base, tuned, others, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    shutil.copy(tuned / "config.json", run)
    assert go(finetune, "--resume", run)[0] == 0
    assert_same_run(run, tuned)


def test_resuming_with_other_weights_is_refused(go, base, tuned, monkeypatch):
    assert_one_line(go(finetune, "elsewhere", "--resume", tuned), str(base), "elsewhere", "Omit WEIGHTS")
    monkeypatch.chdir(base.parent)
    for same in (base, "./base"):
        assert "is finished" in go(finetune, same, "--resume", tuned)[1]


def test_the_result_is_a_run_like_any_other(go, tuned, others, tmp_path):
    status, out, err = go(evaluate, tuned)
    assert (status, err) == (0, "")
    accuracy = max(record["test_accuracy"] for record in metrics(tuned))
    assert f"on 6 test images: accuracy {100 * accuracy:.2f}%" in out
    image = others / "green" / "0.png"
    status, out, err = go(predict, tuned, image, "--attention", tmp_path / "a.png")
    assert (status, err) == (0, "")
    assert all(name in out for name in CLASSES)
    assert (tmp_path / "a.png").is_file()
    assert go(visualize, tuned, "--device", "cpu", "--images", "3")[0] == 0


def test_a_tuned_run_can_be_tuned_again(go, tuned, photos, tmp_path):
    again = onto(photos, tmp_path / "again", "--epochs", "1", "--resolution", "8")
    assert go(finetune, tuned, *again)[0] == 0
    assert config(tmp_path / "again")["model"]["image_size"] == [8, 8]


@pytest.mark.parametrize("pool", ["token", "mean"])
def test_it_starts_from_files_of_weights(go, others, tmp_path, monkeypatch, pool):
    """Their pre_logits are omitted, their pooling is kept."""
    given = preset("nano/4", 8, 7, pool=pool, pre_logits=11)
    path = tmp_path / "Nano_4.npz"
    save_official(path, given, initialise(given, seed=3))
    seen = first_state(monkeypatch)
    status, out, _ = go(finetune, path, *onto(others, tmp_path / "tuned", "--dropout", "0.1"))
    assert status == 0
    assert " Nano_4, " in out
    settings, model = config(tmp_path / "tuned")["settings"], config(tmp_path / "tuned")["model"]
    assert (settings["model"], settings["pool"]) == ("Nano_4", pool)
    assert (model["pool"], model["pre_logits"], model["dropout"]) == (pool, 0, 0.1)
    _, params = load_weights(path)
    np.testing.assert_array_equal(
        seen["params"]["blocks.0.mlp.fc1.weight"], params["blocks.0.mlp.fc1.weight"]
    )


def test_the_number_of_heads_can_be_given_for_a_file_that_does_not_state_it(go, others, tmp_path):
    given = ViTConfig(8, 4, width=12, mlp_width=24, heads=3, layers=1, classes=7, gelu="exact")
    path = tmp_path / "timm.safetensors"
    write_safetensors(path, to_torch_names(given, initialise(given)))
    flags = onto(others, tmp_path / "tuned", "--epochs", "1")
    assert_one_line(go(finetune, path, *flags), "timm.safetensors", "width of 12", "--heads")
    assert go(finetune, path, *flags, "--heads", "3")[0] == 0
    assert config(tmp_path / "tuned")["model"]["heads"] == 3


def test_it_starts_from_a_checkpoint_that_is_named(go, base, others, tmp_path, monkeypatch):
    seen = first_state(monkeypatch)
    assert go(finetune, base / "last.npz", *onto(others, tmp_path / "tuned"))[0] == 0
    last = arrays(base / "last.npz")["param/patch.weight"]
    np.testing.assert_array_equal(seen["params"]["patch.weight"], last)


def test_a_known_name_is_fetched_once(go, others, tmp_path, monkeypatch):
    given, fetched = preset("nano/4", 8, 7), []

    def download(url, target, *more):
        fetched.append(url)
        target.parent.mkdir()
        save_official(target, given, initialise(given))

    monkeypatch.setattr("tinyvit.weights.known.download", download)
    monkeypatch.setenv("TINYVIT_CACHE", str(tmp_path / "cache"))
    for name in ("a", "b"):
        assert go(finetune, "Ti_16-384", *onto(others, tmp_path / name, "--epochs", "1"))[0] == 0
    assert len(fetched) == 1
    assert config(tmp_path / "a")["settings"]["model"] == "Ti_16-384"


@pytest.fixture
def refused(go, base, others, tmp_path):
    """refused(WEIGHTS, FLAGS, PARTS): one line that has these parts, and nothing is left."""

    def refused(weights, flags, *parts):
        before = sorted(tmp_path.rglob("*"))
        words = () if weights is None else (weights,)
        assert_one_line(go(finetune, *words, *onto(others, tmp_path / "run", *flags)), *parts)
        assert sorted(tmp_path.rglob("*")) == before

    return refused


def test_wrong_weights_are_one_line(refused, tmp_path, others):
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "text.txt").write_text("hello")
    (tmp_path / "half.npz").write_bytes((tmp_path / "base" / "best.npz").read_bytes()[:5000])
    np.savez(tmp_path / "strange.npz", a=np.zeros(3))
    refused(None, (), "WEIGHTS")
    refused("nonsense", (), "nonsense", "Ti_16-384")
    refused(tmp_path / "none.npz", (), "none.npz")
    refused(tmp_path / "none.safetensors", (), "none.safetensors")
    refused(others, (), "is not a run folder")
    for name in ("text.npz", "text.txt", "half.npz", "strange.npz"):
        refused(tmp_path / name, (), name)


def test_settings_that_do_not_fit_are_one_line(refused, tmp_path):
    base = tmp_path / "base"
    refused(base, ("--resolution", "18"), "18 x 18", "4 x 4", "(--resolution) of 16 or 20")
    refused(base, ("--resolution", "3"), "(--resolution) of 4")
    refused(base, ("--resolution", "0"), "--resolution")
    refused(base, ("--position-resize", "nearest"), "--position-resize", "corners")
    refused(base, ("--heads", "7"), "base itself states that it has 4 heads", "--heads")
    refused(base, ("--batch-size", "25"), "cannot be drawn from 24")
    refused(base, ("--model", "nano/4"), "--model")
    refused(base, ("--dataset", "cifar10", "--data-dir", "nowhere"), "nowhere is not a folder")


def test_a_diverged_run_leaves_nothing(refused, tmp_path):
    refused(tmp_path / "base", ("--lr", "1e9", "--clip", "0"), "diverged")


# The recipe.


def test_the_recipe_is_the_papers():
    s = Settings(dataset="cifar10", model="B_16", **FINE_TUNING | fitted_fine_tuning(60_000, {}))
    assert (s.optimizer, s.weight_decay, s.clip, s.decay) == ("sgd", 0, 1, "cosine")
    assert (s.batch_size, s.accumulate) == (512, 8)
    assert (s.epochs, s.steps) == (5, None)


@pytest.mark.parametrize(("images", "batch"), [(8192, 512), (8191, 256), (2040, 64), (24, 1), (1, 1)])
def test_where_images_are_few_batches_are_small_and_passes_many(images, batch):
    fitted = fitted_fine_tuning(images, {})
    assert fitted == {"batch_size": batch, "accumulate": max(1, batch // 64), "steps": 500}


@pytest.mark.parametrize("length", [{"epochs": 1}, {"steps": 7}])
def test_what_is_chosen_is_left_alone(length):
    assert fitted_fine_tuning(24, {"batch_size": 128} | length) == {"batch_size": 128, "accumulate": 2}
    others = {"accumulate": 4, "lr": 1}
    assert fitted_fine_tuning(24, {"batch_size": 8} | others | length) == {"batch_size": 8, "accumulate": 4}


@pytest.mark.parametrize(("batch", "last"), [(4, 30), (8, 20)])  # 5 epochs of 6 steps, or of 3
def test_without_a_length_a_run_has_5_epochs_or_more_steps(
    go, base, others, tmp_path, monkeypatch, batch, last
):
    monkeypatch.setattr("tinyvit.training.recipes.FINE_TUNING_STEPS", 20)
    flags = onto(others, tmp_path / "tuned", "--batch-size", batch, without="epochs")
    assert go(finetune, base, *flags)[0] == 0
    assert metrics(tmp_path / "tuned")[-1]["step"] == last


def test_a_run_that_did_not_start_from_weights_is_not_repeated_without_any(go, base, tmp_path):
    result = go(finetune, "--config", base / "config.json", "--out", tmp_path / "run")
    assert_one_line(result, "WEIGHTS to start from are missing")
    assert not (tmp_path / "run").exists()
