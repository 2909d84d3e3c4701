"""The log of each epoch's measurements, as a table and for TensorBoard."""

import csv
import sys
from collections import defaultdict
from types import SimpleNamespace

import pytest

from tests.tiny_runs import assert_one_line, assert_same_run, interrupted_after, metrics, tiny


def test_the_table_says_what_the_records_say(command, photos, tmp_path):
    run, flags = tmp_path / "run", ("--evaluate-every", "2", "--validation", "8")
    assert command(*tiny(photos, run, *flags))[0] == 0
    with open(run / "metrics.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    for row, record in zip(rows, metrics(run), strict=True):
        assert {name: row[name] for name in record} == {
            name: "" if value is None else str(value) for name, value in record.items()
        }
    assert rows[0]["val_loss"] == "" and float(rows[1]["val_loss"]) > 0


@pytest.fixture
def board(monkeypatch):
    """The values that tensorboardX is given: a list of (step, value) by tag, which a purge empties."""
    given = defaultdict(list)

    class SummaryWriter:
        def __init__(self, folder, purge_step):
            given.clear()
            given["folder"] = folder

        def add_scalar(self, tag, value, step):
            given[tag].append((step, value))

        def flush(self):
            pass

        close = flush

    monkeypatch.setitem(sys.modules, "tensorboardX", SimpleNamespace(SummaryWriter=SummaryWriter))
    return given


def test_a_run_is_logged_for_tensorboard_and_is_the_same_run(command, photos, tmp_path, monkeypatch, board):
    run, alone = tmp_path / "run", tmp_path / "alone"
    assert command(*tiny(photos, alone))[0] == 0
    with interrupted_after(monkeypatch, 5):
        assert command(*tiny(photos, run, "--log", "tensorboard"))[0] == 130
    assert board["lr"] == [(1, metrics(run)[0]["lr"])]
    assert command("--resume", run)[0] == 0
    assert board.pop("folder") == str(run / "tensorboard")
    assert board.keys() == {"lr", "grad_norm", "loss/train", "loss/test", "accuracy/test"}
    for tag, name in (("lr", "lr"), ("loss/test", "test_loss"), ("accuracy/test", "test_accuracy")):
        assert board[tag] == [(record["epoch"], record[name]) for record in metrics(run)]
    assert_same_run(run, alone)


def test_what_cannot_be_logged_does_not_stop_a_run(command, photos, tmp_path, board, monkeypatch):
    def full(*args, **more):
        raise OSError("No space left on device")

    monkeypatch.setattr(sys.modules["tensorboardX"], "SummaryWriter", full)
    status, out, _ = command(*tiny(photos, tmp_path / "run", "--log", "tensorboard"))
    assert status == 0
    assert out.count("tensorboard was not written, but training continues: No space") == 1


def test_without_the_package_it_says_what_to_install_and_leaves_nothing(
    command, photos, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    result = command(*tiny(photos, tmp_path / "run", "--log", "tensorboard"))
    assert_one_line(result, "tensorboardX", "pip install tensorboardX", "omit --log")
    assert not (tmp_path / "run").exists()


def test_the_real_package_writes_a_file_that_holds_the_figures(command, photos, tmp_path):
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    assert command(*tiny(photos, tmp_path / "run", "--log", "tensorboard"))[0] == 0
    (path,) = (tmp_path / "run/tensorboard").iterdir()
    content = path.read_bytes()
    assert content.count(b"accuracy/test") == content.count(b"loss/train") == 3
