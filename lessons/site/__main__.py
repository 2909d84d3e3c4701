"""`python -m lessons.site OUT`: write the course as pages to read in a browser, without a network."""

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
    from lessons.site.pages import course  # here, as only this needs the packages

    out = Path(os.path.realpath(arguments.out))
    check_replaceable(out)
    files = course(arguments.pyodide)
    write(out, files)
    size = sum(map(len, files.values())) / 1e6
    print(f"wrote {arguments.out}: {len(files)} files, {size:.1f} MB; open {arguments.out / 'index.html'}")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = make_parser(
        "site",
        "Write the course as pages to read in a browser, without a network.",
        "The pages show how far you are, as the last `pytest lessons` found it. If OUT is there already, it "
        "is replaced if this command wrote it and nothing else is in it; anything else is left as it is.",
    )
    result.prog = "lessons.site"
    result.add_argument(
        "--pyodide",
        type=some_path,
        metavar="FOLDER",
        help="put Python into the site, from a folder of Pyodide's files: its pages then need no other host",
    )
    result.add_argument("out", type=some_path, metavar="OUT", help="the folder, such as build/course")
    return result


if __name__ == "__main__":
    run_command(parser(), main)
