"""tinyvit.pretrain as a user runs it, and what the other commands make of its run."""

import json

import numpy as np
import pytest
from PIL import Image

import tinyvit
from tests.tiny_runs import (
    STOPPING,
    arrays,
    assert_one_line,
    assert_same_bits,
    interrupted_after,
    metrics,
    tiny,
)
from tinyvit import compare, evaluate, export, fewshot, finetune, info, predict, pretrain, train, visualize
from tinyvit.support.errors import UserError

NAMES = {
    "config.json",
    "metrics.jsonl",
    "metrics.csv",
    "last.npz",
    "previous.npz",
    "best.npz",
    "curves.png",
    "patches.png",
    "split.json",
}
NAMES |= {"samples"}
FLAGS = ("--dropout", "0.1", "--drop-path", "0.1")


@pytest.fixture(scope="module")
def patches(photos, tmp_path_factory):
    """A finished run without labels."""
    with pytest.MonkeyPatch.context() as patch:
        out = tmp_path_factory.mktemp("runs") / "patches"
        patch.setattr("sys.argv", ["tinyvit.pretrain", *tiny(photos, out, *FLAGS)])
        with pytest.raises(SystemExit) as leaving:
            tinyvit.support.shell.command.run_command(pretrain.parser(), pretrain.main)
        assert not leaving.value.code
    return out


def test_a_run_without_labels_says_what_it_learned_and_what_to_do_next(go, photos, tmp_path):
    status, out, err = go(pretrain, *tiny(photos, tmp_path / "run"))
    assert (status, err) == (0, "")
    assert {path.name for path in (tmp_path / "run").iterdir()} == NAMES
    assert "tinyvit · folder without labels · vit-nano/4" in out
    assert out.count("\nepoch ") == 3 and "   test loss " in out
    assert "best.npz, of epoch " in out and "% of the corrupted patches' colours are right). Next:" in out
    assert f"python -m tinyvit.finetune {tmp_path / 'run'} --dataset folder --data-dir {photos}" in out
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (config["settings"]["target"], config["settings"]["corrupt"]) == ("mean-colour", 0.5)
    assert (config["model"]["predicts"], config["model"]["classes"], config["classes"]) == (
        "patches",
        512,
        [],
    )
    records = metrics(tmp_path / "run")
    assert records[0]["train_loss"] > records[2]["train_loss"]
    best = json.loads(str(arrays(tmp_path / "run" / "best.npz")["progress"]))["best_epoch"]
    assert best == min(records, key=lambda record: record["test_loss"])["epoch"]


@pytest.mark.parametrize(
    ("command", "more"),
    [(train, ("--accumulate", "2")), (pretrain, ("--target", "pixels", "--validation", "8"))],
    ids=["mean colour", "pixels"],
)
def test_stopped_and_resumed_it_ends_with_the_same_bits(go, photos, tmp_path, monkeypatch, command, more):
    run, alone = tmp_path / "run", tmp_path / "alone"
    assert go(pretrain, *tiny(photos, alone, *FLAGS, *more))[0] == 0
    with interrupted_after(monkeypatch, 4):
        status, out, err = go(pretrain, *tiny(photos, run, *FLAGS, *more))
    assert (status, err) == (130, STOPPING)
    assert f"python -m tinyvit.pretrain --resume {run}" in out
    assert go(command, "--resume", run)[0] == 0
    assert metrics(run) == metrics(alone)
    for name in ("last.npz", "best.npz"):
        assert_same_bits(run / name, alone / name)
    assert (run / "patches.png").read_bytes() == (alone / "patches.png").read_bytes()


def test_a_longer_run_without_an_accuracy_is_judged_again_by_its_loss(go, photos, tmp_path):
    flags = ("--target", "pixels", "--steps", "6")
    assert go(pretrain, *tiny(photos, tmp_path / "run", *flags))[0] == 0
    assert go(pretrain, "--resume", tmp_path / "run", "--steps", "8")[0] == 0
    records = metrics(tmp_path / "run")
    assert [record["step"] for record in records] == [4, 8]
    assert [record["test_accuracy"] for record in records] == [None, None]
    progress = json.loads(str(arrays(tmp_path / "run" / "last.npz")["progress"]))
    best = min(records, key=lambda record: record["test_loss"])
    assert (progress["best_loss"], progress["best_epoch"]) == (best["test_loss"], best["epoch"])


def test_a_resnet_has_nothing_to_hide(go, photos, tmp_path):
    refused = go(pretrain, *tiny(photos, tmp_path / "run", "--model", "resnet-nano"))
    assert_one_line(refused, "a ResNet on its own has no patches to hide: choose a ViT")


