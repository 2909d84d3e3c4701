"""Runs to interrupt, resume and extend."""

from functools import partial

import pytest

from tests.tiny_runs import tiny
from tinyvit import train


@pytest.fixture
def command(go):
    """command(flags ...) runs tinyvit.train: exit status, stdout, stderr."""
    return partial(go, train)


@pytest.fixture
def alone(command, photos, tmp_path):
    """A run of 3 epochs that was left alone."""
    assert command(*tiny(photos, tmp_path / "alone"))[0] == 0
    return tmp_path / "alone"
