"""`python -m lessons.start FOLDER`: copy the exercises to a folder of your own, for all commands to check.

The folder lies beside the repository, so a `git pull` never collides with an answer, and no solution lies
next to it. Files that are there already stay as they are: run the command again for new lessons.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
from pathlib import Path
from types import ModuleType

from tinyvit.support.errors import UserError
from tinyvit.support.shell.command import make_parser, run_command, some_path

LESSONS = Path(__file__).parent
CHOICE = "my_folder.txt"  # beside the lessons: the path of the learner's folder
VARIABLE = "TINYVIT_ANSWERS"  # of the environment: in a notebook, the folder of all notebooks


def file_of(lesson: Path, name: str = "exercise") -> Path:
    """The file exercise or solution of a lesson; the exercise is the learner's own, if it was copied."""
    choice, notebooks = lesson.parent / CHOICE, os.environ.get(VARIABLE)
    if name == "exercise" and notebooks and (own := Path(notebooks, lesson.name, "exercise.py")).exists():
        return own
    if name == "exercise" and choice.exists():
        folder = Path(choice.read_text("utf-8").strip())
        if not folder.is_dir():
            raise UserError(
                f"{choice} names {folder}, which is not there. If it was moved, run "
                f"`python -m lessons.start FOLDER` again. To go back to the files in lessons/, delete "
                f"lessons/{CHOICE}."
            )
        if (own := folder / lesson.name / "exercise.py").exists():
            return own
        if own.parent.is_dir():
            raise UserError(
                f"there is no {own}. If you have renamed it, give it that name again; if you have deleted "
                f"it, `python -m lessons.start {folder}` copies it again."
            )
    return lesson / f"{name}.py"


def load(path: Path) -> ModuleType:
    """The module in a file, as it is now: bytecode is told from that of a second ago by its size alone."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses looks for it
    try:
        code = compile(path.read_bytes(), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:  # the latter, or one without a name, for null bytes
        unreadable = error if isinstance(error, SyntaxError) else SyntaxError(str(error))
        unreadable.filename = unreadable.filename or str(path)
        raise unreadable from None
    exec(code, vars(module))
    return module


def start(folder: Path, lessons: Path = LESSONS) -> tuple[int, int]:
    """Copy each exercise that the folder lacks, and remember the folder: how many were copied, were there."""
    if folder.is_file():
        raise UserError(f"{folder} is a file. Choose a folder, such as ../my-vit.")
    if folder.is_relative_to(lessons):
        raise UserError(f"{folder} lies in {lessons}. Choose a folder outside it, such as ../my-vit.")
    copied = there = 0
    for exercise in sorted(lessons.glob("[0-9]*/exercise.py")):
        own = folder / exercise.parent.name / exercise.name
        if own.exists():
            there += 1
            continue
        own.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(exercise, own)
        copied += 1
    (lessons / CHOICE).write_text(f"{folder}\n", encoding="utf-8")
    return copied, there


def main(arguments: argparse.Namespace) -> None:
    """Copy the exercises, and say where they are and how they are checked."""
    folder = arguments.folder.expanduser().resolve()
    copied, there = start(folder)
    before = f", beside {there} that were there" if there else ""
    print(f"{copied} exercises copied to {folder}{before}.")
    print(f"Edit {folder / '00_pixels' / 'exercise.py'}, then check it here: pytest lessons/00_pixels")
    print(f"To go back to the files in lessons/, delete lessons/{CHOICE}.")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = make_parser(
        "start", "Copy the exercises to a folder of your own, which all commands then check."
    )
    result.prog = "lessons.start"
    result.add_argument(
        "folder", type=some_path, metavar="FOLDER", help="where to put them, such as ../my-vit"
    )
    return result


if __name__ == "__main__":
    run_command(parser(), main)
