"""The tests in two processes: no result is lost, and it is no success if one of the two dies."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tinyvit.support.cores import available_cores

TESTS = """
import os, time, warnings, pytest
from multiprocessing import parent_process
from pathlib import Path

def test_passes():
    Path(f"{os.getpid()}.seen").touch()
    end = time.monotonic() + 60
    while len([*Path().glob("*.seen")]) < 2:
        assert time.monotonic() < end
        time.sleep(0.01)

def test_fails():
    print("it was printed")
    raise ValueError

def test_skips():
    pytest.skip("for a reason")

def test_warns():
    warnings.warn("a warning")

def test_dies():
    if parent_process():
        os._exit(3)
"""


@pytest.fixture
def run(tmp_path):
    """run(flags ...): status and output of pytest in a folder of four files with these tests."""
    if sys.platform != "linux" or available_cores() < 2:
        pytest.skip("there are two processes only on Linux, and on two cores")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = .\n")
    (tmp_path / "conftest.py").write_text("from tests.two_processes import pytest_runtestloop\n")
    for number in range(4):
        (tmp_path / f"test_{number}.py").write_text(TESTS)

    def run(*flags):
        path = {"PYTHONPATH": str(Path(__file__).parents[1])}
        words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *flags]
        done = subprocess.run(words, cwd=tmp_path, env=os.environ | path, capture_output=True, text=True)
        return done.returncode, done.stdout

    return run


def test_every_result_and_what_was_printed_is_told(run):
    status, out = run("-rs", "-k", "not dies")
    assert (status, "4 failed, 8 passed, 4 skipped, 4 deselected, 4 warnings" in out) == (1, True), out
    for told in (
        "\nit was printed\n",
        "\nE       ValueError\n",
        "UserWarning: a warning\n",
        ": for a reason\n",
    ):
        assert out.count(told) == 4, told


def test_a_process_that_dies_is_a_failure(run):
    status, out = run("-k", "passes or dies")
    assert (status, "the second process has ended with 3" in out) == (1, True), out
