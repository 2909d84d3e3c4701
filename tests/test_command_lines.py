"""The doors as a user opens them: help, results, and one line for every mistake."""

import argparse
import json
import re
import shutil
import sys

import numpy as np
import pytest
from PIL import Image

from tests.tiny_runs import assert_one_line, assert_same_run, enter, make_photos, metrics, spawn, tiny
from tinyvit import bench, evaluate, fewshot, finetune, gradcheck, info, predict, train, visualize
from tinyvit.data.cifar import CIFAR10
from tinyvit.engine import CpuEngine
from tinyvit.model import initialise, preset
from tinyvit.pretrained.imagenet import imagenet_classes
from tinyvit.pretrained.load import save_official
from tinyvit.shell.door import make_parser, open_door

DOORS = (train, finetune, evaluate, predict, fewshot, visualize, info, gradcheck, bench)


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return make_photos(tmp_path_factory.mktemp("photos"))


@pytest.fixture
def go(capsys, monkeypatch):
    """go(DOOR, flags ...) as a user would: exit status, stdout, stderr."""
    return lambda door, *argv: enter(door, capsys, monkeypatch, *argv)


@pytest.fixture(scope="module")
def trained(photos, tmp_path_factory):
    """A run with a validation split that has learned its two colours, started in a process of its own."""
    run = tmp_path_factory.mktemp("runs") / "trained"
    flags = ("--epochs", "8", "--lr", "0.003", "--validation", "8")
    process = spawn("train", *tiny(photos, run, *flags))
    out, err = process.communicate(timeout=100)
    assert (process.returncode, err) == (0, ""), err
    assert out.count("\nepoch ") == 8
    return run


# Help.


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_help_explains_every_flag(go, door):
    status, out, err = go(door, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: {door.__name__} ")
    for action in door.parser()._actions:
        assert action.help and action.help != argparse.SUPPRESS, action.option_strings
        assert all(option in out for option in action.option_strings)


@pytest.mark.parametrize("name", ["train", "finetune", "evaluate", "predict", "fewshot", "info", "gradcheck"])
def test_each_door_is_a_program(name):
    process = spawn(name, "--help")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.startswith(f"usage: tinyvit.{name}")


# How a door closes.


def a_door(main):
    """A door without flags that does what main does."""
    return argparse.Namespace(__name__="door", parser=lambda: make_parser("door", ""), main=main)


def raising(error):
    def main(args):
        raise error

    return main


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (PermissionError(13, "Permission denied", "a/b"), "tinyvit.door: error: a/b: Permission denied\n"),
        (OSError(28, "No space left"), "tinyvit.door: error: No space left\n"),
        (OSError("odd"), "tinyvit.door: error: odd\n"),
        (
            MemoryError("Unable to allocate 9 TiB"),
            "tinyvit.door: error: not enough memory: Unable to allocate 9 TiB. "
            "Try a smaller --batch-size, --image-size or model.\n",
        ),
    ],
)
def test_what_the_machine_refuses_is_one_line(go, error, line):
    assert go(a_door(raising(error))) == (2, "", line)


def test_ctrl_c_at_any_time_is_no_traceback(go):
    assert go(a_door(raising(KeyboardInterrupt()))) == (130, "", "\ntinyvit.door: interrupted\n")


def test_a_bug_is_not_hidden(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["door"])
    with pytest.raises(ZeroDivisionError):
        open_door(make_parser("door", ""), raising(ZeroDivisionError()))


def test_what_the_terminal_cannot_show_is_no_reason_to_stop(photos, tmp_path):
    for old, new in (("red", "красный"), ("blue", "bleu foncé")):
        shutil.copytree(photos / old, tmp_path / "photos" / new)
    run = tmp_path / "прогон"
    for name, *argv in (("train", *tiny(tmp_path / "photos", run, "--epochs", "1")), ("evaluate", run)):
        process = spawn(name, *argv, encoding="ascii")
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
    assert "???????  " in out


