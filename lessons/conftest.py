"""The plugin of `pytest lessons/NN_topic`: it finds the file to check, reports it, and shows how far you are.

The checks of a lesson take the functions under test from the fixture `impl`. Which file that is:

    pytest lessons/07_layer_norm                    exercise.py, the one you edit (see lessons.start)
    pytest lessons/07_layer_norm --impl solution    solution.py
    pytest lessons/07_layer_norm --impl NAME        the row NAME of mutants.py, a plausible wrong answer
    pytest lessons --impl mutants                   every wrong answer (used by tinyvit's own tests)
        --answers FOLDER                            every answer in FOLDER/NN_topic/ instead
    pytest lessons/07_layer_norm --tb=long          pytest's own report, with tracebacks

A function that still raises NotImplementedError is "to do", not a failure. What is wrong is shown in one
block, however many checks it fails (faults.py). The puzzle and the gradient check of a lesson are counted
apart. How far you are is kept in pytest's cache, for `python -m lessons.site` to show.
"""

from __future__ import annotations

import functools
import inspect
import io
import json
import re
from collections import Counter
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from lessons.faults import PARTS, Block, blocks
from lessons.mutation import wrong_answers
from lessons.referee import calls, unwritten
from lessons.referee.fingerprint import fingerprint
from lessons.referee.known import Search
from lessons.referee.rerun import differences, rerun, unknown, wanted
from lessons.referee.statics import functions_of, reached
from lessons.start import file_of, load

HERE = Path(__file__).parent
TODO, DONE, WRONG = "to do", "done", "wrong"
MAIN, GRADIENT_CHECK, PUZZLE = PARTS
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
    config.lesson_crashes = {}  # where answers have crashed, and what is known of that


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
    error = call.excinfo and call.excinfo.value
    if isinstance(error, pytest.skip.Exception):
        if call.when == "call":
            item.config.lesson_skipped[item.path.parent.name] = str(error)
        return
    used = item.answer.used if hasattr(item, "answer") else set()
    if isinstance(error, NotImplementedError):
        report.outcome, report.longrepr = "skipped", (str(item.path), 0, f"to do: {error}")
        report.lesson_state, result = TODO, {"message": str(error)}
    elif report.passed:
        report.lesson_state, result = DONE, {"message": ""}
        item.config.lesson_asked[without_answer(item)] = item.answer.asked
    else:
        report.lesson_state = WRONG
        item.config.lesson_caught |= {wrong_answer(item)} - {None}
        result = fault_of(item, call) | {"printed": report.capstdout}
    result = {
        "lesson": item.path.parent.name,
        "check": item.originalname,
        "impl": item.callspec.params["impl"],
        "state": report.lesson_state,
        "functions": sorted(used),
        "part": part_of(item, used),
        "error": name_of(error),
        **result,
    }
    if report.lesson_state == WRONG and item.config.getoption("tbstyle") in ("auto", "no"):
        report.longrepr = Block(result).text()
    item.config.lesson_results.append(result)


def fault_of(item, call):
    """The fault of an answer, for faults.py to show."""
    error, crashes = call.excinfo.value, item.config.lesson_crashes
    where, text, function = told(item, call)
    suspected = suspects(item, error)
    names = crashes.get((item.path, where), [])
    if (item.path, where) not in crashes and looks_for_mistakes(item):
        names = names_of_fault(item, error, suspected)
    if where:
        crashes[item.path, where] = names
    return {
        "message": "\n".join([*([" Or: ".join(names)] if names else []), str(error)]),
        "known": names,
        "text": text,
        "where": where,
        "kind": getattr(error, "kind", "values") if isinstance(error, AssertionError) else "crash",
        "hints": hints_for(item, error, bool(names)),
        "function": function or next(iter(suspected), ""),
        "asks": reached(functions_of(item.answer._module), suspected) if suspected else [],
    }


def wrong_answer(item):
    """The lesson and name of the wrong answer that a check runs on, if all of them are run; else None."""
    if "impl" in item.fixturenames and item.config.getoption("impl") == "mutants":
        return item.path.parent.name, item.callspec.params["impl"]
    return None


def without_answer(item):
    """The path and the name of a check, without the answer that it runs on."""
    return item.path, item.name.replace(f"[{item.callspec.params['impl']}", "[", 1)


@functools.cache
def loaded_once(path):
    """The module of an answer or a solution, for looking at."""
    return loaded(path)


@functools.cache
def is_right(lesson, path, name):
    """True if an answer has under a name what the solution has."""
    files = path, lesson / "solution.py"
    yours, right = (fingerprint(vars(loaded_once(file)).get(name, file)) for file in files)
    return yours == right and yours is not None


