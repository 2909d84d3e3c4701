"""Helpers of the tests of claiming folders: a run, its flags, and what it left behind."""

from pathlib import Path

from tests.tiny_runs import tiny
from tinyvit.model import preset
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings


def create(run: RunFolder) -> None:
    """Write the settings of a tiny run."""
    run.create(Settings(dataset="shapes", model="nano/4"), preset("nano/4", 8, 3), ["a", "b", "c"], 7)


def without_out(photos: Path) -> list[str]:
    """The flags of a tiny run that takes a numbered folder."""
    flags = tiny(photos, "unused")
    assert flags[-2] == "--out"
    return flags[:-2]


def everything_below(folder: Path) -> list[str]:
    """The relative paths of all files and folders."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