def test_a_reader_that_has_seen_enough_ends_it_quietly(photos, tmp_path):
    process = spawn("train", *tiny(photos, tmp_path / "run", "--epochs", "50"))
    assert process.stdout.readline().startswith("tinyvit")
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert process.stderr.read() == ""
    process.stderr.close()


# Devices.


def test_a_gpu_that_is_not_there_is_one_line_and_no_obstacle(go, photos, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)  # import cupy fails
    assert go(train, *tiny(photos, tmp_path / "cpu", "--epochs", "1"))[0] == 0
    status, out, err = go(train, *tiny(photos, tmp_path / "gpu", "--epochs", "1", "--device", "gpu"))
    assert (status, err) == (0, "")
    note, header, *_ = out.splitlines()
    assert re.fullmatch(r"no GPU used: CuPy is not installed.*pip install.*Going on with NumPy\.", note)
    assert header.startswith("tinyvit")
    assert_same_run(tmp_path / "gpu", tmp_path / "cpu")


# Evaluating.


def said(out):
    """Accuracy in percent, number of images, and the accuracies by class."""
    accuracy, count = re.search(r"accuracy ([\d.]+)%", out)[1], re.search(r"on (\d+) \w+ images", out)[1]
    return float(accuracy), int(count), dict(re.findall(r"^(\w+) +([\d.]+)%$", out, re.MULTILINE))


def test_evaluate_finds_what_the_metrics_say(go, trained):
    records = metrics(trained)
    status, out, err = go(evaluate, trained, "--split", "validation")
    assert (status, err) == (0, "")
    accuracy, count, by_class = said(out)
    assert count == 8
    assert accuracy == pytest.approx(100 * max(record["val_accuracy"] for record in records), abs=0.01)
    assert by_class.keys() == {"red", "blue"}
    assert np.mean([float(share) for share in by_class.values()]) == pytest.approx(accuracy, abs=0.1)
    accuracy, count, _ = said(go(evaluate, trained, "--checkpoint", "last")[1])
    assert count == 8
    assert accuracy == pytest.approx(100 * records[-1]["test_accuracy"], abs=0.01)
    assert said(go(evaluate, trained, "--split", "train", "--threads", "2", "--device", "cpu")[1])[1] == 24


def test_evaluate_without_a_validation_split(go, photos, tmp_path):
    go(train, *tiny(photos, tmp_path / "run", "--epochs", "1"))
    assert_one_line(go(evaluate, tmp_path / "run", "--split", "validation"), "without a validation split")


def test_evaluate_takes_data_that_were_moved_but_no_others(go, photos, trained, tmp_path):
    shutil.copytree(photos, tmp_path / "moved")
    assert go(evaluate, trained, "--data-dir", tmp_path / "moved")[1] == go(evaluate, trained)[1]
    (tmp_path / "moved" / "red").rename(tmp_path / "moved" / "pink")
    assert_one_line(go(evaluate, trained, "--data-dir", tmp_path / "moved"), "other classes", "--data-dir")
    assert_one_line(go(evaluate, trained, "--data-dir", tmp_path / "nowhere"), "nowhere is no folder")


# Predicting.


def picture(mode, size=(31, 17), colour=(200, 80, 80)):
    """A red picture with some noise in any of Pillow's modes."""
    noise = np.random.default_rng(0).integers(-40, 40, (size[1], size[0], 3))
    return Image.fromarray((noise + colour).clip(0, 255).astype(np.uint8)).convert(mode)


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "1", "CMYK", "LA", "I;16"])
@pytest.mark.parametrize("size", [(8, 8), (31, 17), (3, 200)])
def test_predict_reads_pictures_of_any_size_and_mode(go, trained, tmp_path, mode, size):
    path = tmp_path / ("a.tif" if mode == "CMYK" else "a.png")
    picture(mode, size).save(path)
    status, out, err = go(predict, trained, path)
    assert (status, err) == (0, "")
    name, *lines = out.splitlines()
    assert name == str(path)
    shares = [float(re.fullmatch(r" +([\d.]+)%  (?:red|blue)", line)[1]) for line in lines]
    assert len(shares) == 2
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=0.11)


