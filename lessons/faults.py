"""One block for one fault: the words of the terminal, of `lessons.watch` and of a page's bench.

They are made of the results of the checks, as conftest.py lists them. Checks fail for one reason if they
crash at one line, or if the same sentence is said of them, whatever its numbers are. A check that fails in
another way belongs to an earlier block if it uses the function at fault there, which is to be mended first.
"""

from __future__ import annotations

import re
import shutil
import textwrap
from dataclasses import dataclass
from typing import Any

PARTS = ("main", "gradient check", "puzzle")
MOST, WIDEST = 12, 100  # lines of a block, and columns
PRINTED = 3  # lines that are repeated of what an answer has printed
LINE = re.compile(r"[;,]? see line (\d+)(?:: (.*?))?\.?$")
NUMBER = re.compile(r"\([-\d, ]+\)|-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
MARKUP = {"sentence": "1", "numbers": "2"}  # in a terminal: bold, dimmed

Result = dict[str, Any]
Line = tuple[str, str]  # its kind, and the text


@dataclass
class Block:
    """A fault: the result that shows it, and how many checks fail."""

    lead: Result
    alike: int = 1  # these checks fail for the same reason as the lead
    perhaps: int = 0  # and these may

    def lines(self) -> list[Line]:
        """The sentence, the line of code, the numbers, a hint, and how many checks fail."""
        text, names = self.lead["text"].split("\n"), self.lead["known"]
        lines: list[Line] = []
        for number, name in enumerate(names):
            said = LINE.sub("", name).removesuffix(".") + "."
            lines.append(("sentence", f"Or: {said}" if number else said))
            if line := LINE.search(name):
                lines.append(("code", f"exercise.py, line {line[1]}: {line[2] or ''}".rstrip(": ")))
        if not names:
            lines.append(("sentence", text.pop(0)))
        if self.lead["where"]:
            lines.append(("code", self.lead["where"]))
        lines += [("numbers", each.strip()) for each in text if each.strip()]
        lines += [("hint", f"hint: {hint}") for hint in self.lead["hints"]]
        return [*lines, ("checks", self.count())]

    def count(self) -> str:
        """Number of checks that fail for this reason, and the first of them, in a sentence."""
        number = f"{self.alike} checks fail" if self.alike > 1 else "1 check fails"
        perhaps = f", and perhaps {self.perhaps} more" if self.perhaps else ""
        first = "; the first is" if self.alike > 1 else ":"
        return f"{number} for this reason{perhaps}{first} {self.lead['check']}."

    def text(self, colour: bool = False, hints: bool = True) -> str:
        """The block for a terminal, with the end of what the answer has printed."""
        width = min(shutil.get_terminal_size().columns, WIDEST)
        parts = [part for part in self.lines() if hints or part[0] != "hint"]
        lines = [(kind, line) for kind, text in parts for line in _wrapped(kind, text, width)]
        numbers = [number for number, (kind, _) in enumerate(lines) if kind == "numbers"]
        if (excess := len(lines) - MOST) > 0 and numbers:
            start, end = max(numbers[-1] - excess, numbers[0]), numbers[-1] + 1
            lines[start:end] = [("numbers", "    ...")]
        printed = [("printed", f"    printed: {line}"[:width]) for line in self.printed()[-PRINTED:]]
        lines[-1:-1] = printed[: max(MOST - len(lines), 0)]
        marked = [
            f"\x1b[{MARKUP[kind]}m{line}\x1b[0m" if colour and kind in MARKUP else line
            for kind, line in lines
        ]
        return "\n".join(marked)

    def printed(self) -> list[str]:
        """The lines that the answer has printed."""
        return self.lead.get("printed", "").splitlines()


def blocks(results: list[Result]) -> list[Block]:
    """The faults of the answers that were checked, in the order in which they are best mended."""
    found: list[list[Result]] = []
    wrong = [result for result in results if result["state"] == "wrong"]
    for result in sorted(wrong, key=lambda each: (each["lesson"], PARTS.index(each["part"]))):
        near = [others for others in found if others[0]["lesson"] == result["lesson"]]
        alike = [others for others in near if reason(result) in map(reason, others)]
        explained = [others for others in near if _may_explain(others[0], result)]
        if alike or explained:
            (alike + explained)[0].append(result)
        else:
            found.append([result])
    return [_block(those) for those in found]


def _block(results: list[Result]) -> Block:
    """The block of checks that belong together. Of values, the first fault that has a name tells most."""
    lead = results[0]
    if lead["kind"] == "values":
        lead = next((result for result in results if result["known"]), lead)
    alike = sum(reason(result) == reason(lead) for result in results)
    return Block(lead, alike, len(results) - alike)


def reason(result: Result) -> tuple[str, ...]:
    """The reason why a check fails; it is the same for all checks that fail for one reason."""
    if result["known"]:
        return tuple(LINE.sub("", name) for name in result["known"])
    if result["where"]:
        return result["where"], result["error"]
    return result["function"], NUMBER.sub("0", result["text"].split("\n")[0])


def _may_explain(lead: Result, result: Result) -> bool:
    """True if a fault that was found may be the reason why another check fails."""
    if lead["function"] == result["function"]:
        return True
    return lead["function"] in result["asks"] and not result["known"] and not result["where"]


def _wrapped(kind: str, text: str, width: int) -> list[str]:
    """The lines of a terminal for a line of a block."""
    indent = "" if kind in ("sentence", "checks") else "    "
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=indent) or [indent]
