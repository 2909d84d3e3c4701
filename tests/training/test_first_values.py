"""Runs that start from mimetic attention and a whitened patch embedding."""

import json
import re

import numpy as np
import pytest

from tests.helpers import tiny_config
from tests.tiny_runs import arrays, assert_one_line, assert_same_run, interrupted_after, tiny
from tinyvit import finetune, pretrain
from tinyvit.model import initialise
from tinyvit.training import starting_point

FIRST = ("--init", "mimetic", "--whiten", "--epochs", "2")


@pytest.fixture
def started(run_once):
    """A run of 2 epochs of 4 steps with both."""
    return run_once(*FIRST)


def settings(run):
    return json.loads((run / "config.json").read_text("utf-8"))["settings"]


def after_one_step(command, photos, run, *flags):
    """The weights after a step that hardly changes them."""
    flags = (*flags, "--steps", "1", "--lr", "1e-9", "--weight-decay", "0")
    assert command(*tiny(photos, run, *flags))[0] == 0
    return arrays(run / "last.npz")


def test_each_flag_changes_what_a_run_starts_from_and_nothing_else(command, photos, tmp_path):
    usual = after_one_step(command, photos, tmp_path / "usual")
    for name, flags, changed in (
        ("mimetic", ("--init", "mimetic"), r"param/(position|blocks\.\d\.attn\.(qkv|out)\.weight)"),
        ("whitened", ("--whiten",), r"param/patch\.(weight|bias)"),
    ):
        other = after_one_step(command, photos, tmp_path / name, *flags)
        for key in (key for key in usual if key.startswith("param/")):
            apart = np.abs(other[key] - usual[key]).max()
            assert apart > 1e-3 if re.fullmatch(changed, key) else apart < 1e-6, (name, key)
        record = settings(tmp_path / name)
        assert (record["init"], record["whiten"]) == (
            "mimetic" if name == "mimetic" else "official",
            name == "whitened",
        )


def test_a_run_that_is_stopped_ends_with_the_same_bits(command, photos, started, tmp_path, monkeypatch):
    with interrupted_after(monkeypatch, 1):
        command(*tiny(photos, tmp_path / "run", *FIRST))
    assert_one_line(command("--resume", tmp_path / "run", "--no-whiten"), "was started with whiten True")
    assert_one_line(command("--resume", tmp_path / "run", "--init", "official"), "with init mimetic")
    assert command("--resume", tmp_path / "run")[0] == 0
    assert_same_run(tmp_path / "run", started)


def test_a_run_that_crashed_before_its_first_checkpoint_does_so_too(
    command, photos, started, tmp_path, monkeypatch
):
    with interrupted_after(monkeypatch, 1):
        command(*tiny(photos, tmp_path / "run", *FIRST))
    (tmp_path / "run" / "last.npz").unlink()
    assert command("--resume", tmp_path / "run")[0] == 0
    assert_same_run(tmp_path / "run", started)


def test_a_run_is_repeated_with_the_same_first_values_or_without(command, started, tmp_path):
    for name, flags, whiten in (("again", (), True), ("plain", ("--no-whiten",), False)):
        flags = ("--config", started / "config.json", "--out", tmp_path / name, *flags)
        assert command(*flags)[0] == 0
        assert settings(tmp_path / name) == settings(started) | {"whiten": whiten}
    assert_same_run(tmp_path / "again", started)


def test_fine_tuning_begins_with_the_weights_and_nothing_else(command, go, photos, started, tmp_path):
    tune = ("--dataset", "folder", "--data-dir", photos, "--device", "cpu", "--steps", "2", "--threads", "1")
    refused = go(finetune, started, *tune, "--whiten")
    assert refused[0] == 2 and "unrecognized arguments: --whiten" in refused[2]
    repeated = (started, "--config", started / "config.json", "--steps", "2", "--out", tmp_path / "tuned")
    assert go(finetune, *repeated)[0] == 0
    record = json.loads((tmp_path / "tuned" / "config.json").read_text("utf-8"))
    assert (record["settings"]["init"], record["settings"]["whiten"]) == ("official", False)
    assert_one_line(
        command("--config", tmp_path / "tuned" / "config.json", "--whiten"),
        "have a model already: omit --whiten",
    )
    by_hand = tmp_path / "by_hand.json"
    by_hand.write_text(json.dumps(record["settings"] | {"whiten": True}), "utf-8")
    refused = command("--config", by_hand, "--out", tmp_path / "other")
    assert_one_line(refused, "first values would overwrite them", "--whiten")


def test_learning_without_labels_may_start_from_them_too(go, photos, tmp_path):
    assert go(pretrain, *tiny(photos, tmp_path / "run", *FIRST))[0] == 0
    assert settings(tmp_path / "run")["whiten"]


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        ("--init random", ("--init", "random", "mimetic")),
        ("--init mimetic --model resnet-nano", ("attention, which a ResNet does not have",)),
        ("--whiten --model resnet-nano", ("a ResNet reads it first: omit whitening",)),
        ("--whiten --model R5+nano/4 --image-size 32", ("a ResNet reads it first: omit whitening",)),
        ("--init mimetic --width 18 --heads 3", ("4 must divide the width, 18",)),
    ],
)
def test_what_does_not_go_together_is_one_line(command, photos, tmp_path, flags, parts):
    assert_one_line(command(*tiny(photos, tmp_path / "run", *flags.split())), *parts)
    assert not (tmp_path / "run" / "config.json").exists()


def test_images_to_whiten_for_are_a_sample_of_all(monkeypatch):
    monkeypatch.setattr(starting_point, "_SAMPLE", 40)
    config = tiny_config()
    images = np.zeros((80, 8, 8, 3), np.uint8)  # the first half is black
    images[40:] = np.random.default_rng(0).integers(0, 256, (40, 8, 8, 3))
    params, others = initialise(config), initialise(config)
    starting_point.whiten_for(config, params, images, seed=1)  # the first 40 alone are all the same
    starting_point.whiten_for(config, others, images, seed=2)
    assert (params["patch.weight"] != others["patch.weight"]).any()
