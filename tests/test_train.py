"""Training as a user starts it: without flags, and with mistakes, each of which is one line."""

import argparse
import json
import shutil

import pytest

from tests.tiny_runs import assert_one_line, tiny
from tinyvit import evaluate, export, train, visualize
from tinyvit.data.cifar import CIFAR10
from tinyvit.engine import CpuEngine
from tinyvit.training.run_trainer import SAVE_SECONDS


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
        *("--epochs 0", "--epochs -1", "--epochs ten", "--epochs 1.5", "--steps 0", "--batch-size 0"),
        *(
            "--accumulate 0",
            "--threads 0",
            "--threads 100000",
            "--image-size 0",
            "--seed -1",
            "--validation -3",
            "--validation 1.5",
            "--validation nan",
        ),
        *("--crop-padding -1", "--lr 0", "--lr -1", "--lr nan", "--lr inf", "--lr 1e999", "--lr fast"),
        *("--warmup-epochs nan", "--warmup-epochs -1", "--warmup-epochs inf", "--clip nan", "--clip -1"),
        *("--weight-decay -1", "--weight-decay nan", "--dropout 1", "--dropout -0.1", "--drop-path nan"),
        *("--smoothing 1", "--smoothing x", "--optimizer lion", "--decay never", "--pool max"),
        *("--device tpu", "--dataset imagenet", "--mixup -1", "--mixup inf", "--cutmix nan", "--erase 1.1"),
        *("--crop-scale 0", "--crop-scale 1.1", "--colour-jitter -0.1", "--colour-jitter 1.1"),
        *("--erase -0.1", "--repeats 0", "--repeats 1.5", "--augment-ops 0", "--augment-ops 17"),
    ],
)
def test_a_value_that_makes_no_sense(refused, flag):
    name, value = flag.split()
    refused((name, value), f"argument {name}", value, "--help")


@pytest.mark.parametrize("flags", [("--lrr", "1"), ("--epoch", "3"), ("nonsense",), ("--lr",)])
def test_an_unknown_flag(refused, flags):
    refused(flags, flags[0], "--help")


def test_a_length_in_epochs_and_in_steps(refused):
    refused(("--epochs", "2", "--steps", "9"), "--steps", "not allowed with", "--epochs")


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
        (("--repeats", "9"), ("8 images cannot hold an image 9 times", "--repeats", "--batch-size")),
        (("--batch-size", "1", "--repeats", "2"), ("a batch of 1 image cannot hold",)),
        (("--epochs", "20001"), ("20,001 epochs are more than the 20,000", "fewer --epochs")),
        (("--steps", "80001"), ("80,001 steps are 20,001 epochs", "fewer --steps", "--batch-size")),
        (("--crop-padding", "8"), ("8 pixels on images of 8 x 8", "--crop-padding below 8")),
        (("--crop-scale", "0.5"), ("--crop-scale 0.5 takes the place of --crop-padding, which is 1",)),
        (("--dataset", "shapes"), ("32 pixels wide, not 8", "--image-size")),
        (("--data-dir", "nowhere"), ("nowhere is not a folder", "--data-dir")),
    ],
    ids=lambda value: " ".join(value),
)
def test_settings_that_do_not_fit(refused, flags, parts):
    refused(flags, *parts)


def test_a_folder_data_set_needs_a_folder(go, tmp_path):
    assert_one_line(go(train, "--dataset", "folder", "--out", tmp_path / "run"), "--data-dir")


def test_shapes_are_not_read_from_a_folder(go, photos, tmp_path):
    assert_one_line(
        go(train, "--data-dir", photos, "--out", tmp_path / "run"), "shapes are drawn", "--dataset"
    )


