"""The README's Python is run as it stands, from an empty folder, as a stranger's notebook would."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.tiny_runs import enter
from tinyvit import train

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def notebook(tmp_path, monkeypatch, capsys):
    """A folder with a short run on the built-in data and two pictures, and images and labels to train on."""
    monkeypatch.chdir(tmp_path)
    status, _, err = enter(train, capsys, monkeypatch, "--steps", "2", "--batch-size", "4", "--device", "cpu")
    assert (status, err) == (0, "")
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (10, 32, 32, 3), dtype=np.uint8)
    for name, image in zip("ab", images, strict=False):
        Image.fromarray(image).save(f"{name}.png")
    return {"images": images, "labels": np.arange(10) % 2}


def test_every_python_block_runs_in_order(notebook):
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), notebook)
    assert notebook["features"].shape == (10, 64)
    assert notebook["classifier"].predict(notebook["images"]).shape == (10,)


def test_each_task_takes_four_lines_at_most():
    assert len(BLOCKS) >= 3
    for block in BLOCKS:
        assert len([line for line in block.splitlines() if line]) <= 4, block


def test_no_room_imports_one_below_it_in_the_table():
    table = README.read_text("utf-8").partition("\n| room |")[2].partition("\n\n")[0]
    names = [re.findall(r"`(\w+)(?:/|\.py)`", row.split(" | ")[0]) for row in table.splitlines()]
    row_of = {name: i for i, row in enumerate(names) for name in row}
    package = README.parent / "tinyvit"
    rooms = {path.parent.name for path in package.glob("*/__init__.py")}
    assert rooms <= row_of.keys(), "a room is missing"
    commands = {path.stem for path in package.glob("*.py")} - row_of.keys()
    for path in package.rglob("*.py"):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        text = path.read_text("utf-8")
        imported = re.findall(r"^\s*from tinyvit(?:\.| import )(\w+)", text, flags=re.MULTILINE)
        if room in row_of:
            below = [name for name in imported if name in commands or row_of.get(name, 0) > row_of[room]]
            assert not below, f"{path.relative_to(package)} imports {', '.join(below)}"
