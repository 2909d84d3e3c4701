"""How `pytest lessons/NN_topic` finds the file to check, reports it, and shows how far you are.

The checks of a lesson take the functions under test from the fixture `impl`. Which file that is:

    pytest lessons/06_layer_norm                    exercise.py, the one you edit
    pytest lessons/06_layer_norm --impl solution    solution.py
    pytest lessons/06_layer_norm --impl NAME        mutants/NAME.py, a plausible wrong answer
    pytest lessons --impl mutants                   every wrong answer (used by tinyvit's own tests)

A function that still raises NotImplementedError is "to do", not a failure.
"""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TODO, DONE, WRONG = "to do", "done", "wrong"


def pytest_addoption(parser):
    parser.addoption("--impl", default="exercise", help="exercise, solution, a mutant's name, or mutants")
    parser.addoption("--lesson-report", help="write what happened to every check, as JSON, to this file")


def pytest_configure(config):
    config.addinivalue_line("markers", "hint(text, name=text): shown when the check fails, or this result")
    config.addinivalue_line("markers", "puzzle: a check of the lesson's puzzle, counted apart")
    config.addinivalue_line("filterwarnings", "ignore::RuntimeWarning")  # a wrong answer may divide by zero
    config.lesson_results = []


def pytest_generate_tests(metafunc):
    """With --impl mutants, run each check on every file in the lesson's mutants/."""
    if "impl" in metafunc.fixturenames:
        name = metafunc.config.getoption("impl")
        names = [name]
        if name == "mutants":
            names = sorted(path.stem for path in Path(metafunc.module.__file__).parent.glob("mutants/*.py"))
        metafunc.parametrize("impl", names, indirect=True, ids=names if len(names) > 1 else [""])


@pytest.fixture
def impl(request):
    """The module under test: the learner's file unless --impl says otherwise."""
    folder, name = request.path.parent, request.param
    path = folder / f"{name}.py" if name in ("exercise", "solution") else folder / "mutants" / f"{name}.py"
    if not path.is_file():
        pytest.exit(f"{folder.name} has no file {path.relative_to(folder)}", returncode=2)
    spec = importlib.util.spec_from_file_location(f"{folder.name}_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Turn an unsolved exercise into "to do", and a wrong answer into one message and its hint."""
    report = (yield).get_result()
    if "impl" not in item.fixturenames or (call.when != "call" and report.passed):
        return
    error = call.excinfo and call.excinfo.value
    if isinstance(error, NotImplementedError):
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, f"to do: {error}")
        report.lesson_state = TODO
    elif report.passed:
        report.lesson_state = DONE
    else:
        report.lesson_state = WRONG
        if isinstance(error, AssertionError):
            message = str(error).split("\nassert ")[0]  # what pytest adds to a plain assert helps nobody here
        else:
            message = crash_in_answer(item, call)
        if message:
            hints = hints_for(item, error)
            report.longrepr = "\n".join([message, *(f"hint: {hint}" for hint in hints)])
    item.config.lesson_results.append(
        {
            "lesson": item.path.parent.name,
            "check": item.originalname,
            "impl": item.callspec.params["impl"],
            "state": report.lesson_state,
            "error": name_of(error),
            "message": str(error) if error else "",
        }
    )


def hints_for(item, error):
    """The hints of a check that belong to this fault: to the result's name, its kind, or else to any."""
    if not isinstance(error, AssertionError):
        keys = ["crash"]
    else:
        keys = [getattr(error, "name", ""), getattr(error, "kind", "")]
    hints = []
    for mark in item.iter_markers("hint"):
        special = [mark.kwargs[key] for key in keys if key in mark.kwargs]
        hints += special[:1] or mark.args[:1]
    return hints


def name_of(error):
    """The type of an error; every failed assertion, the referee's own too, is an AssertionError."""
    if isinstance(error, AssertionError):
        return "AssertionError"
    return type(error).__name__ if error else None


def crash_in_answer(item, call):
    """For an answer that raised an exception: which, and where in the learner's file; else None."""
    error = call.excinfo.value
    for entry in reversed(call.excinfo.traceback):
        path = Path(entry.path)
        if path.stem == item.callspec.params["impl"] and item.path.parent in path.parents:
            where = f"{path.name}, line {entry.lineno + 1}"
            return f"{where}: {type(error).__name__}: {error}\n    {str(entry.statement).strip()}"
    return None


def pytest_report_teststatus(report):
    """Show unsolved checks as 'to do'."""
    if getattr(report, "lesson_state", None) == TODO:
        return "to do", "·", "TO DO"
    return None


def pytest_terminal_summary(terminalreporter, config):
    """A line for each lesson: how many of its checks are done, wrong, or still to do."""
    lessons: dict[str, Counter] = {}
    for result in config.lesson_results:
        lessons.setdefault(result["lesson"], Counter())[result["state"]] += 1
    if lessons and config.getoption("impl") != "mutants":
        terminalreporter.section("your progress")
        for name, states in sorted(lessons.items()):
            total = states.total()
            bar = "#" * round(20 * states[DONE] / total)
            wrong = f", {states[WRONG]} wrong" if states[WRONG] else ""
            terminalreporter.write_line(f"{name:28} [{bar:20}] {states[DONE]:2} of {total:2} checks{wrong}")
    if path := config.getoption("lesson_report"):
        Path(path).write_text(json.dumps(config.lesson_results, indent=1), encoding="utf-8")
