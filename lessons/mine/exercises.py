"""The operations that are yours: the lessons' checks, run on your files in a process of their own."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lessons.faults import PARTS
from lessons.mine.answers import LESSONS, file_of, is_written
from lessons.mine.operations import OPERATION_OF, OPERATIONS, Operation
from lessons.referee.statics import reached
from tinyvit.support.errors import UserError

SECONDS = 30  # for one check, some of which train a small model
YOURS, LIBRARY, WRONG = "yours", "tinyvit's", "not right yet"


@dataclass
class State:
    """The state of an operation: YOURS, LIBRARY (it is not written) or WRONG, and the reason."""

    operation: Operation
    state: str = LIBRARY
    reason: str = ""


@dataclass
class Answers:
    """The state of every operation, and the files of the learner that hold those that are YOURS."""

    states: list[State]
    files: dict[int, Path] = field(default_factory=dict)

    def named(self, state: str) -> list[Operation]:
        """The operations in this state."""
        return [each.operation for each in self.states if each.state == state]


def examine(
    lessons: Path = LESSONS, file: str = "exercise", report: Callable[[str], None] = lambda lesson: None
) -> Answers:
    """Run the checks of every lesson in which something is written, and judge every operation by them.

    file is what the checks run on, without .py: exercise, or solution. report is told which lesson is next.
    """
    folders = {int(path.name[:2]): path for path in sorted(lessons.glob("[0-9][0-9]_*"))}
    answers = Answers([State(operation) for operation in OPERATIONS])
    unreadable, to_check = {}, []
    for number in sorted({operation.lesson for operation in OPERATIONS}):
        path = file_of(folders[number], file)
        answers.files[number] = path
        try:
            if any(_is_written(path, o) for o in OPERATIONS if o.lesson == number):
                to_check.append(folders[number])
        except (OSError, SyntaxError, ValueError) as error:
            unreadable[number] = _told(error)
    results = checked(to_check, file, report)
    for each in answers.states:
        number = each.operation.lesson
        if number in unreadable:
            each.state, each.reason = (
                WRONG,
                f"{path_of(answers, number)} cannot be read: {unreadable[number]}",
            )
        elif _is_written(answers.files[number], each.operation):
            each.state, each.reason = _judged(each.operation, results.get(folders[number].name, []))
    return answers


def results_of(lesson: Path, file: str) -> list[dict]:
    """The result of every check of a lesson, run on a file: exercise, solution or the name of a mutant."""
    return checked([lesson], file).get(lesson.name, [])


def path_of(answers: Answers, number: int) -> str:
    """A learner's file, as it is called from the repository's root, or in full where it lies outside."""
    path, root = answers.files[number], LESSONS.parent
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _is_written(path: Path, operation: Operation) -> bool:
    """True if all functions of an operation stand in a file; a solution's may be imported from tinyvit."""
    return path.stem == "solution" or all(is_written(path.parent, name) for name in operation.functions)


def _judged(operation: Operation, results: list[dict]) -> tuple[str, str]:
    """The state of an operation by the results of its lesson's checks, and the first reason against it.

    A check counts if it uses the operation's functions and none that belongs to no operation: whether the
    puzzle is solved, or LayerNorm is derived a second time along the graph, does not matter here. A check
    that has come to use no function at all has failed at the import.
    """
    passed = 0
    for result in results:
        missing = re.match(r"the file has no (\w+), which", result["message"])  # it was deleted
        used = {*result["functions"], *(missing.groups() if missing else ())}
        if (used and not used & set(operation.functions)) or used - OPERATION_OF.keys():
            continue
        if result["state"] == "wrong":
            message = (result["message"] or "wrong").strip().split("\n")[0]
            error = "" if result["error"] in (None, "AssertionError") else f"{result['error']}: "
            return WRONG, f"{result['check']}: {error}{message}"
        passed += result["state"] == "done"
    return (YOURS, "") if passed else (WRONG, "none of its checks has run")


def checked(
    folders: list[Path], file: str, report: Callable[[str], None] = lambda lesson: None
) -> dict[str, list[dict]]:
    """The results of the checks, by lesson. Where one never ends, the lesson is left out of the next run."""
    results: dict[str, list[dict]] = {}
    while folders:
        started, any_entry = None, False
        for entry in _entries_of_a_run(folders, file):
            any_entry = True
            if "started" in entry:
                started = entry["started"]
                report(_lesson_of(started))
            else:
                started = None
                results.setdefault(entry["lesson"], []).append(entry)
        if not any_entry:
            raise UserError(f"the checks could not be run: pytest lessons/{folders[0].name} may tell why.")
        if started is None:
            return results
        lesson, check = _lesson_of(started), started.split("::")[-1].split("[")[0]
        message = f"{check} does not come back within {SECONDS} seconds, or ends Python"
        (folder,) = (each for each in folders if each.name == lesson)
        results.setdefault(lesson, []).append(
            {
                **dict.fromkeys(("known", "hints", "asks"), ()),
                "functions": _used_by(check, folder),
                **dict.fromkeys(("where", "function", "kind"), ""),
                **dict.fromkeys(("message", "text"), message),
                "lesson": lesson,
                "part": PARTS[0],
                "check": check,
                "state": "wrong",
                "error": None,
            }
        )
        done = {*results}
        folders = [folder for folder in folders if folder.name not in done]
    return results


def _used_by(check: str, lesson: Path) -> list[str]:
    """The functions that a check, or a helper that it calls, takes from an answer."""
    body = ast.parse((lesson / "test_lesson.py").read_bytes()).body
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    nodes = [node for name in reached(functions, [check]) for node in ast.walk(functions[name])]
    taken = [node for node in nodes if isinstance(node, ast.Attribute)]
    return [*dict.fromkeys(node.attr for node in taken if getattr(node.value, "id", "") == "impl")]


def _entries_of_a_run(folders: list[Path], file: str):
    """The entries that the plugin writes, one by one, while pytest runs the checks of these folders."""
    root = Path(__file__).parents[2]
    with tempfile.TemporaryDirectory() as temporary:
        log = Path(temporary, "watched.jsonl")
        log.touch()
        command = [sys.executable, "-m", "pytest", "-p", "lessons.mine.watch", "-p", "no:cacheprovider"]
        command += ["-p", "no:hypothesispytest"]  # no check uses it, and its import takes half a second
        command += ["-c", str(root / "pyproject.toml"), f"--rootdir={folders[0].parents[1]}", "--impl", file]
        paths = os.pathsep.join([str(folders[0].parents[1]), str(root), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {
            "LESSON_WATCH": str(log),
            "LESSON_SECONDS": str(SECONDS),
            "PYTHONPATH": paths,
        }
        process = subprocess.Popen(
            [*command, *map(str, folders)],
            cwd=folders[0].parents[1],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            with log.open(encoding="utf-8") as lines:
                ended, pending = False, ""
                while not ended:
                    ended = _has_ended(process)
                    for line in lines:
                        pending += line
                        if pending.endswith("\n"):
                            yield json.loads(pending)
                            pending = ""
        finally:
            process.kill()
            process.wait()


def _has_ended(process: subprocess.Popen) -> bool:
    """True if a process has ended, after waiting for that a little."""
    try:
        process.wait(0.1)
    except subprocess.TimeoutExpired:
        return False
    return True


def _lesson_of(nodeid: str) -> str:
    return Path(nodeid.split("::")[0]).parent.name


def _told(error: Exception) -> str:
    where = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
    return f"{where}{type(error).__name__}: {getattr(error, 'msg', None) or error}"
