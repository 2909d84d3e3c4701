"""Runs to interrupt, resume and extend."""

import shutil
import signal
from functools import partial

import pytest
from PIL import Image

from tinyvit import train
from tinyvit.insight.pictures import of_runs


@pytest.fixture(autouse=True)
def a_terminal():
    """Signals as in a terminal, even if these tests run under nohup."""
    if not hasattr(signal, "SIGHUP"):
        yield
        return
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture(autouse=True)
def blank_curves():
    """Curves are not drawn, which takes a third of a small run: other tests of commands and pictures do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_runs, "draw_curves", lambda records, path, *_: Image.new("L", (1, 1)).save(path))
        yield


@pytest.fixture
def command(go):
    """command(flags ...) runs tinyvit.train: exit status, stdout, stderr."""
    return partial(go, train)


@pytest.fixture
def alone(left_alone, tmp_path):
    """A run of 3 epochs that was left alone."""
    return shutil.copytree(left_alone, tmp_path / "alone")
