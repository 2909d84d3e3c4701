"""What the tests of pictures share."""

import pytest

from tests.insight.pictures.drawn import Drawn


@pytest.fixture
def drawn(monkeypatch):
    """What is drawn from here on."""
    return Drawn(monkeypatch)
