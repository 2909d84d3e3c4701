"""The settings in config.json when a run is resumed are compared with those it was trained with."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from tests.tiny_runs import arrays, assert_one_line, assert_same_bits, interrupted_after, metrics, tiny
from tinyvit import train
from tinyvit.training.run_folder import RunFolder


@pytest.fixture
def run(run_once, tmp_path):
    """A run of 3 epochs that was stopped in the second one."""
    return shutil.copytree(run_once(step=5), tmp_path / "run")


def edit(run, **settings):
    """Change settings in config.json."""
    config = json.loads((run / "config.json").read_text())
    config["settings"] |= settings
    (run / "config.json").write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("name", "value", "before"),
    [
        ("lr", 0.002, 0.001),
        ("warmup_epochs", 0.7, 0.75),
        ("smoothing", 0.1, 0.0),
        ("flip", False, True),
        ("seed", 1, 0),
        ("epochs", 8, 3),
        ("steps", 40, None),
        ("decay", "linear", "cosine"),
        ("threads", 2, 1),
    ],
)
def test_a_setting_that_was_changed_is_named(go, run, name, value, before):
    edit(run, **{name: value})
    files = {path.name: path.read_bytes() for path in run.glob("*.*")}
    result = go(train, "--resume", run)
    assert_one_line(
        result, f"config.json has {value!r} for the setting {name}", f"was made with {before!r}: the file was"
    )
    assert {path.name: path.read_bytes() for path in run.glob("*.*")} == files


def test_every_digit_of_every_number_in_the_settings_counts(go, run):
    """As if one byte had changed on the disk: either an error, or the setting is still the same."""
    whole = (run / "config.json").read_text()
    settings = RunFolder(run).settings()
    places = [i for i, sign in enumerate(whole[: whole.index('"model": {')]) if sign.isdigit()]
    assert len(places) > 20
    for place in places:
        (run / "config.json").write_text(whole[:place] + str(9 - int(whole[place])) + whole[place + 1 :])
        try:
            found = RunFolder(run).settings()
            changed = replace(found, ranks=settings.ranks) != settings  # the launcher says how many there are
        except ValueError:
            changed = True
        if changed and str(settings.data_dir) in (run / "config.json").read_text():
            assert_one_line(go(train, "--resume", run), "config.json")


def test_what_may_differ_on_resume_may_differ_in_the_file_too(go, run, photos, tmp_path):
    edit(run, data_dir=str(photos / ".." / photos.name))
    assert go(train, "--resume", run)[0] == 0


def test_a_run_resumed_on_other_threads_is_resumed_again(go, photos, tmp_path, monkeypatch):
    run = tmp_path / "run"
    for step, argv in ((5, tiny(photos, run)), (7, ("--resume", run, "--threads", "2"))):
        with interrupted_after(monkeypatch, step):
            assert go(train, *argv)[0] == 130
    assert go(train, "--resume", run)[0] == 0
    assert len(metrics(run)) == 3


def test_an_extension_that_was_cut_short_is_completed(go, run, photos, tmp_path):
    """The process ended after the first checkpoint of the longer run, and before config.json told of it."""
    before = (run / "config.json").read_bytes()
    assert go(train, "--resume", run, "--epochs", "5")[0] == 0
    (run / "config.json").write_bytes(before)
    assert "is finished: all 5 epochs are done" in go(train, "--resume", run)[1]
    assert go(train, "--resume", run, "--epochs", "6")[0] == 0
    assert RunFolder(run).settings().epochs == len(metrics(run)) == 6


def test_checkpoints_of_earlier_versions_have_no_settings_and_are_resumed(go, run, photos, tmp_path):
    content = arrays(run / "last.npz")
    assert json.loads(str(content.pop("settings")))["lr"] == 0.001
    np.savez(run / "last.npz", **content)
    assert go(train, "--resume", run)[0] == 0
    assert go(train, *tiny(photos, tmp_path / "alone"))[0] == 0
    assert_same_bits(run / "last.npz", tmp_path / "alone" / "last.npz")
