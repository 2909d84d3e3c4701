"""A damaged run folder is reported; metrics are read back; the latest run is found."""

import json
import os
import re
import shutil

import pytest

from tests.tiny_runs import assert_one_line
from tinyvit import evaluate, export, predict, train
from tinyvit.model import preset
from tinyvit.support.errors import UserError
from tinyvit.training.run_folder import RunFolder, latest_run
from tinyvit.training.settings import Settings


@pytest.fixture
def run(run_once, tmp_path):
    """A finished run of one epoch."""
    return shutil.copytree(run_once("--epochs", "1"), tmp_path / "run")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"settings": 3}',
        '{"settings": {}}',
        '{"settings": {"dataset": "folder", "model": "nano/4", "epochs": "ten"}}',
        '{"settings": {"dataset": "folder", "model": "nano/4", "colour": "red"}}',
    ],
)
def test_a_damaged_config(go, run, text):
    (run / "config.json").write_text(text)
    for command, *argv in ((train, "--resume", run), (evaluate, run), (predict, run, "a.png")):
        assert_one_line(go(command, *argv), "config.json")


@pytest.mark.parametrize(("key", "value"), [("model", {}), ("model", {"width": 3}), ("classes", ["one"])])
def test_a_config_that_does_not_fit_its_checkpoints(go, run, key, value):
    config = json.loads((run / "config.json").read_text()) | {key: value}
    (run / "config.json").write_text(json.dumps(config))
    for command, *argv in ((train, "--resume", run), (evaluate, run), (predict, run, "a.png")):
        assert_one_line(go(command, *argv), "config.json")


@pytest.mark.parametrize(
    ("classes", "reason"),
    [
        (["red", "red"], "two classes are called 'red'"),
        (["\x01", "\\x01"], "two classes are called"),
        (["red", ""], "class 1 has an empty name"),
        (["red", 2], "its classes are not names"),
    ],
)
def test_classes_that_cannot_be_told_apart_or_named_are_damage(go, run, tmp_path, classes, reason):
    config = json.loads((run / "config.json").read_text()) | {"classes": classes}
    (run / "config.json").write_text(json.dumps(config))
    for command, *argv in ((predict, run, "a.png"), (export, run, tmp_path / "out.npz"), (evaluate, run)):
        assert_one_line(go(command, *argv), "config.json is damaged", reason)
    assert not (tmp_path / "out.npz").exists()


def test_damage_is_told_once(run):
    (run / "config.json").write_text("[]")
    for read in (RunFolder(run).model, RunFolder(run).settings, RunFolder(run).classes, RunFolder(run).data):
        with pytest.raises(UserError) as refused:
            read()
        assert str(refused.value).count("is damaged") == 1


def test_what_is_not_a_run(go, tmp_path):
    (tmp_path / "file").write_text("text")
    no_config = "is not a run folder (it has no config.json)"
    for name, reason in (("", no_config), ("nowhere", "there is no folder"), ("file", no_config)):
        path = tmp_path / name
        with pytest.raises(UserError, match=re.escape(reason)):
            RunFolder.open(path)
        for command, *argv in ((train, "--resume", path), (evaluate, path), (predict, path, "a.png")):
            assert_one_line(go(command, *argv), path, "run folder")


def test_a_published_model_without_its_weights_is_not_a_broken_run(go, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "vit"}')
    for command, *argv in ((predict, "--weights", tmp_path, "a.png"), (evaluate, tmp_path)):
        assert_one_line(go(command, *argv), "has no model.safetensors", "download that file too")


def test_a_run_whose_checkpoint_is_gone(go, run):
    (run / "best.npz").unlink()
    assert_one_line(go(evaluate, run), "there is no checkpoint", run / "best.npz")


def test_the_latest_run_is_the_one_whose_checkpoint_was_written_last(tmp_path):
    with pytest.raises(UserError, match="there is no run in"):
        latest_run(tmp_path)
    for i, name in enumerate(("shapes-1", "shapes-2", "folder-1")):
        create(tmp_path / name)
        os.utime(tmp_path / name / "config.json", (1000 - i, 1000 - i))
    assert latest_run(tmp_path) == tmp_path / "shapes-1"
    (tmp_path / "shapes-2" / "last.npz").write_bytes(b"")
    assert latest_run(tmp_path) == tmp_path / "shapes-2"
    (tmp_path / "folder-1" / "notes.txt").write_text("written later, but not a checkpoint")
    assert latest_run(tmp_path) == tmp_path / "shapes-2"


@pytest.mark.parametrize("text", [None, "", "{", "[]", "{}", '{"hidden_size": 8}'])
def test_a_folder_that_is_only_claimed_or_not_of_a_run_is_not_the_latest_run(tmp_path, text):
    create(tmp_path / "a")
    os.utime(tmp_path / "a" / "config.json", (1000, 1000))
    RunFolder.claim(tmp_path / "b", "shapes")
    if text is not None:
        (tmp_path / "b" / "config.json").write_text(text)
    assert latest_run(tmp_path) == tmp_path / "a"


def create(path):
    run = RunFolder(path)
    run.create(Settings(dataset="shapes", model="nano/4"), preset("nano/4", 8, 3), ["a", "b", "c"], 7)
    return run


def test_a_sample_that_is_there_is_left_as_it_is(tmp_path):
    run = create(tmp_path / "run")
    for content in (b"first", b"second"):
        run.add_sample("red.png", lambda file, content=content: file.write(content))
    assert (run.samples_path / "red.png").read_bytes() == b"first"


def test_metrics_are_read_as_they_were_written(tmp_path):
    run = create(tmp_path / "run")
    assert run.metrics() == []
    records = [
        {"epoch": 1, "step": 4, "train_loss": 0.5},
        {"epoch": 2, "step": 8, "train_loss": 0.25, "test_accuracy": None},
    ]
    for count in (1, 2):
        run.write_metrics(records[:count])
        assert run.metrics() == records[:count]
    assert sorted(path.name for path in run.path.iterdir()) == ["config.json", "metrics.jsonl"]


@pytest.mark.parametrize(
    "line",
    [
        '{"epoch": 2, "tr',
        "",
        "[1, 2]",
        "\x00",
        "7",
        "[" * 5000,
        "{}",
        '{"epoch": 2}',
        '{"epoch": "2", "step": 8}',
        '{"epoch": 2, "step": 0}',
        '{"epoch": 2, "step": 8, "test_loss": "low"}',
        '{"epoch": 2, "step": 8, "lr": []}',
    ],
)
def test_a_damaged_line_of_the_metrics_is_named(tmp_path, line):
    run = create(tmp_path / "run")
    run.metrics_path.write_text(f'{{"epoch": 1, "step": 4}}\n{line}\n{{"epoch": 3, "step": 12}}\n')
    with pytest.raises(UserError, match=r"metrics\.jsonl is damaged: line 2 is not a JSON object"):
        run.metrics()


def test_metrics_that_are_not_text_are_a_users_problem(tmp_path):
    run = create(tmp_path / "run")
    run.metrics_path.write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=r"metrics\.jsonl cannot be read"):
        run.metrics()