def test_a_run_that_merges_its_patches_is_resumed_judged_and_looked_into(go, photos, tmp_path):
    run, flags = tmp_path / "run", ("--layers", "2", "--merge-after", "1", "--epochs", "1")
    status, out, _ = go(train, *tiny(photos, run, *flags))
    assert status == 0 and "merge after 1" in out
    assert go(train, "--resume", run, "--epochs", "2")[0] == 0
    assert go(evaluate, run)[0] == 0
    status, out, err = go(visualize, run)
    assert (status, err) == (0, "") and "inside.png" in out
    assert_one_line(go(export, run, tmp_path / "page.html"), "a page runs the paper's ViT", "merge_after")


@pytest.mark.parametrize(
    "flags, merges",
    [
        ("--recipe cpu-20-minutes", "3"),
        ("--recipe cpu-20-minutes --merge-after 0", "0"),
        ("--recipe cpu-20-minutes --position relative", "-"),
        ("--recipe cpu-20-minutes --patch-dropout 0.5", "-"),
        ("--recipe cpu-8-minutes --merge-after 2", "2"),
    ],
)
def test_what_a_recipe_sets_gives_way_to_a_choice_that_cannot_be_beside_it(go, tmp_path, flags, merges):
    """Patches that are merged can neither be dropped nor have positions in the blocks."""
    small = f"--dataset shapes --device cpu --epochs 1 --out {tmp_path / 'run'}"
    status, out, err = go(train, *flags.split(), *small.split(), "--dry-run")
    assert (status, err) == (0, "")
    assert f"merge_after {merges} " in " ".join(out.split())


def test_a_folder_of_training_images_alone_is_split(go, photos, tmp_path):
    shutil.copytree(photos, tmp_path / "p" / "train")
    status, out, _ = go(train, *tiny(tmp_path / "p", tmp_path / "run", "--epochs", "1"))
    assert status == 0 and "32 to train on and 8 to test on" in out


def test_a_file_that_is_not_a_picture(go, photos, tmp_path):
    """It is left out and named, and the run remembers it; with --strict it is a mistake."""
    shutil.copytree(photos, tmp_path / "p")
    (tmp_path / "p" / "red" / "3.png").write_text("hello")
    status, _, err = go(train, *tiny(tmp_path / "p", tmp_path / "run", "--strict"))
    assert status == 2 and "3.png cannot be read as an image" in err and not (tmp_path / "run").exists()
    assert go(train, *tiny(tmp_path / "p", tmp_path / "left", "--epochs", "1"))[0] == 0
    assert "3.png" in (tmp_path / "left" / "left_out.json").read_text()


def test_the_files_of_each_part_are_named(go, photos, tmp_path):
    """A share of each class, by its file names, beside the test images; what was trained on is the rest."""
    flags = tiny(photos, tmp_path / "run", "--epochs", "1", "--validation", "0.25")
    status, out, _ = go(train, *flags)
    assert status == 0 and "24 images to train on, 8 for validation and 8 to test on" in out
    split = json.loads((tmp_path / "run" / "split.json").read_text())
    assert {part: len(names) for part, names in split.items()} == {"train": 24, "validation": 8, "test": 8}
    for names in split.values():
        assert sum(name.startswith("red") for name in names) == len(names) / 2
    named = [name for names in split.values() for name in names]
    assert sorted(named) == sorted(str(path.relative_to(photos)) for path in photos.rglob("*.png"))
    settings = json.loads((tmp_path / "run" / "config.json").read_text())["settings"]
    assert settings["validation"] == 0.25
    assert go(evaluate, tmp_path / "run", "--split", "validation")[0] == 0
    assert go(train, "--resume", tmp_path / "run", "--epochs", "2")[0] == 0


def test_a_class_without_pictures_is_left_out(go, photos, tmp_path):
    shutil.copytree(photos, tmp_path / "p")
    (tmp_path / "p" / "green").mkdir()
    status, out, _ = go(train, *tiny(tmp_path / "p", tmp_path / "run", "--epochs", "1"))
    assert status == 0 and "40 images of 2 classes" in out and "left out green" in out


