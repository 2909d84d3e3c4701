"""The setup that the tests of data sets share."""

import pytest

from tinyvit.data import load_dataset


@pytest.fixture(scope="session")
def shapes():
    """The data set of shapes, which takes three seconds to draw."""
    return load_dataset("shapes")
