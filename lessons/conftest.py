"""How `pytest lessons/NN_topic` finds the file to check, reports it, and shows how far you are.

The checks of a lesson take the functions under test from the fixture `impl`. Which file that is:

    pytest lessons/07_layer_norm                    exercise.py, the one you edit (see lessons.start)
    pytest lessons/07_layer_norm --impl solution    solution.py
    pytest lessons/07_layer_norm --impl NAME        the row NAME of mutants.py, a plausible wrong answer
    pytest lessons --impl mutants                   every wrong answer (used by tinyvit's own tests)
        --answers FOLDER                            every answer in FOLDER/NN_topic/ instead

A function that still raises NotImplementedError is "to do", not a failure. A crash is shown once, however
many checks it fails. The puzzle and the gradient check of a lesson are counted apart. How far you are is kept
in pytest's cache, for `python -m lessons.site` to show.
"""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest

from lessons.mutation import wrong_answers
from lessons.referee import calls, unwritten
from lessons.referee.fingerprint import fingerprint
from lessons.referee.known import Search, load
from lessons.referee.rerun import differences, rerun, unknown, wanted
from lessons.start import file_of

HERE = Path(__file__).parent
TODO, DONE, WRONG, REPEATED = "to do", "done", "wrong", "the same crash"
MAIN, GRADIENT_CHECK, PUZZLE = "main", "gradient check", "puzzle"
PROGRESS = "lessons/progress"  # its key in pytest's cache

# For faults that are no matter of values: how to tell that a hint is about them, and a hint for all lessons.
COMMON = {
    "dtype": (
        r"float|dtype",
        "which step changes the dtype? np.zeros, np.ones, np.eye and astype(float) make float64: ask for "
        "x.dtype there; np.sqrt of a number is a float64, too, and math.sqrt is not",
    ),
    "inplace": (
        r"new array|makes an array|in place|[-+*/]=",
        "what you were given belongs to somebody else: write y = 2 * x and not x *= 2, x.reshape(...) and "
        "not x.shape = ..., and return arrays of your own",
    ),
    "cache": (
        r"spoil|write no",
        "a backward may run twice on one cache: make new arrays in it, and write no -= or *= on what the "
        "forward has kept",
    ),
    "kept": (r"global", "return all that the backward needs, in the cache: return y, (x, weight)"),
}

SLIPS = NameError, AttributeError, ImportError, SyntaxError


def pytest_addoption(parser):
    parser.addoption("--impl", default="exercise", help="exercise, solution, a mutant's name, or mutants")
    parser.addoption(
        "--answers", help="a folder with answers for --impl mutants, instead of the lessons' own"
    )
    parser.addoption("--known", action="store_true", help="look for planted mistakes in any file's results")
    parser.addoption("--lesson-report", help="write what happened to every check, as JSON, to this file")


def pytest_configure(config):
    config.addinivalue_line("markers", "hint(text, name=text): shown when the check fails, or this result")
    config.addinivalue_line("markers", "puzzle: a check of the lesson's puzzle, counted apart")
    config.addinivalue_line("filterwarnings", "ignore::RuntimeWarning")  # a wrong answer may divide by zero
    config.lesson_results, config.lesson_caught = [], set()
    config.lesson_asked = {}  # the names that a check asks an answer for
    config.lesson_partial = False  # whether -k and the like have left some checks out
    config.lesson_skipped = {}  # for a lesson that cannot run here: what is missing
    config.lesson_searches = {}  # what is known to be wrong with every answer
    config.lesson_crashes = {}  # the first report of every crash, and how many more there were


def pytest_generate_tests(metafunc):
    """With --impl mutants, run each check on every wrong answer of the lesson."""
    if "impl" in metafunc.fixturenames:
        name = metafunc.config.getoption("impl")
        names = [name]
        if name == "mutants":
            lesson = Path(metafunc.module.__file__).parent
            names = sorted(answers(metafunc.config.getoption("answers"), lesson))
        metafunc.parametrize("impl", names, indirect=True, ids=names if len(names) > 1 else [""])


@functools.cache
def answers(folder, lesson):
    """The paths of the lesson's wrong answers, or of the files in the folder --answers, by their names."""
    if folder:
        return {path.stem: path for path in Path(folder, lesson.name).glob("*.py")}
    return {name: answer.path for name, answer in wrong_answers(lesson).items()}