def part_of(item, used):
    """The part of a lesson that a check belongs to: the puzzle, the gradient check or the main functions."""
    if item.get_closest_marker("puzzle"):
        return PUZZLE
    return GRADIENT_CHECK if any(name.startswith(("guilty_", "trust_")) for name in used) else MAIN


def told(item, call):
    """The line at which an answer has crashed, what to say of a failed check, and the function of the crash.

    Of an exception that is raised elsewhere, in a check or in the library, the line of the check is told.
    """
    error = call.excinfo.value
    entries = list(reversed(call.excinfo.traceback))
    if isinstance(error, AssertionError) and not is_answer(item, entries[0].path):
        return "", str(error).split("\nassert ")[0], ""  # without what pytest adds to a plain assert
    if isinstance(error, SyntaxError) and error.filename and is_answer(item, error.filename):
        name, code = Path(error.filename).name, (error.text or "").strip()
        where = f"{name}, line {error.lineno}: {code}" if error.lineno else name
        return where, f"{name} cannot be read as Python: {error.msg}", ""
    inside = [each for each in entries if is_answer(item, each.path)]
    outside = [each for each in entries if Path(each.path) == item.path]
    text = f"{type(error).__name__}: {error}"
    if not (inside or outside):
        return "", text, ""
    entry = (inside or outside)[0]
    where = f"{Path(entry.path).name}, line {entry.lineno + 1}: {str(entry.statement).strip()}"
    return where, text, next((each.name for each in inside if each.name.isidentifier()), "")


def suspects(item, error):
    """The functions that a check has used, those first that are most likely at fault."""
    if not hasattr(item, "answer"):
        return []  # the file cannot be imported
    latest = list(reversed(calls.RECENT))
    functions = latest + sorted(item.answer.used - set(latest))
    if name := getattr(error, "name", ""):
        functions.sort(key=lambda function: ("backward" in function) != name.startswith("d"))
    return functions


def names_of_fault(item, error, functions):
    """The mistakes that the answer may have made, in words, if a known one fails as it has failed."""
    if isinstance(error, SLIPS) or not hasattr(item, "answer"):
        return []  # the message says it, or the file cannot be imported
    if any(name.startswith("guilty_") for name in item.answer.used):
        return []  # a mistake that names the suspect as the learner does would say whether that is right
    searches, answer = item.config.lesson_searches, answer_of(item)
    if answer not in searches:
        checks = {each.nodeid: each for each in item.session.items if is_run_on(each, answer)}
        checks = {name: functools.partial(run_on, each) for name, each in checks.items()}
        searches[answer] = Search(item.path.parent, item.answer._module, checks)
    search = searches[answer]
    if item.nodeid not in search.checks:
        return []
    with redirect_stdout(io.StringIO()):  # the answer runs again and again
        names = search.names(item.nodeid, error, functions)
    capital = lambda found: found[0].capitalize()
    sentences = [re.sub(r"^(the|what|only|a (?:minus|not)) ", capital, name) for name in names]
    return [name if name.endswith(".") else f"{name}." for name in sentences]


def is_run_on(item, answer):
    """True if this is a check of this answer that needs nothing else but its parameters."""
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


def is_answer(item, path):
    return Path(path) == answer_of(item)


def pytest_report_teststatus(report, config):
    """Show unsolved checks as "to do"; and wrong ones apart from what pytest repeats in its own report."""
    state = getattr(report, "lesson_state", None)
    if state == TODO:
        return TODO, "·", "TO DO"
    return (WRONG, "F", "WRONG") if state == WRONG and shows_blocks(config) else None


def shows_blocks(config):
    """True if faults are shown in blocks, and not by pytest; other processes (-n) have their results."""
    is_asked = config.getoption("tbstyle") == "auto" and config.getoption("impl") != "mutants"
    return is_asked and config.getoption("dist", "no") == "no"


def pytest_terminal_summary(terminalreporter, exitstatus, config):
    """A block for each fault; a line for each lesson: how many checks are done, wrong, or still to do."""
    if shows_blocks(config):
        texts = [block.text(colour=terminalreporter.hasmarkup) for block in blocks(config.lesson_results)]
        for text in texts:
            terminalreporter.write_line(f"\n{text}")
        if texts:
            terminalreporter.write_line("")
    lessons: dict[str, dict[str, Counter]] = {}
    for result in config.lesson_results:
        parts = lessons.setdefault(result["lesson"], {})
        parts.setdefault(result["part"], Counter())[result["state"]] += 1
    progress = {}
    if lessons and config.getoption("impl") != "mutants":
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
    """True if some checks of the lessons that were asked for did not run: their counts would mislead."""
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
