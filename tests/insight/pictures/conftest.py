"""The setup that the tests of pictures share."""

import pytest

from tests.insight.pictures.drawn import Drawn


@pytest.fixture
def drawn(monkeypatch):
    """The record of what is drawn from here on."""
    return Drawn(monkeypatch)