def answer_of(item):
    """The path of what a check is run on: a file, or that of a wrong answer, which is none."""
    lesson, name = item.path.parent, item.callspec.params["impl"]
    if name in ("exercise", "solution"):
        return file_of(lesson, name)
    known = answers(item.config.getoption("answers"), lesson)
    return known.get(name) or pytest.exit(f"{lesson.name} has no wrong answer {name!r}", returncode=2)


def loaded(path):
    """The module under test."""
    if path.is_file():
        return load(path)
    return wrong_answers(path.parent)[path.name.partition(":")[2]].module()


@pytest.fixture
def impl(request):
    """The module under test: the learner's file unless --impl says otherwise."""
    path = answer_of(request.node)
    is_read = wrong_answer(request.node) is None or request.config.getoption("known")
    with unwritten.shown(), nullcontext() if is_read else rerun():
        calls.RECENT.clear()
        request.node.answer = calls.Watched(loaded(path))
        yield request.node.answer


def pytest_deselected(items):
    if items:
        items[0].config.lesson_partial = True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Pass over a check that is spared; the last of a file is skipped, as pytest ends the file with it."""
    return True if nextitem and nextitem.path == item.path and is_spared(item) else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if is_spared(item):
        pytest.skip("the wrong answer is caught already, or right here")


def is_spared(item):
    """Of hundreds of wrong answers, run none through more checks than it takes to catch it.

    Nor through one that asks for nothing but what it has from the solution.
    """
    if wrong_answer(item) in item.config.lesson_caught:
        return True
    asked = wrong_answer(item) and item.config.lesson_asked.get(without_answer(item))
    return bool(asked) and all(is_right(item.path.parent, answer_of(item), name) for name in asked)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Turn an unsolved exercise into "to do", and a wrong answer into one message and its hint."""
    report = (yield).get_result()
    if "impl" not in item.fixturenames or (call.when != "call" and report.passed):
        return
    error, names, message, hints = call.excinfo and call.excinfo.value, [], "", []
    if isinstance(error, pytest.skip.Exception):
        if call.when == "call":
            item.config.lesson_skipped[item.path.parent.name] = str(error)
        return
    if isinstance(error, NotImplementedError):
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, f"to do: {error}")
        report.lesson_state = TODO
    elif report.passed:
        report.lesson_state = DONE
        item.config.lesson_asked[without_answer(item)] = item.answer.asked
    else:
        report.lesson_state = WRONG
        item.config.lesson_caught |= {wrong_answer(item)} - {None}
        where, message = told(item, call)
        if message and where not in item.config.lesson_crashes and looks_for_mistakes(item):
            names = names_of_fault(item, error)
        if message:
            hints = hints_for(item, error, bool(names))
            report.longrepr = "\n".join([*headed(names, message), *(f"hint: {hint}" for hint in hints)])
        if where and where in item.config.lesson_crashes:
            item.config.lesson_crashes[where][1] += 1
            report.lesson_state = REPEATED
        elif where:
            item.config.lesson_crashes[where] = [report, 0]
    used = sorted(item.answer.used) if hasattr(item, "answer") else []
    item.config.lesson_results.append(
        {
            "lesson": item.path.parent.name,
            "check": item.originalname,
            "impl": item.callspec.params["impl"],
            "state": WRONG if report.lesson_state == REPEATED else report.lesson_state,
            "functions": used,
            "part": part_of(item, used),
            "error": name_of(error),
            "message": "\n".join(headed(names, str(error))) if error else "",
            "shown": "\n".join(headed(names, message)) if message else "",
            "hints": hints,
            "known": names,
        }
    )


def wrong_answer(item):
    """The lesson and name of the wrong answer that a check runs on, if all of them are run; else None."""
    if "impl" in item.fixturenames and item.config.getoption("impl") == "mutants":
        return item.path.parent.name, item.callspec.params["impl"]
    return None


def without_answer(item):
    """What tells a check from others, without the answer that it runs on."""
    return item.path, item.name.replace(f"[{item.callspec.params['impl']}", "[", 1)


