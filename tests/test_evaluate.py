"""Evaluating a run, class by class."""

import re
import shutil

import numpy as np
import pytest

from tests.tiny_runs import assert_one_line, metrics, tiny
from tinyvit import evaluate, train


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
    assert_one_line(go(evaluate, trained, "--data-dir", tmp_path / "nowhere"), "nowhere is not a folder")


def test_evaluate_where_something_is_gone(go, photos, tmp_path):
    shutil.copytree(photos, tmp_path / "photos")
    run = tmp_path / "run"
    assert go(train, *tiny(tmp_path / "photos", run, "--epochs", "1"))[0] == 0
    (run / "best.npz").unlink()
    assert_one_line(go(evaluate, run), "best.npz, but last.npz is there: say --checkpoint last")
    shutil.move(tmp_path / "photos", tmp_path / "moved")
    assert_one_line(go(evaluate, run, "--checkpoint", "last"), "no longer in", "by --data-dir")
    moved = ("--data-dir", tmp_path / "moved")
    assert go(evaluate, run, "--checkpoint", "last", *moved)[0] == 0
