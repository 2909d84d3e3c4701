"""The marks of the course's checks, which some tests import without lessons/conftest.py."""


def pytest_configure(config):
    for mark in ("hint", "puzzle"):
        config.addinivalue_line("markers", f"{mark}: see lessons/conftest.py")