@functools.cache
def loaded_once(path):
    """The module of an answer or a solution, for looking at."""
    return loaded(path)


@functools.cache
def is_right(lesson, path, name):
    """Whether an answer has under a name what the solution has."""
    files = path, lesson / "solution.py"
    yours, right = (fingerprint(vars(loaded_once(file)).get(name, file)) for file in files)
    return yours == right and yours is not None


def part_of(item, used):
    """Whether a check belongs to the lesson's puzzle, to its gradient check, or to its main functions."""
    if item.get_closest_marker("puzzle"):
        return PUZZLE
    return GRADIENT_CHECK if any(name.startswith(("guilty_", "trust_")) for name in used) else MAIN


def told(item, call):
    """What to say of a failed check, and for a crash in the answer, what tells it from other crashes."""
    error = call.excinfo.value
    if isinstance(error, AssertionError) and not from_answer(item, call):
        return None, str(error).split("\nassert ")[0]  # what pytest adds to a plain assert helps nobody here
    return crash_in_answer(item, call)


def names_of_fault(item, error):
    """What the answer may have done, in words, if a known mistake fails as it has failed."""
    if isinstance(error, SLIPS) or not hasattr(item, "answer"):
        return []  # the message says it, or the file cannot be imported
    if any(name.startswith("guilty_") for name in item.answer.used):
        return []  # a mistake that names the suspect as the learner does would say whether that is right
    searches, answer = item.config.lesson_searches, answer_of(item)
    if answer not in searches:
        checks = {each.nodeid: each for each in item.session.items if is_run_on(each, answer)}
        checks = {name: functools.partial(run_on, each) for name, each in checks.items()}
        searches[answer] = Search(item.path.parent, item.answer._module, checks)
    latest = list(reversed(calls.RECENT))
    functions = latest + sorted(item.answer.used - set(latest))
    if name := getattr(error, "name", ""):
        functions.sort(key=lambda function: ("backward" in function) != name.startswith("d"))
    search = searches[answer]
    return search.names(item.nodeid, error, functions) if item.nodeid in search.checks else []


def is_run_on(item, answer):
    """Whether this is a check of this answer that needs nothing else but its parameters."""
    needs = set(getattr(item, "fixturenames", ())) - {"request"}
    return "impl" in needs and needs <= set(item.callspec.params) and answer_of(item) == answer


def run_on(item, module):
    """Run a check on another module than the learner's, without central differences if a fault is wanted."""
    names = inspect.signature(item.obj).parameters
    arguments = {name: module if name == "impl" else item.callspec.params[name] for name in names}
    instead = unknown if wanted() else differences
    is_used = hasattr(item.module, "numerical_gradient")
    with patch.object(item.module, "numerical_gradient", instead) if is_used else nullcontext():
        item.obj(**arguments)


def headed(names, message):
    """The lines of a message, with what is wrong above it where that is known."""
    if not names:
        return [message]
    sentences = [
        re.sub(r"^(the|what|only|a (?:minus|not)) ", lambda m: m[0].capitalize(), name) for name in names
    ]
    head = " Or: ".join(name if name.endswith(".") else f"{name}." for name in sentences)
    return [head, f"    This gives exactly what you have: {message}"]


def looks_for_mistakes(item):
    return item.callspec.params["impl"] == "exercise" or item.config.getoption("known")


def hints_for(item, error, is_named=False):
    """The hints of a check that belong to this fault: its kind, its result's name, or else the general one.

    Where the fault has been named, only a hint for its kind is left: any other may be about another fault.
    The general one is about values; it would only puzzle whoever has misspelt a name or forgotten a return,
    in Python or in the text of a kernel. For a dtype, an array changed in place or a spoiled cache, where no
    formula is wrong, those of the name and the general one count only if they are about that, then COMMON's.
    """
    kind, name = "crash", ""
    if isinstance(error, AssertionError):
        kind, name = getattr(error, "kind", ""), getattr(error, "name", "")
    general = not isinstance(error, SLIPS) and kind not in ("count", "compile")
    about, common = COMMON.get(kind, ("", ""))
    hints = []
    for mark in item.iter_markers("hint"):
        others = [] if is_named else [mark.kwargs.get(name, ""), *mark.args[: int(general)]]
        fitting = [mark.kwargs.get(kind, ""), *(hint for hint in others if re.search(about, hint)), common]
        hints += [hint for hint in fitting if hint][:1]
    return hints


