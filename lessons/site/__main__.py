"""`python -m lessons.site OUT`: write the course as pages to read in a browser, or as Jupyter notebooks."""

from __future__ import annotations

import argparse
import importlib.util
import os
from pathlib import Path

from lessons.site.folder import check_replaceable, write
from tinyvit.support.errors import UserError
from tinyvit.support.shell.command import make_parser, run_command, some_path

PACKAGES = {"markdown_it": "markdown-it-py", "mdit_py_plugins": "mdit-py-plugins"}
PACKAGES |= {name: name for name in ("pygments", "latex2mathml", "pytest")}


def main(arguments: argparse.Namespace) -> None:
    """Write the course, and say where."""
    missing = [name for module, name in PACKAGES.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise UserError(f"writing pages needs {', '.join(missing)}: run pip install {' '.join(missing)}.")
    from lessons.site import notebooks, pages  # here, as only these need the packages

    out = Path(os.path.realpath(arguments.out))
    if arguments.notebooks and out.is_dir() and any(out.iterdir()):
        raise UserError(
            f"{out} is not empty, and may hold your answers. Choose another name, or move it away."
        )
    check_replaceable(out)
    files = notebooks.course(out) if arguments.notebooks else pages.course(arguments.pyodide)
    write(out, files)
    size = sum(map(len, files.values())) / 1e6
    first = "00_pixels/00_pixels.ipynb" if arguments.notebooks else "index.html"
    print(f"wrote {arguments.out}: {len(files)} files, {size:.1f} MB; open {arguments.out / first}")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = make_parser(
        "site",
        "Write the course as pages to read in a browser, without a network, or as Jupyter notebooks.",
        "The pages show how far you are, as the last `pytest lessons` found it. If OUT is there already, it "
        "is replaced if this command wrote it and nothing else is in it; anything else is left as it is. "
        "Notebooks, in which answers are written, need a new or empty folder.",
    )
    result.prog = "lessons.site"
    either = result.add_mutually_exclusive_group()
    either.add_argument(
        "--notebooks", action="store_true", help="write a Jupyter notebook for each lesson, and no pages"
    )
    either.add_argument(
        "--pyodide",
        type=some_path,
        metavar="FOLDER",
        help="put Python into the site, from a folder of Pyodide's files: its pages then need no other host",
    )
    result.add_argument("out", type=some_path, metavar="OUT", help="the folder, such as build/course")
    return result


if __name__ == "__main__":
    run_command(parser(), main)
