"""The files that are written after each epoch: how often the curves are drawn, and the time that it takes."""

import json
import time
from types import SimpleNamespace

import pytest

from tests.tiny_runs import tiny
from tinyvit.insight.pictures import of_runs
from tinyvit.training import run_trainer
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.run_trainer import EpochFiles
from tinyvit.training.settings import Settings

DRAWING, EPOCHS = 0.5, 80  # seconds for the curves; epochs in a run


@pytest.fixture
def clock(monkeypatch):
    """A clock that only the test and the drawing of curves move, and a list of the epochs that were drawn."""
    clock = SimpleNamespace(now=0.0, drawn=[])

    def draw(records, *_):
        clock.now += DRAWING
        clock.drawn.append(len(records))

    monkeypatch.setattr(of_runs, "draw_curves", draw)
    monkeypatch.setattr(run_trainer, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def written(clock, folder, seconds):
    """The records that are on disk after a run whose epochs take so many seconds."""
    run = RunFolder(folder)
    folder.mkdir()
    files = EpochFiles(run, Settings(dataset="shapes", model="nano/4"), pytest.fail, of_runs.RunPictures())
    for epoch in range(1, EPOCHS + 1):
        clock.now += seconds
        files.write([{"epoch": e} for e in range(1, epoch + 1)], 1, epoch == EPOCHS)
        assert len((folder / "metrics.jsonl").read_text("utf-8").splitlines()) == epoch


def test_short_epochs_are_not_all_drawn_but_the_first_and_the_last_are(clock, tmp_path):
    written(clock, tmp_path / "run", seconds=1)
    assert clock.drawn[0] == 1 and clock.drawn[-1] == EPOCHS
    assert 0.03 * clock.now < DRAWING * len(clock.drawn) < 0.05 * clock.now + 2 * DRAWING


def test_every_long_epoch_is_drawn(clock, tmp_path):
    written(clock, tmp_path / "run", seconds=21 * DRAWING)
    assert clock.drawn == list(range(1, EPOCHS + 1))


def test_saving_and_drawing_count_as_time_of_the_run(command, photos, tmp_path, monkeypatch):
    monkeypatch.setattr(of_runs, "draw_curves", lambda *args: time.sleep(DRAWING))
    assert command(*tiny(photos, tmp_path / "run", "--epochs", "2"))[0] == 0
    lines = (tmp_path / "run/metrics.jsonl").read_text("utf-8").splitlines()
    first, second = (json.loads(line)["seconds"] for line in lines[:2])
    assert second - first > DRAWING  # after the first epoch was evaluated
