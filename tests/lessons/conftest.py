"""The checks of the whole course take minutes: they run beside the other tests."""

import json

import pytest

from tests.lessons.course import QUICKER

IMPLEMENTATIONS = ("mutants", "solution", "exercise")


def pytest_configure(config):
    for mark in ("hint", "puzzle"):  # some tests import the checks of a lesson, without its conftest.py
        config.addinivalue_line("markers", f"{mark}: see lessons/conftest.py")


def pytest_collection_finish(session):
    wanted = any(item.path.name == "test_checks_run.py" for item in session.items)
    if wanted and not session.config.option.collectonly:
        for impl in IMPLEMENTATIONS:
            command = ("-m", "pytest", "lessons", "-p", "no:cacheprovider", *QUICKER, "--impl", impl)
            # Nobody reads thousands of tracebacks, and they take most of the time.
            session.config.beside.start(impl, *command, "--tb=no", "--lesson-report")


@pytest.fixture(scope="session")
def course_runs(pytestconfig):
    """The run of the course on an implementation: the result of every check, what was printed, the status."""

    def run(impl):
        status, printed, report = pytestconfig.beside.result(impl)
        assert report, printed
        return json.loads(report), printed, status

    return run
