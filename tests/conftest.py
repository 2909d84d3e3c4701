"""What all tests share: the GPU, if there is one, commands and small runs, one setting of hypothesis."""

import sys

import pytest
from hypothesis import settings

from tests.stand_in import StandIn
from tests.tiny_runs import enter, make_photos, spawn, tiny
from tinyvit.backend import select_device

settings.register_profile("tinyvit", deadline=None)  # a busy machine is slow, not wrong
settings.load_profile("tinyvit")


@pytest.fixture
def stand_in(monkeypatch):
    """A stand-in for a GPU, as a Device: see stand_in.py."""
    monkeypatch.setitem(sys.modules, "cupy", StandIn())
    return select_device("gpu")


@pytest.fixture(params=["stand-in", pytest.param("real", marks=pytest.mark.gpu)])
def gpu(request):
    """A GPU as a Device: the stand-in, and the real one, skipped with the reason where there is none."""
    if request.param == "stand-in":
        return request.getfixturevalue("stand_in")
    device = select_device("gpu")
    if not device.is_gpu:
        pytest.skip(device.note)
    return device


@pytest.fixture
def go(capsys, monkeypatch):
    """go(COMMAND, flags ...) as a user would: exit status, stdout, stderr."""
    return lambda command, *argv: enter(command, capsys, monkeypatch, *argv)


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """A folder data set; copy it to change it."""
    return make_photos(tmp_path_factory.mktemp("photos"))


@pytest.fixture(scope="session")
def trained(photos, tmp_path_factory):
    """A run with a validation split that has learned its two colours, started in a process of its own."""
    run = tmp_path_factory.mktemp("runs") / "trained"
    flags = ("--epochs", "8", "--lr", "0.003", "--validation", "8")
    process = spawn("train", *tiny(photos, run, *flags))
    out, err = process.communicate(timeout=100)
    assert (process.returncode, err) == (0, ""), err
    assert out.count("\nepoch ") == 8
    return run
