"""`python -m lessons.watch 07`: run a lesson's checks whenever its exercise is saved, and show one fault.

Type `hint` for a hint, and again for the next one; press Enter to run the checks now; type `q` to stop.
"""

from __future__ import annotations

import argparse
import queue
import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from lessons.faults import PARTS, blocks
from lessons.mine.exercises import results_of
from lessons.start import LESSONS, file_of
from tinyvit.support.errors import UserError
from tinyvit.support.shell.command import make_parser, run_command
from tinyvit.support.shell.moving_line import colour_wanted, is_watched

SECONDS = 0.3  # between two looks at the file
CHANGED = "the file has changed"
PROMPT = "\n(saving the file runs the checks; hint, Enter or q)"


def lesson_of(word: str) -> Path:
    """The folder of a lesson, by its number or its name."""
    lessons = sorted(LESSONS.glob("[0-9]*_*"))
    for lesson in lessons:
        if word == lesson.name or (word.isdigit() and int(word) == int(lesson.name[:2])):
            return lesson
    raise UserError(
        f"no lesson {word}: expected a number from {lessons[0].name[:2]} to {lessons[-1].name[:2]}."
    )


def watch(lesson: Path, words: queue.Queue[str]) -> None:
    """Run the checks whenever the exercise changes, and answer the words typed, until one of them is q."""
    file, word = file_of(lesson), ""
    hints: Iterator[str] = iter(())
    while word != "q":
        if word in ("h", "hint"):
            print(next(hints, "That was the last hint."))
        elif word in ("", CHANGED):
            stamp = _stamp(file)
            print(f"\n{file} at {time.strftime('%H:%M:%S')}")
            results = results_of(lesson, "exercise")
            fault, told = first_fault(results)
            print(f"{count(results)}\n\n{told}" if fault else f"{count(results)}: all is right.")
            print(PROMPT)
            hints = hints_for(lesson, fault)
        word = _next_word(words, file, stamp)


def first_fault(results: list[dict]) -> tuple[dict | None, str]:
    """The check to show, and its text: the first fault, else the first that is to do; None if all pass."""
    if wrong := blocks(results):
        return wrong[0].lead, wrong[0].text(colour=is_watched(sys.stdout) and colour_wanted(), hints=False)
    to_do = [result for result in results if result["state"] == "to do"]
    first = min(to_do, key=lambda result: PARTS.index(result["part"]), default=None)
    return first, f"to do: {first['message']}" if first else ""


def count(results: list[dict]) -> str:
    """Number of checks that pass and that fail, without those of the gradient check and the puzzle."""
    states = [result["state"] for result in results if result["part"] == PARTS[0]]
    wrong = f", {states.count('wrong')} fail" if "wrong" in states else ""
    return f"{states.count('done')} of {len(states)} checks pass{wrong}"


def hints_for(lesson: Path, fault: dict | None) -> Iterator[str]:
    """Hints on a fault, one after the other: those of its check, the folds of the text, the solution."""
    if fault is None:
        return
    yield from (f"hint: {hint}" for hint in fault.get("hints", ()))
    titles = re.findall(
        r"<summary>If you are stuck: (.*?)</summary>", (lesson / "README.md").read_text("utf-8")
    )
    if titles:
        yield f"hint: README.md has folds on {'; '.join(titles)}"
    yield f"hint: lessons/{lesson.name}/solution.py has an answer"


def _stamp(file: Path) -> int:
    """The time at which the file was changed, or 0: an editor that saves may take it away for a moment."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def _next_word(words: queue.Queue[str], file: Path, stamp: int) -> str:
    """The next word typed, or CHANGED as soon as the file has changed."""
    while True:
        try:
            return words.get(timeout=SECONDS)
        except queue.Empty:
            if _stamp(file) not in (0, stamp):
                return CHANGED


def main(arguments: argparse.Namespace) -> None:
    """Watch the exercise of a lesson, until q or Ctrl-C."""
    words: queue.Queue[str] = queue.Queue()
    lesson = lesson_of(arguments.lesson)

    def read() -> None:
        for line in sys.stdin:
            words.put(line.strip().lower())

    threading.Thread(target=read, daemon=True).start()
    watch(lesson, words)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    result = make_parser(
        "watch",
        "Run a lesson's checks whenever its exercise is saved, and show one fault at a time.",
        "Type hint for a hint, and again for the next one. Enter runs the checks now, and q stops.",
    )
    result.prog = "lessons.watch"
    result.add_argument("lesson", metavar="LESSON", help="its number, such as 07")
    return result


if __name__ == "__main__":
    run_command(parser(), main)