def test_predict_tells_red_from_blue(go, trained, tmp_path):
    picture("RGB", colour=(160, 80, 80)).save(tmp_path / "r.png")
    picture("RGB", colour=(80, 80, 160)).save(tmp_path / "b.png")
    _, out, _ = go(predict, trained, tmp_path / "r.png", tmp_path / "b.png", "--top", "1")
    lines = out.splitlines()
    assert [line.split()[-1] for line in lines[1::2]] == ["red", "blue"]
    assert len(lines) == 4


def test_predict_draws_the_attention(go, trained, tmp_path):
    for name in "ab":
        picture("RGB").save(tmp_path / f"{name}.png")
    status, out, _ = go(
        predict, trained, tmp_path / "a.png", tmp_path / "b.png", "--attention", tmp_path / "c.png"
    )
    assert status == 0
    assert out.endswith(f"wrote {tmp_path / 'c.png'}\n")
    with Image.open(tmp_path / "c.png") as sheet:
        assert sheet.format == "PNG"
        assert sheet.height > 2 * 256


def test_predict_without_a_usable_picture(go, trained, tmp_path):
    (tmp_path / "text.png").write_text("hello")
    picture("RGB").save(tmp_path / "whole.png")
    content = (tmp_path / "whole.png").read_bytes()
    (tmp_path / "half.png").write_bytes(content[: len(content) // 2])
    assert_one_line(go(predict, trained, tmp_path / "none.png"), "none.png does not exist")
    for name in ("text.png", "half.png", "."):
        assert_one_line(go(predict, trained, tmp_path / name), tmp_path / name, "cannot be read as an image")
    missing = tmp_path / "none" / "c.png"
    assert_one_line(go(predict, trained, tmp_path / "whole.png", "--attention", missing), "cannot write")
    assert not missing.parent.exists()
    assert_one_line(go(predict, trained), "IMAGE")


@pytest.fixture
def weights(tmp_path):
    """weights(CLASSES): an official file of an untrained model with a lively head."""

    def weights(classes):
        config = preset("nano/4", 8, classes)
        params = initialise(config)
        params["head.bias"] = np.random.default_rng(0).standard_normal(classes)
        save_official(tmp_path / f"{classes}.npz", config, params)
        return tmp_path / f"{classes}.npz", params["head.bias"].argsort()[::-1]

    return weights


def test_predict_with_published_weights_names_the_classes_of_imagenet(go, weights, tmp_path):
    picture("RGB").save(tmp_path / "a.png")
    path, order = weights(1000)
    status, out, err = go(predict, "--weights", path, tmp_path / "a.png", "--attention", tmp_path / "b.png")
    assert (status, err) == (0, "")
    name, *lines, wrote = out.splitlines()
    assert name == str(tmp_path / "a.png")
    assert [line.split("%  ")[1] for line in lines] == [imagenet_classes()[c] for c in order[:5]]
    assert wrote == f"wrote {tmp_path / 'b.png'}"


def test_predict_with_weights_of_other_classes_numbers_them(go, weights, tmp_path):
    for name in "ab":
        picture("RGB").save(tmp_path / f"{name}.png")
    path, order = weights(7)
    images = tmp_path / "a.png", tmp_path / "b.png"
    for words in ((*images, "--weights", path), (images[0], "--weights", path, images[1])):
        status, out, err = go(predict, *words, "--top", "2")
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[::3] == [str(image) for image in images]
        assert [line.split("%  ")[1] for line in lines[1:3]] == [f"class {c}" for c in order[:2]]


def test_predict_takes_a_run_as_weights_too(go, trained, tmp_path):
    picture("RGB").save(tmp_path / "a.png")
    assert go(predict, "--weights", trained, tmp_path / "a.png") == go(predict, trained, tmp_path / "a.png")


def test_predict_without_usable_weights(go, trained, tmp_path):
    picture("RGB").save(tmp_path / "a.png")
    assert_one_line(go(predict, "--weights", tmp_path / "none.npz", tmp_path / "a.png"), "none.npz")
    assert_one_line(go(predict, "--weights", "nonsense", tmp_path / "a.png"), "nonsense", "Ti_16-384")
    assert_one_line(go(predict, "--weights", trained), "IMAGE")
    assert_one_line(go(predict, tmp_path / "a.png"), "RUN IMAGE")


def test_flags_may_stand_among_the_words(go, trained, tmp_path):
    for name in "ab":
        picture("RGB").save(tmp_path / f"{name}.png")
    words = [trained, tmp_path / "a.png", tmp_path / "b.png"]
    plain = go(predict, *words, "--top", "1")
    assert plain[0] == 0
    for i in range(3):
        assert go(predict, *words[:i], "--top", "1", *words[i:]) == plain


def test_imagenet_has_a_thousand_names_in_their_usual_order():
    names = imagenet_classes()
    assert len(names) == 1000
    assert all(name == name.strip() and name for name in names)
    for c, name in {
        0: "tench",
        1: "goldfish",
        207: "golden retriever",
        281: "tabby",
        388: "giant panda",
    }.items():
        assert names[c].startswith(name)
    assert names[999].startswith("toilet tissue")


# Mistakes in training.


@pytest.fixture
def refused(go, photos, tmp_path):
    """refused(FLAGS, PARTS): training stops with one line that has these parts, and leaves nothing."""

    def refused(flags, *parts):
        before = sorted(tmp_path.rglob("*"))
        assert_one_line(go(train, *tiny(photos, tmp_path / "run", *flags)), *parts)
        assert sorted(tmp_path.rglob("*")) == before

    return refused


@pytest.mark.parametrize(
    "flag",
    [
        *("--epochs 0", "--epochs -1", "--epochs ten", "--epochs 1.5", "--batch-size 0", "--accumulate 0"),
        *("--threads 0", "--threads 100000", "--image-size 0", "--seed -1", "--validation -3"),
        *("--crop-padding -1", "--lr 0", "--lr -1", "--lr nan", "--lr inf", "--lr 1e999", "--lr fast"),
        *("--warmup-epochs nan", "--warmup-epochs -1", "--warmup-epochs inf", "--clip nan", "--clip -1"),
        *("--weight-decay -1", "--weight-decay nan", "--dropout 1", "--dropout -0.1", "--drop-path nan"),
        *("--smoothing 1", "--smoothing x", "--optimizer lion", "--decay never", "--pool max"),
        *("--device tpu", "--dataset mnist"),
    ],
)
def test_a_value_that_makes_no_sense(refused, flag):
    name, value = flag.split()
    refused((name, value), f"argument {name}", value, "--help")


@pytest.mark.parametrize("flags", [("--lrr", "1"), ("--epoch", "3"), ("nonsense",), ("--lr",)])
def test_a_flag_that_is_none(refused, flags):
    refused(flags, flags[0], "--help")


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (("--model", "huge/4"), ("unknown model 'huge/4'", "nano")),
        (("--model", "nano"), ("unknown model 'nano'", "SIZE/PATCH")),
        (("--model", "nano/0"), ("patch_size is 0",)),
        (("--model", "nano/3"), ("patches of 3 x 3 do not divide images of 8 x 8", "choose")),
        (("--model", "nano/16"), ("images of 8 x 8 pixels are smaller than one patch of 16 x 16", "choose")),
        (("--batch-size", "33"), ("batch of 33 images cannot be drawn from 32", "--batch-size")),
        (("--batch-size", "9", "--validation", "24"), ("cannot be drawn from 8",)),
        (("--accumulate", "9"), ("8 images cannot be computed in 9 parts", "--accumulate")),
        (("--validation", "32"), ("cannot hold out 32 of 32", "from 1 to 31")),
        (("--validation", "1000"), ("cannot hold out 1,000 of 32",)),
        (("--crop-padding", "8"), ("8 pixels on images of 8 x 8", "--crop-padding below 8")),
        (("--dataset", "shapes"), ("32 pixels wide, not 8", "--image-size")),
        (("--data-dir", "nowhere"), ("nowhere is no folder", "--data-dir")),
    ],
    ids=lambda value: " ".join(value),
)
def test_settings_that_do_not_fit(refused, flags, parts):
    refused(flags, *parts)


