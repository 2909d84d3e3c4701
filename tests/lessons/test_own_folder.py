"""Exercises in a folder of one's own: the checks run there, `watch` shows one fault, `hand_in` packs them."""

import csv
import io
import os
import queue
import shutil
import sys
import zipfile

import pytest

from lessons import hand_in, watch
from lessons.faults import blocks
from lessons.mine import exercises
from lessons.mine.exercises import YOURS, examine, results_of
from lessons.mine.operations import BY_NAME
from lessons.referee.rerun import failure
from lessons.start import CHOICE, LESSONS, file_of, load, start
from tinyvit.support.errors import UserError

ANSWER = '''
from tinyvit.ops.linear import linear_backward
from lessons.mine import yours


def linear(x, weight, bias):
    """Forgets the bias."""
    return x @ weight, (x, weight)


def unbroadcast(dy, shape):
    raise NotImplementedError("later")


def tied_backward(dy, x, weight):
    return yours("tied_backward")(dy, x, weight)
'''


@pytest.fixture(scope="module")
def lessons(tmp_path_factory):
    """A course of two lessons, whose exercises have been copied to a folder beside it, and lesson 3 begun."""
    folder = tmp_path_factory.mktemp("repository") / "lessons"
    for name in ("00_pixels", "03_linear"):
        shutil.copytree(LESSONS / name, folder / name, ignore=shutil.ignore_patterns("figures"))
    shutil.copy(LESSONS / "conftest.py", folder)
    assert start(folder.parents[1] / "my vit", folder) == (2, 0)
    (folder.parents[1] / "my vit/03_linear/exercise.py").write_text(ANSWER, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def results(lessons):
    """The results of the checks of lesson 3 on the answer."""
    return results_of(lessons / "03_linear", "exercise")


def test_the_checks_run_on_the_folder_of_ones_own(lessons, results):
    assert file_of(lessons / "03_linear") == lessons.parents[1] / "my vit/03_linear/exercise.py"
    states = {name: result["state"] for result in results for name in result["functions"]}
    assert states["linear"] == "wrong" and states["unbroadcast"] == "to do"


def test_a_second_start_keeps_what_is_written_and_adds_new_lessons(lessons, tmp_path):
    copy = shutil.copytree(lessons, tmp_path / "lessons")
    shutil.copytree(copy / "00_pixels", copy / "01_new")
    mine = shutil.copytree(lessons.parents[1] / "my vit", tmp_path / "mine")
    assert start(mine, copy) == (1, 2)
    assert (mine / "03_linear/exercise.py").read_text("utf-8") == ANSWER
    shutil.rmtree(mine)
    with pytest.raises(UserError, match="which is not there"):
        file_of(copy / "00_pixels")
    (copy / CHOICE).unlink()
    assert file_of(copy / "00_pixels") == copy / "00_pixels/exercise.py"


def test_the_folder_may_not_lie_among_the_lessons(lessons):
    with pytest.raises(UserError, match="Choose a folder outside"):
        start(lessons / "my-vit", lessons)


def test_an_operation_in_the_folder_is_yours(lessons, monkeypatch):
    mine = file_of(lessons / "00_pixels")
    before = mine.read_text("utf-8")
    monkeypatch.setattr(exercises, "OPERATIONS", [BY_NAME["normalise"]])
    mine.write_text("def normalise(images, dtype):\n    return (images.astype(dtype) - 127.5) / 127.5\n")
    try:
        answers = examine(lessons)
    finally:
        mine.write_text(before)
    assert answers.files[0] == mine
    assert [each.state for each in answers.states] == [YOURS]


def test_watching_shows_one_fault_and_one_hint_after_the_other(lessons, results, monkeypatch, capsys):
    monkeypatch.setattr(watch, "results_of", lambda lesson, file: results)
    words = queue.Queue()
    for word in ("hint", "what?", "hint", "hint", "hint", "hint", "", "q"):
        words.put(word)
    watch.watch(lessons / "03_linear", words)
    printed = capsys.readouterr().out
    assert printed.count("checks pass") == 2  # at the start, and after Enter
    first, *hints = printed.partition("checks pass")[2].partition(watch.PROMPT)[::2]
    assert first.split("\n\n")[1].strip() == blocks(results)[0].text(hints=False)
    assert hints[0].count("hint: ") >= 2
    assert "README.md has folds on the gradient of W; the gradient of b" in hints[0]
    assert "solution.py has an answer\nThat was the last hint." in hints[0]


def test_watching_runs_the_checks_when_the_file_changes(lessons, monkeypatch, capsys):
    runs = []

    def results_of(lesson, file):
        runs.append(file_of(lesson).read_text("utf-8"))
        words.put("q") if len(runs) == 2 else file_of(lesson).write_text(f"{ANSWER}\n", encoding="utf-8")
        return [{"check": "test_it", "state": "done", "part": "main", "message": ""}]

    words = queue.Queue()
    monkeypatch.setattr(watch, "SECONDS", 0.01)
    monkeypatch.setattr(watch, "results_of", results_of)
    monkeypatch.setattr(watch, "_stamp", lambda file: len(file.read_text("utf-8")) + len(runs))
    watch.watch(lessons / "03_linear", words)
    file_of(lessons / "03_linear").write_text(ANSWER, encoding="utf-8")
    assert runs == [ANSWER, f"{ANSWER}\n"]
    assert capsys.readouterr().out.count("1 of 1 checks pass: all is right.") == 2


@pytest.mark.parametrize("word", ["3", "03", "03_linear"])
def test_a_lesson_is_found_by_number_or_name(word):
    assert watch.lesson_of(word) == LESSONS / "03_linear"
    with pytest.raises(UserError, match="no lesson 99: expected a number from 00 to 30"):
        watch.lesson_of("99")


def test_what_is_handed_in_says_which_functions_were_taken_from_elsewhere(lessons, results, tmp_path):
    hand_in.pack(tmp_path / "in.zip", sorted(lessons.glob("[0-9]*")), {"03_linear": results, "00_pixels": []})
    with zipfile.ZipFile(tmp_path / "in.zip") as archive:
        assert sorted(archive.namelist()) == ["03_linear/exercise.py", "progress.csv"]
        assert archive.read("03_linear/exercise.py").decode() == ANSWER
        table = list(csv.DictReader(io.StringIO(archive.read("progress.csv").decode())))
    rows = {row["function"]: row for row in table}
    assert rows["linear"]["source"] == "written" and rows["linear"]["passed"] < rows["linear"]["checks"]
    assert rows["linear_backward"]["source"] == "imported: tinyvit.ops.linear.linear_backward"
    assert (
        rows["tied_backward"]["source"] == "calls 'tied_backward'"
        and rows["tied_backward"]["part"] == "puzzle"
    )
    assert rows["unbroadcast"]["source"] == "to do" and rows["unbroadcast"]["passed"] == "0"


def test_nothing_written_is_nothing_to_hand_in(lessons, tmp_path):
    with pytest.raises(UserError, match="nothing is written yet"):
        hand_in.pack(tmp_path / "in.zip", [lessons / "00_pixels"], {"00_pixels": [{"state": "to do"}]})


@pytest.mark.parametrize(
    ("body", "source"),
    [
        ("return x @ weight", "written"),
        ("return ops.linear(x, weight)", "calls ops.linear"),
        ("from tinyvit.ops import linear as it\n    return it(x)", "calls tinyvit.ops.linear"),
        ('return getattr(ops, "linear")(x)', "calls 'linear'"),
    ],
)
def test_a_function_that_calls_the_librarys_own_is_told(body, source):
    text = f"from tinyvit import ops\n\ndef linear(x, weight):\n    {body}\n"
    assert hand_in.sources_of(text.encode(), ["linear"]) == {"linear": source}
    assert hand_in.sources_of(b"def linear(:", ["linear"])["linear"].startswith("cannot be read")


def test_an_answer_may_hold_a_dataclass_and_begin_with_a_byte_order_mark(tmp_path):
    start = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    (tmp_path / "exercise.py").write_text(f"{start}@dataclass\nclass Cache:\n    axes: int\n", "utf-8-sig")
    assert load(tmp_path / "exercise.py").Cache(3).axes == 3
    found = hand_in.sources_of((tmp_path / "exercise.py").read_bytes(), ["f"])
    assert found == {"f": "not a function of the file"}


def test_a_file_that_is_no_text_is_named(tmp_path):
    (tmp_path / "exercise.py").write_text("x = 1\n", encoding="utf-16")
    with pytest.raises(SyntaxError) as raised:
        load(tmp_path / "exercise.py")
    assert raised.value.filename == str(tmp_path / "exercise.py")


def test_an_exercise_that_was_renamed_is_not_the_stub(lessons, tmp_path):
    own, other = file_of(lessons / "00_pixels"), lessons.parents[1] / "my vit/00_pixels/mine.py"
    own.rename(other)
    try:
        with pytest.raises(UserError, match=r"renamed it, give it that name again; if .* copies it again\."):
            file_of(lessons / "00_pixels")
    finally:
        other.rename(own)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"is a file\. Choose a folder"):
        start(tmp_path / "file", lessons)


def test_an_answer_that_ends_python_is_an_answer_that_fails():
    def ends(answer):
        sys.exit()

    assert isinstance(failure(ends, sys), SystemExit)


def test_an_answer_is_loaded_as_it_is_now(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "exercise.py"
    for number in (1, 2):  # of one size, in one second
        file.write_text(f"answer = {number}\n")
        os.utime(file, (1e9, 1e9))
        assert load(file).answer == number
