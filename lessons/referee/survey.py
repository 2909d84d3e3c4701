"""What a learner would be told of every wrong answer in the course: python -m lessons.referee.survey

For each file in a lesson's mutants/: the true fault, as its docstring says it, and the first sentence of the
first check that fails. Side by side, they show whether a message names the fault, is neutral, or misleads.
A star says that the fault is recognised as well: no other mistake fails in the same way, so that
whoever makes it is told its sentence. With the names of lessons as arguments, only those.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tempfile
from pathlib import Path

LESSONS = Path(__file__).parents[1]


def results_of_mutants(lessons: list[str]) -> list[dict]:
    """What happened in every check of every wrong answer."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--impl", "mutants", "--known"]
        command += ["--lesson-report", str(report), *(f"lessons/{name}" for name in lessons or ["."])]
        subprocess.run(command, cwd=LESSONS.parent, capture_output=True, check=False)
        return json.loads(report.read_text("utf-8"))


def first_sentences(results: list[dict]) -> dict[tuple[str, str], tuple[str, str, bool]]:
    """For each (lesson, mutant): its docstring, and the first line of the first message about it."""
    said: dict[tuple[str, str], tuple[str, str, bool]] = {}
    for result in results:
        key = result["lesson"], result["impl"]
        if result["state"] == "wrong" and key not in said:
            source = (LESSONS / key[0] / "mutants" / f"{key[1]}.py").read_text("utf-8")
            fault = " ".join((ast.get_docstring(ast.parse(source)) or "").split())
            first, second, *_ = [*result["message"].split("\n"), ""]
            sentence = second.partition(": ")[2] if result["known"] else first  # without its own name above
            said[key] = fault, sentence, bool(result["known"])
    return dict(sorted(said.items()))


def main(lessons: list[str]) -> None:
    """Print the survey."""
    said = first_sentences(results_of_mutants(lessons))
    for (lesson, name), (fault, sentence, known) in said.items():
        print(f"{lesson} {name}\n    fault: {fault}\n    said:  {sentence}{' *' * known}")
    plain = sum(" is wrong" in sentence or " are wrong" in sentence for _, sentence, _ in said.values())
    recognised = sum(known for *_, known in said.values())
    print(f"{len(said)} wrong answers; of {plain} no more is said than that a value is wrong;", end=" ")
    print(f"{recognised} are recognised")


if __name__ == "__main__":
    main(sys.argv[1:])