def test_a_folder_data_set_needs_a_folder(go, tmp_path):
    assert_one_line(go(train, "--dataset", "folder", "--out", tmp_path / "run"), "--data-dir")


def test_a_picture_that_is_none(refused, photos, tmp_path):
    shutil.copytree(photos, tmp_path / "p")
    (tmp_path / "p" / "red" / "3.png").write_text("hello")
    refused(("--data-dir", tmp_path / "p"), "3.png cannot be read as an image", "remove it")


def test_a_class_without_pictures(refused, photos, tmp_path):
    shutil.copytree(photos, tmp_path / "p")
    (tmp_path / "p" / "green").mkdir()
    refused(("--data-dir", tmp_path / "p"), "green holds no image")


def cifar(*flags):
    return ("--dataset", "cifar10", "--image-size", "32", *flags)


def test_a_cifar_archive_that_is_cut_short(refused, tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / CIFAR10.binary.archive).write_bytes(b"\x1f\x8b\x08\x00" + bytes(50))
    refused(cifar("--data-dir", tmp_path / "d"), CIFAR10.binary.archive, "cut short", "Delete it")


def test_a_cifar_file_that_is_cut_in_half(refused, tmp_path):
    for file in (*CIFAR10.binary.train, *CIFAR10.binary.test):
        (tmp_path / file).write_bytes(bytes(100))
    refused(cifar("--data-dir", tmp_path), "data_batch_1.bin has 100 bytes, expected 30,730,000", "cut short")