def name_of(error):
    """The type of an error; every failed assertion, the referee's own too, is an AssertionError."""
    if isinstance(error, AssertionError):
        return "AssertionError"
    return type(error).__name__ if error else None


def crash_in_answer(item, call):
    """For an answer that raised an exception: what tells this crash from others, and what to say of it."""
    error = call.excinfo.value
    if isinstance(error, SyntaxError) and error.filename and is_answer(item, error.filename):
        path, line = Path(error.filename), error.lineno
        text = f"{path.name}, line {line}, cannot be read as Python: {error.msg}"
        return (path, line, type(error)), f"{text}\n    {(error.text or '').strip()}"
    for entry in reversed(call.excinfo.traceback):
        if is_answer(item, entry.path):
            path, line = Path(entry.path), entry.lineno + 1
            statement = str(entry.statement).strip()
            text = f"{path.name}, line {line}: {type(error).__name__}: {error}\n    {statement}"
            return (path, line, type(error)), text
    return None, None


def from_answer(item, call):
    """Whether an assertion stands in the learner's own file."""
    return is_answer(item, call.excinfo.traceback[-1].path)


def is_answer(item, path):
    return Path(path) == answer_of(item)


def pytest_sessionfinish(session):
    """Say with the first of several equal crashes how many more there are."""
    for report, more in session.config.lesson_crashes.values():
        if more:
            checks = "one more check fails" if more == 1 else f"{more} more checks fail"
            report.longrepr = f"{report.longrepr}\n({checks} at the same line)"


def pytest_report_teststatus(report):
    """Show unsolved checks as 'to do', and list a crash that was shown before no second time."""
    state = getattr(report, "lesson_state", None)
    if state == TODO:
        return TODO, "·", "TO DO"
    return (REPEATED, "F", "THE SAME CRASH") if state == REPEATED else None


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    """A line for each lesson: how many of its checks are done, wrong, or still to do."""
    lessons: dict[str, dict[str, Counter]] = {}
    for result in config.lesson_results:
        parts = lessons.setdefault(result["lesson"], {})
        parts.setdefault(result["part"], Counter())[result["state"]] += 1
    progress = {}
    if lessons and config.getoption("impl") != "mutants":
        terminalreporter.section("your progress")
        for name, parts in sorted(lessons.items()):
            states = parts.pop(MAIN, Counter())
            total = states.total()
            bar = "#" * round(20 * states[DONE] / max(total, 1))
            wrong = f", {states[WRONG]} wrong" if states[WRONG] else ""
            apart = "".join(f", {part} {verdict(parts[part])}" for part in sorted(parts))
            counted = f"{states[DONE]:2} of {total:2} checks{wrong}{apart}"
            terminalreporter.write_line(f"{name:28} [{bar:20}] {counted}")
            progress[name] = {"done": states[DONE], "total": total, "said": " ".join(counted.split())}
    if config.getoption("impl") == "exercise" and not is_partial(config, exitstatus):
        keep(progress, config)
    for name, missing in sorted(config.lesson_skipped.items()):
        terminalreporter.write_line(f"{name:28} not all of it could run: {missing}")
    if path := config.getoption("lesson_report"):
        Path(path).write_text(json.dumps(config.lesson_results, indent=1), encoding="utf-8")


def is_partial(config, exitstatus):
    """Whether some checks of the lessons that were asked for did not run: their counts would mislead."""
    stopped = exitstatus == pytest.ExitCode.INTERRUPTED or (exitstatus and config.getoption("maxfail"))
    return config.lesson_partial or stopped or any("::" in word for word in config.args)


def keep(progress, config):
    """Put the counts of these lessons in pytest's cache, beside those of the others."""
    if hasattr(config, "cache"):  # -p no:cacheprovider takes it away
        before = config.cache.get(PROGRESS, {})
        config.cache.set(PROGRESS, (before if isinstance(before, dict) else {}) | progress)


def verdict(states):
    """The state of the puzzle or the gradient check, from those of its checks."""
    if states[WRONG]:
        return "wrong"
    return "open" if states[TODO] else "solved"
