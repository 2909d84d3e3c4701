"""A recipe of the tests' own in place of cpu-8-minutes's file: a run of seconds, measured or not."""

import json
import shutil

import pytest

from tinyvit.training import recipes
from tinyvit.training.recipes import time_here

RUN = {"dataset": "folder", "copy": "drawn", "accuracy": 0.75, "seed": 0, "passes": 3, "minutes": 2.0}
RUN |= {"processor": "a processor, 2 cores", "images_per_second": 100.0, "date": "2026-11-22"}
GIVEN = {"dataset": "folder", "image_size": 8, "model": "nano/4", "epochs": 3, "warmup_epochs": 0.5}
GIVEN |= {"batch_size": 8, "crop_padding": 1}


@pytest.fixture(autouse=True)
def rates(monkeypatch):
    """A stand-in for this machine's speed, 1,000 images a second; the arguments of each measurement of it."""
    measured = []
    monkeypatch.setattr(time_here, "training_rate", lambda *args: measured.append(args) or 1000.0)
    return measured


@pytest.fixture
def rewrite(tmp_path, monkeypatch):
    """rewrite(run, ...) puts such runs, as changes of RUN, into the file of cpu-8-minutes."""
    folder = tmp_path / "recipes"
    folder.mkdir()
    for name in recipes.RECIPES:
        shutil.copy(recipes.FOLDER / f"{name}.json", folder)
    monkeypatch.setattr(recipes, "FOLDER", folder)

    def rewrite(*runs, **given):
        record = {"about": "For tests. They take seconds.", "settings": GIVEN | given}
        record["reached"] = [RUN | run for run in runs]
        (folder / "cpu-8-minutes.json").write_text(json.dumps(record))

    return rewrite
