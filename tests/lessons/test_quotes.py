"""The quotations in the pages are what the commands print."""

import json
import re

import pytest

from lessons.mine import __main__ as command
from lessons.mine import exercises
from lessons.mine.answers import LESSONS
from lessons.mine.exercises import LIBRARY, YOURS, Answers, State, results_of
from lessons.mine.ladder import RUNGS
from lessons.mine.operations import OPERATIONS
from lessons.mine.training import Curve

MINE = (LESSONS / "mine/README.md").read_text("utf-8")
SOLUTIONS = {int(path.parent.name[:2]): path for path in LESSONS.glob("[0-9]*/solution.py")}
PLANTED = "missing_mean_term"


def quoted(beginning):
    """The block of mine/README.md that holds these words."""
    return next(block for block in re.findall(r"```text\n(.*?)```", MINE, re.S) if beginning in block)


@pytest.fixture
def printed(monkeypatch, tmp_path, capsys):
    """The output of the command after a lesson; rungs reach what the page says, and nothing is trained."""
    bars = re.findall(
        r"\+ (.+?) +lesson \d+  #+ +([\d.]+)%", quoted("the ViT, trained by AdamW    lesson 9  #")
    )
    reached = {name: float(share) / 100 for name, share in bars}
    assert list(reached) == [rung.name for rung in RUNGS]
    monkeypatch.setattr(command, "REACHED", tmp_path / "reached.json")
    monkeypatch.setattr(command, "train_alone", lambda rung, *rest: reached[rung.name])
    monkeypatch.setattr(command, "_shown", lambda path: "lessons/mine/mine.png")

    def run(lesson, wrong=""):
        states = [State(o, YOURS if o.lesson <= lesson else LIBRARY) for o in OPERATIONS]
        if wrong:
            results = results_of(LESSONS / "07_layer_norm", wrong)
            states = [
                State(each.operation, *exercises._judged(each.operation, results))
                if each.operation.name == "LayerNorm"
                else each
                for each in states
            ]
        monkeypatch.setattr(command, "check", lambda impl: Answers(states, SOLUTIONS))
        climbed = {rung.name: reached[rung.name] for rung in RUNGS if rung.lesson <= lesson}
        key = f"exercise, {command.ALONE[0]} pictures, {command.ALONE[1]} epochs"
        command.REACHED.write_text(json.dumps({key: climbed}), encoding="utf-8")
        command.main(command.parser().parse_args(["--picture", str(tmp_path / "map.png")]))
        return capsys.readouterr().out

    return run


def test_the_model_after_four_lessons(printed):
    assert printed(3) == quoted("4 of 20 operations are yours. The map")


def test_the_model_after_seven_lessons_with_a_wrong_layer_norm(printed):
    assert printed(6, PLANTED) == quoted("LayerNorm is not right yet.")


def test_the_model_after_the_core(printed):
    assert printed(9).endswith(quoted("the ViT, trained by AdamW    lesson 9  #"))


def test_what_is_said_of_a_planted_mistake(monkeypatch, capsys):
    answers = Answers([State(o, YOURS) for o in OPERATIONS], SOLUTIONS)
    monkeypatch.setattr(command, "check", lambda impl: answers)
    monkeypatch.setattr(command, "train", lambda hybrid, dataset, length, report: Curve([0.0] * 500, 0.5))
    command.main(command.parser().parse_args(["--plant", PLANTED]))
    said, curve, _ = capsys.readouterr().out.partition("The curve:")
    assert curve
    assert quoted(f"Planted in LayerNorm: {PLANTED}").startswith(said)


def test_the_diagnosis_that_the_course_quotes():
    quotation = re.search(r'with a diagnosis: "(.*?)\."', (LESSONS / "README.md").read_text("utf-8"), re.S)
    messages = [
        result["message"]
        for result in results_of(LESSONS / "06_attention", "root_forgotten_in_backward")
        if result["state"] == "wrong"
    ]
    assert any(" ".join(quotation[1].split()) in message for message in messages)
