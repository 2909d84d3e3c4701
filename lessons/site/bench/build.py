"""The files of the bench: its scripts, the course for Python in a page, and that Python if it is vendored."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import zipfile
from html import escape
from importlib.metadata import distribution
from pathlib import Path
from string import Template
from urllib.parse import urlsplit

from tinyvit.support.errors import UserError

HERE = Path(__file__).parent
LESSONS, ROOT = HERE.parents[1:3]
PARTS = json.loads((HERE / "parts.json").read_text("utf-8"))  # of Pyodide: where from, names, hashes
SHIPPED = (".css", ".js", ".wasm")
PYTEST = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")  # pytest as it is installed here
LEFT_OUT = re.compile(
    r"/(cuda|__pycache__)/|/figures/.*\.py|/mine/reached\.json"
    r"|^lessons/site/(?!__init__|bench/(__init__|in_page)\.py)"
    r"|^pygments/(lexers|styles)/(?!__init__|_mapping|python|diff|default)"
)

# Where a page differs from a terminal, beyond what is said on every bench.
DIFFERENCES = {
    **dict.fromkeys(
        ("26_fast_cpu", "30_many_devices"),
        " A page has no threads: the checks that start some are left out here, and listings that do fail.",
    ),
    **dict.fromkeys(
        ("28_kernels", "29_flash_attention"),
        " A page has no compiler: the checks that need one are left out here, and listings that do fail.",
    ),
}


def files(pyodide: Path | None = None) -> dict[str, bytes]:
    """The files, by their paths in the site; given a folder of Pyodide's, the site needs no other host."""
    named = {f"bench/{path.name}": path.read_bytes() for path in HERE.iterdir() if path.suffix in SHIPPED}
    parts = PARTS | ({"from": "pyodide/"} if pyodide else {})
    named |= {"bench/course.zip": course(), "bench/parts.json": json.dumps(parts).encode()}
    for name in parts["files"] if pyodide else ():
        named[f"bench/pyodide/{name}"] = part(pyodide / name)
    return named


def part(path: Path) -> bytes:
    """A file of Pyodide, if it is the one that the bench was tested with."""
    name = f"pyodide-{PARTS['version']}.tar.bz2"
    archive = f"https://github.com/pyodide/pyodide/releases/download/{PARTS['version']}/{name}"
    if not path.is_file():
        raise UserError(f"there is no {path.name} in {path.parent}. Unpack {archive} and name its folder.")
    content = path.read_bytes()
    if integrity(content) != PARTS["files"][path.name]:
        raise UserError(f"{path} is not the file of Pyodide {PARTS['version']}, which is in {archive}.")
    return content


def integrity(content: bytes) -> str:
    """The hash of a file as browsers compare it."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}"


def course() -> bytes:
    """tinyvit, the lessons and pytest as a page's Python unpacks them, without what it does not read."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        sources = (path for folder in ("tinyvit", "lessons") for path in sorted((ROOT / folder).rglob("*.*")))
        for path in [ROOT / "pyproject.toml", *sources]:
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in (".py", ".json", ".txt", ".toml") and not LEFT_OUT.search(name):
                _add(archive, name, path)
        for package in PYTEST:
            for file in distribution(package).files or ():
                if file.suffix == ".py" and ".." not in file.parts and not LEFT_OUT.search(file.as_posix()):
                    _add(archive, file.as_posix(), Path(str(file.locate())))
    return packed.getvalue()


def _add(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    """Add a file without its date, so that the same course is the same archive."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, path.read_bytes())


def bench(lesson: str, is_local: bool) -> str:
    """The bench of a lesson; for "mine", that of the ladder. bench.js brings it to life."""
    template = lambda name: Template((HERE / name).read_text("utf-8"))
    if lesson == "mine":
        body = template("ladder.html").template
    else:
        text = (LESSONS / lesson / "exercise.py").read_text("utf-8")
        body = template("editor.html").substitute(text=escape(text, quote=False))
    return template("bench.html").substitute(
        lesson=lesson,
        verb="Train" if lesson == "mine" else "Write",
        place="this site" if is_local else urlsplit(PARTS["from"]).netloc,
        difference=DIFFERENCES.get(lesson, ""),
        body=body,
    )
