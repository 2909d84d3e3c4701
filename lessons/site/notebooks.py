"""The lessons as Jupyter notebooks: OUT/NN_topic/NN_topic.ipynb, in cells of text and of code.

An answer is saved as OUT/NN_topic/exercise.py, so nothing that is written in the repository is touched, and
the checks are those of the terminal, which find that file.
"""

from __future__ import annotations

import json
import os
import re
from itertools import pairwise
from pathlib import Path

from markdown_it.token import Token

from lessons.site.pages import LESSONS, ROOT, Site, place_of_bench
from lessons.start import VARIABLE, file_of
from tinyvit.support.errors import UserError

FIRST = "**Run this cell first**, each time you open the notebook: it finds the course. {}"
NO_COLAB = "Colab cannot find it: the course has no public address yet."
BADGE = (
    "[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]"
    "(https://colab.research.google.com/{}/blob/main/{}.ipynb)"
)
SET_UP = """\
import os, sys
from pathlib import Path

{colab}COURSE = Path("{course}").resolve()
if not (COURSE / "lessons").is_dir():
    raise FileNotFoundError(f"The course is not in {{COURSE}}: move this folder back, or write it anew.")
sys.path.insert(0, str(COURSE))
os.environ["{variable}"] = str(Path.cwd().parent)  # where your answers are"""
COLAB = """\
if "google.colab" in sys.modules:
    !git clone -q --depth 1 {address} /content/course
    os.makedirs("/content/course/{folder}", exist_ok=True)
    os.chdir("/content/course/{folder}")
"""
EXERCISE = """\
**Write here.** Running the cell saves it as `exercise.py` beside the notebook, where the listings and the
checks find your functions. The cell below it runs the checks."""
PYTHON = {"display_name": "Python 3", "language": "python", "name": "python3"}


def course(out: Path) -> dict[str, bytes]:
    """All notebooks and the pictures beside them, by their paths in the folder OUT."""
    site, address, files = Site(), repository(), {}
    for page in sorted(LESSONS.glob("[0-9]*/README.md")):
        name, text = page.parent.name, page.read_text("utf-8")
        cells = divide(text, site.markdown.parse(text), page.parent)
        for cell in cells:
            if cell["cell_type"] == "markdown":
                for picture in re.findall(r"\]\((figures/.*?)\)", cell["source"]) if not address else ():
                    files[f"{name}/{picture}"] = (page.parent / picture).read_bytes()
                cell["source"] = linked(cell["source"], page, out / name, address)
        cells[1:1] = first_cells(out / name, address)
        cells = [{"id": f"{i:03}", **cell} for i, cell in enumerate(cells)]
        book = {"cells": cells, "metadata": {"kernelspec": PYTHON}, "nbformat": 4, "nbformat_minor": 5}
        files[f"{name}/{name}.ipynb"] = f"{json.dumps(book, indent=1, ensure_ascii=False)}\n".encode()
    return files


def repository() -> str:
    """The public address of the repository, if pyproject.toml names one."""
    named = re.search(r'^Repository = "(.+?)/?"', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    return named[1] if named else ""


def divide(text: str, tokens: list[Token], lesson: Path) -> list[dict]:
    """The cells of a lesson: of each section, of each listing that is in no fold, and of the exercise."""
    lines, cells, begin, depth = text.splitlines(keepends=True), [], 0, 0
    end = Token("heading_open", "h2", 0, map=[len(lines)] * 2)
    bench = place_of_bench(tokens)
    for i, (token, after) in enumerate(pairwise([*tokens, end, end])):
        depth += token.content.count("<details") - token.content.count("</details")
        is_listing = token.info == "python" and depth == 0
        if not is_listing and (token.type, token.tag) != ("heading_open", "h2"):
            continue
        if prose := "".join(lines[begin : token.map[0]]).strip():
            cells.append(markdown(prose))
        begin = token.map[0]
        if i == bench:
            cells += (
                markdown(EXERCISE),
                code(f"%%writefile exercise.py\n{file_of(lesson).read_text('utf-8-sig')}"),
            )
            cells.append(code(f'!cd "{{COURSE}}" && "{{sys.executable}}" -m pytest lessons/{lesson.name}'))
        if is_listing:
            printed = after.content if after.info == "text" else ""
            cells.append(code(token.content, printed))
            begin = (after if printed else token).map[1]
    return cells


def first_cells(folder: Path, address: str) -> list[dict]:
    """The cells that make the course importable, from a notebook in this folder."""
    course = Path(os.path.relpath(ROOT, folder)).as_posix()
    place = folder.relative_to(ROOT).as_posix() if folder.is_relative_to(ROOT) else f"build/{folder.name}"
    hub = address.removeprefix("https://").replace(".com", "")  # as Colab names GitHub
    colab = COLAB.format(address=address, folder=place) if address else ""
    first = FIRST.format(BADGE.format(hub, f"{place}/{folder.name}") if address else NO_COLAB)
    return [markdown(first), code(SET_UP.format(colab=colab, course=course, variable=VARIABLE))]


def linked(text: str, page: Path, folder: Path, address: str) -> str:
    """The text with links to the address of the repository or, without one, from this folder to its files."""

    def follow(link: re.Match) -> str:
        target, *anchor = link[1].split("#")
        source = Path(os.path.normpath(page.parent / target))
        if not target or re.match(r"\w+:", target):
            return link[0]
        if not source.exists():
            raise UserError(f"{page.relative_to(ROOT)} links to {target}, which is not there.")
        if address:
            kind = "raw" if source.suffix == ".png" else "blob"
            target = f"{address}/{kind}/main/{source.relative_to(ROOT).as_posix()}"
        elif source.name == "README.md" and re.match(r"\d\d_", source.parent.name):
            target = f"../{source.parent.name}/{source.parent.name}.ipynb"
        elif source.suffix != ".png":
            target = Path(os.path.relpath(source, folder)).as_posix()
        return f"]({'#'.join([target, *anchor])})"

    return re.sub(r"\]\(([^)\s]+)\)", follow, text)


def markdown(text: str) -> dict:
    """A cell of text."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def code(text: str, printed: str = "") -> dict:
    """A cell of code, with what it prints."""
    outputs = [{"output_type": "stream", "name": "stdout", "text": printed}] if printed else []
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": outputs}
    return {**cell, "source": text.rstrip("\n")}
