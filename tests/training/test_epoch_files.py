"""Curves are not drawn so often that it costs a run much time, and the time that it costs is the run's."""

import json
import time

from tests.tiny_runs import tiny

DRAWING = 0.3  # seconds


def test_curves_are_drawn_first_and_last_but_not_after_every_short_epoch(
    command, photos, tmp_path, monkeypatch
):
    drawn = []
    monkeypatch.setattr("tinyvit.training.epoch_files.draw_curves", lambda *args: slowly(drawn, args[0]))
    assert command(*tiny(photos, tmp_path / "run", "--epochs", "6"))[0] == 0
    assert drawn == [1, 6]


def test_saving_and_drawing_count_as_time_of_the_run(command, photos, tmp_path, monkeypatch):
    monkeypatch.setattr("tinyvit.training.epoch_files.draw_curves", lambda *args: slowly([], args[0]))
    assert command(*tiny(photos, tmp_path / "run"))[0] == 0
    first, second = (
        json.loads(line)["seconds"] for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()[:2]
    )
    assert second - first > DRAWING  # what came after the first epoch was evaluated


def slowly(drawn, records):
    drawn.append(len(records))
    time.sleep(DRAWING)
