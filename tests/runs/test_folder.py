"""A run folder that somebody has damaged says so; the place of the next run and of the latest is found."""

import json
import os

import pytest

from tests.tiny_runs import assert_one_line, tiny
from tinyvit import evaluate, predict, train
from tinyvit.errors import UserError
from tinyvit.runs.folder import RunFolder, latest_run, next_run_path
from tinyvit.runs.settings import Settings


@pytest.fixture
def run(go, photos, tmp_path):
    assert go(train, *tiny(photos, tmp_path / "run", "--epochs", "1"))[0] == 0
    return tmp_path / "run"


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


def test_a_setting_of_another_version_is_named():
    values = Settings("shapes", "nano/4").as_dict()
    assert Settings.from_dict(values) == Settings("shapes", "nano/4")
    with pytest.raises(UserError, match=r"does not know: colour, taste\. Use the version"):
        Settings.from_dict(values | {"taste": 1, "colour": 2})
    with pytest.raises(UserError, match="lacks the settings model"):
        Settings.from_dict({"dataset": "shapes"})
    with pytest.raises(UserError, match="has 'ten' for the setting epochs"):
        Settings.from_dict(values | {"epochs": "ten"})
    assert Settings.from_dict(values | {"lr": 1}).lr == 1


def test_what_is_no_run(go, tmp_path):
    (tmp_path / "file").write_text("text")
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(UserError, match=r"no run folder \(it has no config\.json\)"):
            RunFolder.open(path)
        for command, *argv in ((train, "--resume", path), (evaluate, path), (predict, path, "a.png")):
            assert_one_line(go(command, *argv), path, "no run folder")


def test_a_run_whose_checkpoint_is_gone(go, run):
    (run / "best.npz").unlink()
    assert_one_line(go(evaluate, run), "there is no checkpoint", run / "best.npz")


def test_runs_are_numbered_and_the_latest_is_found(tmp_path):
    assert next_run_path("shapes", tmp_path) == tmp_path / "shapes-1"
    with pytest.raises(UserError, match="no run in"):
        latest_run(tmp_path)
    for i, name in enumerate(("shapes-1", "shapes-2", "folder-1")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        os.utime(tmp_path / name / "config.json", (1000 - i, 1000 - i))
    assert next_run_path("shapes", tmp_path) == tmp_path / "shapes-3"
    assert latest_run(tmp_path) == tmp_path / "shapes-1"
    (tmp_path / "shapes-2" / "last.npz").write_bytes(b"")
    assert latest_run(tmp_path) == tmp_path / "shapes-2"
