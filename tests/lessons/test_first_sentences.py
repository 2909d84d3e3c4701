"""The first words that a beginner hears: they name every mistake, and call nothing right a mistake."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lessons.mutation import changed, changes
from lessons.referee.share import asked_for
from tests.lessons import plainly
from tests.lessons.course import GUIDED, QUICKER, ROOT
from tests.lessons.right_answers import RIGHT

MISTAKES = Path(__file__).with_name("fresh_mistakes.txt")
NAMED = 0.9  # of the mistakes; more are, and a new check or mistake may cost one


def mistakes():
    """The lesson, words and functions of every mistake, and the right functions that some are made of."""
    wrong, right = [], []
    for lesson, part in re.findall(r"^# (\w+)\n(.*?)(?=^# |\Z)", MISTAKES.read_text("utf-8"), re.M | re.S):
        given = {}
        for mark, head, code in re.findall(r"^([?@]) (.*)\n((?:(?![?@] ).*\n?)*)", part, re.M):
            words, _, name = head.partition(" @ ")
            if mark == "@":
                given[head] = code
                right.append((lesson, code))
            else:
                wrong.append((lesson, words, changed(given[name], changes(code)) if name else code))
    return wrong, right


def plain_ones():
    """The answers of plainly.py, for every lesson that asks for them."""
    asked = {lesson.name: set(asked_for(lesson)) & set(vars(plainly)) for lesson in GUIDED}
    names = {lesson: ", ".join(sorted(those)) for lesson, those in asked.items() if those}
    return [(lesson, f"from tests.lessons.plainly import {those}") for lesson, those in names.items()]


@pytest.fixture(scope="module")
def heard(tmp_path_factory):
    """The results of the checks on every answer, by the name of the answer."""
    folder = tmp_path_factory.mktemp("answers")
    wrong, right = mistakes()
    right += list(RIGHT.items()) + plain_ones()
    answers = {f"wrong_{number:03}": (lesson, code) for number, (lesson, _, code) in enumerate(wrong)}
    answers |= {f"right_{number:03}": answer for number, answer in enumerate(right)}
    for name, (lesson, code) in answers.items():
        own = ROOT / "lessons" / lesson
        imports = re.findall(r"^(?:import|from) .*", (own / "exercise.py").read_text("utf-8"), re.M)
        (folder / lesson).mkdir(exist_ok=True)
        text = "\n".join([(own / "solution.py").read_text("utf-8"), *imports, code])
        (folder / lesson / f"{name}.py").write_text(text, encoding="utf-8")
    lessons = sorted(path.name for path in folder.iterdir())
    halves = lessons[:7], lessons[7:]  # which take about the same time
    runs = [run(folder, half, folder / f"{half[0]}.json") for half in halves]
    results = {name: [] for name in answers}
    for process, report in runs:
        printed = process.communicate()[0]
        assert report.exists(), printed
        for result in json.loads(report.read_text("utf-8")):
            results[result["impl"]].append(result)
    return results


def run(folder, lessons, report):
    """Start the checks of some lessons on the answers in a folder: the process, and where it reports to."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *QUICKER, "--tb=no", "--known"]
    command += ["--impl", "mutants", "--answers", str(folder), "--lesson-report", str(report)]
    command += [f"lessons/{lesson}" for lesson in lessons]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True), report


def first_sentences(heard):
    """The lesson, the words, and the first line of the first message about every mistake."""
    for number, (lesson, words, _) in enumerate(mistakes()[0]):
        failed = [result for result in heard[f"wrong_{number:03}"] if result["state"] == "wrong"]
        yield lesson, words, failed[0]["message"].split("\n")[0] if failed else ""


def test_every_mistake_is_caught(heard):
    assert [lesson for lesson, _, said in first_sentences(heard) if not said] == []


def test_the_first_sentence_names_the_mistake(heard):
    said = list(first_sentences(heard))
    unnamed = [f"{lesson}: {words}\n    {said}" for lesson, words, said in said if not re.search(words, said)]
    assert len(unnamed) <= (1 - NAMED) * len(said), "\n".join(unnamed)


def test_nothing_right_is_refused(heard):
    right = [result for name in heard if name.startswith("right") for result in heard[name]]
    refused = [(each["impl"], each["check"], each["message"]) for each in right if each["state"] != "done"]
    assert refused == []
    given = len(mistakes()[1])  # of which some are the solution's own: no check is run on these again
    others = {name for name in heard if name.startswith("right") and int(name[6:]) >= given}
    assert others <= {result["impl"] for result in right}