def test_a_wrong_model_is_found_before_anything_is_downloaded(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("tinyvit.data.cifar.download", lambda *args: pytest.fail("downloads"))
    refused(cifar("--data-dir", tmp_path, "--model", "nano/5"), "patches of 5 x 5 do not divide")


def test_a_run_folder_that_cannot_be(refused, tmp_path):
    (tmp_path / "file").write_text("text")
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        refused(("--out", path), f"cannot make the run folder {path}", "--out")


def test_a_model_too_large_for_the_memory(refused, monkeypatch):
    def too_large(*args, **more):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr(CpuEngine, "loss_and_grads", too_large)
    refused((), "not enough memory", "--batch-size")


def test_files_of_the_user_in_the_run_folder_stay(go, photos, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    assert_one_line(go(train, *tiny(photos, tmp_path / "run", "--lr", "1e6", "--clip", "0")), "diverged")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["notes.txt"]


def test_without_flags_it_trains_on_shapes(go, tmp_path, monkeypatch):
    """The default run, but for its length."""
    monkeypatch.chdir(tmp_path)
    small = ("--epochs", "1", "--batch-size", "10", "--validation", "9985", "--threads", "1")
    monkeypatch.setattr(
        "tinyvit.training.loop.evaluate", lambda *args: argparse.Namespace(loss=1, accuracy=0.5)
    )
    status, out, err = go(train, *small)
    assert (status, err) == (0, "")
    assert "run runs" in out
    assert "--dataset cifar10" in out
    config = json.loads((tmp_path / "runs" / "shapes-1" / "config.json").read_text())
    assert config["settings"]["dataset"] == "shapes"
    assert len(config["classes"]) == 10
