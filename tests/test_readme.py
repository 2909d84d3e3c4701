"""The README's Python and its commands are run as they stand, in a fresh copy of the repository."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tinyvit.gradcheck.models import MODEL_CHECKS
from tinyvit.gradcheck.operations import OPERATION_CHECKS

README = Path(__file__).parents[1] / "README.md"


@pytest.fixture
def clone(tmp_path):
    """The files that git knows, as they are now, in an empty folder."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=README.parent, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("git does not know which files belong to the repository")
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (README.parent / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(README.parent / name, tmp_path / name)
    return tmp_path


def unignored(names):
    """Those of the names of new files that git would offer to add to the repository."""
    words = ["git", "check-ignore", "--no-index", "--stdin", "-z"]
    answer = subprocess.run(words, cwd=README.parent, input="\0".join(names), capture_output=True, text=True)
    return sorted({*names} - {*answer.stdout.split("\0")})


def test_every_block_and_command_runs_in_order_and_leaves_nothing_that_git_would_add(clone):
    before = {path for path in clone.rglob("*") if path.is_file()}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [sys.executable, "-m", "tests.readme"]
    process = subprocess.run(words, cwd=clone, env=environment, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr
    done = [json.loads(line) for line in process.stdout.splitlines()]
    assert [each for each in done if each.get("status")] == []
    assert {"python -m tinyvit.train", "python -m tinyvit.train --dataset cifar10 --device gpu"} <= {
        each["run"] for each in done if "status" in each
    }
    assert (clone / "runs" / "shapes-1" / "samples" / "star.png").is_file()
    made = {path for path in clone.rglob("*") if path.is_file()} - before
    assert unignored([path.relative_to(clone).as_posix() for path in made]) == []


def test_as_many_gradients_are_checked_as_it_says():
    said = f"{len(OPERATION_CHECKS)} checks of operations and {len(MODEL_CHECKS)} of whole models"
    assert said in README.read_text("utf-8")
    measured = f"{len(OPERATION_CHECKS)} operations, {len(MODEL_CHECKS)} models"
    assert measured in (README.parent / "MEASUREMENTS.md").read_text("utf-8")