@pytest.mark.parametrize("out", [None, "lauf", "red/lauf", "red"])
def test_a_run_folder_among_the_classes(go, photos, tmp_path, monkeypatch, out):
    folder = shutil.copytree(photos, tmp_path / "p")
    monkeypatch.chdir(folder)
    flags = ("--dataset", "folder", "--data-dir", ".", "--image-size", "8", *(("--out", out) if out else ()))
    before = sorted(tmp_path.rglob("*"))
    parts = f"the run folder {out or 'runs'} would be in .,", "choose one elsewhere with --out"
    assert_one_line(go(train, *flags), *parts)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_run_folder_beside_folders_of_training_and_test_images(go, photos, tmp_path):
    for part in ("train", "test"):
        shutil.copytree(photos, tmp_path / "p" / part)
    assert go(train, *tiny(tmp_path / "p", tmp_path / "p" / "runs" / "a", "--epochs", "1"))[0] == 0
    flags = tiny(tmp_path / "p", tmp_path / "p" / "test" / "a")
    assert_one_line(go(train, *flags), f"would be in {tmp_path / 'p' / 'test'}")


def test_a_data_folder_that_is_named_from_here_is_found_from_elsewhere(go, photos, tmp_path, monkeypatch):
    monkeypatch.chdir(photos.parent)
    assert go(train, *tiny(photos.name, tmp_path / "run", "--epochs", "1"))[0] == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["settings"]["data_dir"] == str(photos)
    monkeypatch.chdir(tmp_path)
    assert go(evaluate, tmp_path / "run")[0] == 0


def cifar(*flags):
    return ("--dataset", "cifar10", "--image-size", "32", *flags)


def test_a_cifar_archive_that_is_cut_short(refused, tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / CIFAR10.binary.archive).write_bytes(b"\x1f\x8b\x08\x00" + bytes(50))
    refused(cifar("--data-dir", tmp_path / "d"), CIFAR10.binary.archive, "truncated", "Delete it")


def test_a_cifar_file_that_is_cut_in_half(refused, tmp_path):
    for file in (*CIFAR10.binary.train, *CIFAR10.binary.test):
        (tmp_path / file).write_bytes(bytes(100))
    refused(cifar("--data-dir", tmp_path), "data_batch_1.bin has 100 bytes, expected 30,730,000", "truncated")


def test_a_wrong_model_is_found_before_anything_is_downloaded(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("tinyvit.data.cifar.download", lambda *args: pytest.fail("downloads"))
    refused(cifar("--data-dir", tmp_path, "--model", "nano/5"), "patches of 5 x 5 do not divide")


def test_a_run_folder_that_cannot_be(refused, tmp_path):
    (tmp_path / "file").write_text("text")
    for path in (tmp_path / "file", tmp_path / "file" / "run"):
        refused(("--out", path), f"cannot create the run folder {path}", "--out")


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


def test_without_flags_it_trains_on_shapes(go, few_shapes, tmp_path, monkeypatch):
    """The default run, but for its length."""
    monkeypatch.chdir(tmp_path)
    small = ("--epochs", "1", "--batch-size", "10", "--validation", "85", "--threads", "1")
    monkeypatch.setattr(
        "tinyvit.training.evaluation.evaluate", lambda *args: argparse.Namespace(loss=1, accuracy=0.5)
    )
    status, out, err = go(train, *small)
    assert (status, err) == (0, "")
    assert "run runs" in out
    assert "--dataset cifar10" in out
    config = json.loads((tmp_path / "runs" / "shapes-1" / "config.json").read_text())
    assert config["settings"]["dataset"] == "shapes"
    assert len(config["classes"]) == 10


def test_help_says_how_often_a_run_is_saved(capsys):
    with pytest.raises(SystemExit):
        train.parser().parse_args(["--help-all"])
    assert "saved after each evaluation, once a minute in between" in " ".join(
        capsys.readouterr().out.split()
    )
    assert SAVE_SECONDS == 60