@pytest.mark.parametrize("method", ["--mixup", "--cutmix"])
def test_without_labels_images_are_not_mixed(go, photos, tmp_path, method):
    refused = go(pretrain, *tiny(photos, tmp_path / "run", method, "0.8"))
    assert_one_line(refused, "learning without labels has none: expected --mixup 0 and --cutmix 0")
    assert go(train, *tiny(photos, tmp_path / "run", method, "1", "--epochs", "1"))[0] == 0
    repeat = ("--config", tmp_path / "run" / "config.json", "--out", tmp_path / "again")
    assert_one_line(go(pretrain, *repeat, "--target", "pixels"), "mixing images mixes their labels")
    assert go(pretrain, *repeat, "--target", "pixels", method, "0")[0] == 0


def test_a_run_with_labels_is_resumed_by_pretrain_as_it_was(go, photos, tmp_path, monkeypatch):
    assert go(train, *tiny(photos, tmp_path / "alone"))[0] == 0
    with interrupted_after(monkeypatch, 5):
        go(train, *tiny(photos, tmp_path / "run"))
    refused = go(pretrain, "--resume", tmp_path / "run", "--target", "pixels")
    assert_one_line(refused, "was started with target None, not pixels")
    assert go(pretrain, "--resume", tmp_path / "run")[0] == 0
    assert metrics(tmp_path / "run") == metrics(tmp_path / "alone")


def test_config_repeats_a_run_without_labels(go, patches, tmp_path):
    assert go(pretrain, "--config", patches / "config.json", "--out", tmp_path / "again")[0] == 0
    assert metrics(tmp_path / "again") == metrics(patches)


def test_fine_tuning_starts_from_its_body_with_a_new_head(go, photos, patches, tmp_path):
    flags = tiny(photos, tmp_path / "run", "--steps", "1", "--lr", "1e-12")
    for flag in ("--model", "--layers"):
        del flags[flags.index(flag) : flags.index(flag) + 2]
    status, _, err = go(finetune, patches, *flags)
    assert (status, err) == (0, "")
    before, after = arrays(patches / "best.npz"), arrays(tmp_path / "run" / "last.npz")
    kept = {name for name in after if name.startswith("param/")}
    assert {name for name in before if name.startswith("param/")} - kept == {"param/mask_token"}
    for name in kept - {"param/head.weight", "param/head.bias"}:
        np.testing.assert_allclose(after[name], before[name], atol=1e-6, err_msg=name)
    assert after["param/head.weight"].shape[1] == 2 and abs(after["param/head.weight"]).max() < 1e-6
    assert json.loads(str(after["config"]))["predicts"] == "image"
    assert go(evaluate, tmp_path / "run")[0] == 0


def test_commands_that_need_classes_refuse_it_in_one_line(go, photos, patches, tmp_path):
    image = next(photos.glob("red/*.png"))
    for result in (
        go(evaluate, patches),
        go(predict, patches, image),
        go(export, patches, tmp_path / "out.npz"),
    ):
        assert_one_line(result, patches, "learned without labels", "no classes", "tinyvit.finetune")
    both = go(finetune, patches, "--config", patches / "config.json", "--out", tmp_path / "run")
    assert_one_line(both, "a run cannot do both", "--config")
    assert not list(tmp_path.iterdir())


def test_other_commands_take_it(go, photos, patches, tmp_path):
    status, out, _ = go(info, patches)
    assert status == 0 and "none: it predicts 512 numbers for each patch" in out
    status, out, _ = go(fewshot, patches, "--dataset", "folder", "--data-dir", photos, "--shots", "5")
    assert status == 0 and "accuracy" in out
    status, out, _ = go(compare, patches, patches, "--out", tmp_path / "compare.png")
    best = min(metrics(patches), key=lambda record: record["test_loss"])
    assert status == 0 and f"{best['test_loss']:.4f}" in out
    image = next(photos.glob("red/*.png"))
    assert go(predict, patches, image, "--attention", tmp_path / "a.png")[0] == 0


def test_visualize_draws_it_and_its_patches(go, patches, tmp_path):
    drawn = patches / "patches.png"
    drawn.unlink()
    status, out, err = go(visualize, patches, "--out", tmp_path / "inside.png", "--images", "3")
    assert (status, err) == (0, "")
    assert out.splitlines() == [f"wrote {tmp_path / 'inside.png'}", f"wrote {drawn}"]
    with Image.open(drawn) as picture:
        assert picture.height > picture.width / 2


def test_in_python_it_gives_features_and_patches_but_no_classes(patches, tmp_path):
    model, images = tinyvit.load(patches), np.zeros((2, 8, 8, 3), dtype=np.uint8)
    assert model.features(images).shape == (2, 64)
    assert model.logits(images).shape == (2, 4, 512)
    for refused in (lambda: model.predict(images), lambda: model.fit(images, [0, 1])):
        with pytest.raises(UserError, match="learned without labels"):
            refused()
    with pytest.raises(UserError, match="layout official has no place for a model that predicts patches"):
        model.save(tmp_path / "a.npz", "official")
    model.save(tmp_path / "a.npz")
    np.testing.assert_array_equal(tinyvit.load(tmp_path / "a.npz").features(images), model.features(images))
    assert model.with_new_head(3).predict(images).shape == (2,)
