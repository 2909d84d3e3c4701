"""The lessons, as the tests of tests/lessons see them."""

import re
from pathlib import Path

import pytest

from lessons.cuda_on_cpu import NoCompiler
from lessons.cuda_on_cpu.compiler import compiler

QUICKER = ("-p", "no:hypothesispytest")  # no check of a lesson uses it, and its import takes half a second
ROOT = Path(__file__).parents[2]
LESSONS = sorted(path.parent for path in (ROOT / "lessons").glob("[0-9]*/README.md"))
NAMES = [lesson.name for lesson in LESSONS]
CAPSTONE = "10_from_an_empty_file"  # its exercise is an empty file
GUIDED = [lesson for lesson in LESSONS if lesson.name != CAPSTONE]
# Answers of theirs are kernels, which the emulator compiles.
NEED_A_COMPILER = {"28_kernels", "29_flash_attention"}

every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
every_guided_lesson = pytest.mark.parametrize("lesson", GUIDED, ids=[lesson.name for lesson in GUIDED])


def can_run(lesson: str) -> bool:
    """True if this machine has what it takes to run the answers of a lesson."""
    try:
        return lesson not in NEED_A_COMPILER or bool(compiler())
    except NoCompiler:
        return False


def text_of(lesson: Path) -> str:
    """README.md of a lesson."""
    return (lesson / "README.md").read_text("utf-8")


def prose_of(lesson: Path) -> str:
    """README.md without blocks of code and formulas."""
    return re.sub(r"```.*?```|\$\$.*?\$\$", "", text_of(lesson), flags=re.DOTALL)


def listings_of(lesson: Path) -> list[tuple[str, str]]:
    """The python blocks of README.md, each with what it prints: a ```text block after it, maybe in a fold."""
    listing = r"^```python\n(.*?)^```\n(?:\n?(?:<details><summary>[^\n]*</summary>\n\n)?```text\n(.*?)^```)?"
    return re.findall(listing, text_of(lesson), re.M | re.S)


def sections_of(lesson: Path) -> dict[str, str]:
    """README.md by its headings of the second level."""
    pieces = re.split(r"^## (.*)$", text_of(lesson), flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))
