"""`python -m lessons.hand_in`: pack the exercises for a teacher, with a table of what they are worth.

The .zip file has every exercise.py in which something is written, and progress.csv: a row for each function,
with the checks that it passes and where it comes from. A function that is imported from the library, or calls
the library's function of the same name, passes its checks, too: the table says so.
"""

from __future__ import annotations

import argparse
import ast
import csv
import io
import zipfile
from pathlib import Path

from lessons.mine.exercises import checked
from lessons.start import LESSONS, file_of
from tinyvit.support.errors import UserError
from tinyvit.support.shell.command import make_parser, run_command, some_path

COLUMNS = ("lesson", "function", "part", "checks", "passed", "source")
TO_DO, WRITTEN = "to do", "written"


def pack(out: Path, lessons: list[Path], results: dict[str, list[dict]]) -> list[tuple]:
    """Write the .zip file of the lessons that are begun, and return the rows of its table."""
    begun = [lesson for lesson in lessons if any(r["state"] != TO_DO for r in results.get(lesson.name, ()))]
    if not begun:
        raise UserError("nothing is written yet: no check of any lesson has run.")
    table = [row for lesson in begun for row in rows(lesson.name, file_of(lesson), results[lesson.name])]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *table])
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("progress.csv", text.getvalue())
        for lesson in begun:
            archive.write(file_of(lesson), f"{lesson.name}/exercise.py")
    return table


def rows(lesson: str, file: Path, results: list[dict]) -> list[tuple]:
    """A row of the table for each function that the checks of a lesson use."""
    names = list(dict.fromkeys(name for result in results for name in result["functions"]))
    sources = sources_of(file.read_bytes(), names)
    table = []
    for name in names:
        used = [result for result in results if name in result["functions"]]
        passed = sum(result["state"] == "done" for result in used)
        source = TO_DO if all(result["state"] == TO_DO for result in used) else sources[name]
        table.append((lesson, name, used[0]["part"], len(used), passed, source))
    return table


def sources_of(text: bytes, names: list[str]) -> dict[str, str]:
    """The source of each function of an exercise: WRITTEN, or what it takes from elsewhere.

    Taken is any of the names that the lesson asks for, if it is imported, is an attribute of a module, or
    stands in quotes, as in yours("linear").
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return dict.fromkeys(names, f"cannot be read: line {getattr(error, 'lineno', None) or 1}")
    imported = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.name in names
    }
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    sources = {}
    for name in names:
        if name in functions:
            taken = _taken(functions[name], names, imported)
            sources[name] = f"calls {', '.join(taken)}" if taken else WRITTEN
        else:
            sources[name] = (
                f"imported: {imported[name]}" if name in imported else "not a function of the file"
            )
    return sources


def _taken(function: ast.FunctionDef, names: list[str], imported: dict[str, str]) -> list[str]:
    """The names that the lesson asks for and a function uses, other than functions of its own file."""
    taken = []
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in imported:
            taken.append(imported[node.id])
        elif isinstance(node, ast.Attribute) and node.attr in names:
            taken.append(ast.unparse(node))
        elif isinstance(node, ast.Constant) and node.value in names:
            taken.append(repr(node.value))
    return sorted(set(taken))


def main(arguments: argparse.Namespace) -> None:
    """Run all checks, pack what is written, and say what the teacher will see."""
    lessons = sorted(LESSONS.glob("[0-9]*_*"))
    print("running the checks of all lessons: about a minute")
    table = pack(arguments.out, lessons, checked(lessons, "exercise"))
    for lesson in dict.fromkeys(row[0] for row in table):
        of_lesson = [row for row in table if row[0] == lesson]
        right = sum(checks == passed for _, _, _, checks, passed, _ in of_lesson)
        print(f"{lesson:28} {right} of {len(of_lesson)} functions pass all their checks")
    for _, name, *_, source in table:
        if source not in (TO_DO, WRITTEN):
            print(f"{name}: {source}")
    print(f"wrote {arguments.out}")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = make_parser("hand_in", "Pack the exercises for a teacher, with a table of what they are worth.")
    result.prog = "lessons.hand_in"
    result.add_argument(
        "--out",
        type=some_path,
        default=Path("hand-in.zip"),
        metavar="FILE.zip",
        help="(default: hand-in.zip)",
    )
    return result


if __name__ == "__main__":
    run_command(parser(), main)
