"""Runs with other position embeddings: trained, resumed, repeated, fine-tuned, looked at."""

import json
import signal

import pytest

from tests.tiny_runs import assert_one_line, assert_same_run, interrupted_after, tiny
from tinyvit import evaluate, export, finetune, info, predict, visualize


def config(run):
    return json.loads((run / "config.json").read_text("utf-8"))


@pytest.fixture
def relative(command, photos, tmp_path):
    """A run with relative positions, of 2 epochs of 4 steps."""
    flags = ("--position", "relative", "--epochs", "2", "--dropout", "0.1")
    assert command(*tiny(photos, tmp_path / "relative", *flags))[0] == 0
    return tmp_path / "relative"


def test_a_run_is_resumed_to_the_bit_and_says_where_its_positions_are(
    command, photos, relative, tmp_path, monkeypatch
):
    flags = ("--position", "relative", "--epochs", "2", "--dropout", "0.1")
    with interrupted_after(monkeypatch, 3, signal.SIGINT):
        command(*tiny(photos, tmp_path / "run", *flags))
    refused = command("--resume", tmp_path / "run", "--position", "2d")
    assert_one_line(refused, "was started with position relative, not 2d")
    assert command("--resume", tmp_path / "run", "--position-at", "blocks")[0] == 0
    assert_same_run(tmp_path / "run", relative)
    for part in ("settings", "model"):
        assert (config(relative)[part]["position"], config(relative)[part]["position_at"]) == (
            "relative",
            "blocks",
        )


def test_every_command_takes_a_run_with_relative_positions(go, photos, relative, tmp_path):
    photo = str(next((photos / "red").iterdir()))
    for words in ((evaluate, relative), (predict, relative, photo, "--attention", tmp_path / "a.png")):
        status, _, err = go(*words)
        assert (status, err) == (0, "")
    _, out, _ = go(info, relative)
    assert "positions           a learned vector for each offset between two tokens, in every block" in out
    assert_one_line(
        go(export, relative, tmp_path / "a.npz"), "position 'relative' at 'blocks' fits no layout"
    )
    status, out, err = go(visualize, relative)
    assert (status, err) == (0, "")
    assert (
        out.splitlines()[1] == "it shows no positions: with position relative, no vector belongs to a patch"
    )
    tune = ("--dataset", "folder", "--data-dir", photos, "--device", "cpu", "--steps", "2")
    refused = go(finetune, relative, *tune, "--resolution", "16", "--out", tmp_path / "larger")
    assert_one_line(refused, "relative positions cannot be resized")
    assert go(finetune, relative, *tune, "--out", tmp_path / "tuned")[0] == 0
    assert config(tmp_path / "tuned")["settings"]["position"] == "relative"


def test_a_run_is_repeated_with_other_positions_at_their_usual_place(command, relative, tmp_path):
    for position, at in (("2d", "stem"), ("none", None)):
        flags = ("--config", relative / "config.json", "--out", tmp_path / position, "--steps", "1")
        assert command(*flags, "--position", position)[0] == 0
        assert config(tmp_path / position)["model"]["position_at"] == at


def test_fine_tuning_keeps_the_kind_at_another_resolution_and_the_picture_shows_the_first_block(
    command, go, photos, tmp_path
):
    flags = ("--position", "2d", "--position-at", "blocks", "--steps", "2")
    assert command(*tiny(photos, tmp_path / "base", *flags))[0] == 0
    tune = ("--dataset", "folder", "--data-dir", photos, "--device", "cpu", "--resolution", "16")
    words = ("--steps", "2", "--out", tmp_path / "tuned")
    assert go(finetune, tmp_path / "base", *tune, *words)[0] == 0
    model = config(tmp_path / "tuned")["model"]
    assert (model["position"], model["position_at"], model["image_size"]) == ("2d", "blocks", [16, 16])
    assert "are those of the first block" in go(visualize, tmp_path / "tuned")[1]


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        ("--position 3d", ("--position", "3d", "sincos")),
        ("--position-at head", ("--position-at", "head", "shared")),
        (
            "--position relative --position-at stem",
            ("position_at is 'stem'", "'relative'", "blocks, shared"),
        ),
        ("--position none --position-at blocks", ("position_at is 'blocks'", "expected none: omit it")),
    ],
)
def test_what_does_not_go_together_is_one_line(command, photos, tmp_path, flags, parts):
    assert_one_line(command(*tiny(photos, tmp_path / "run", *flags.split())), *parts)
    assert not (tmp_path / "run" / "config.json").exists()
