"""The lessons keep their promises: exercises are to do, solutions pass, mutants are caught, text runs."""

import contextlib
import io
import json
import re
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LESSONS = sorted(path.parent for path in (ROOT / "lessons").glob("*/README.md"))
NAMES = [lesson.name for lesson in LESSONS]

# Which lesson derives the equations of a file. Every file in tinyvit/ops must be here.
DERIVED_IN = {
    "tinyvit/ops/softmax.py": "02_softmax_cross_entropy",
    "tinyvit/ops/cross_entropy.py": "02_softmax_cross_entropy",
    "tinyvit/ops/linear.py": "04_linear",
    "tinyvit/ops/gelu.py": "05_gelu_mlp",
    "tinyvit/ops/erf.py": "05_gelu_mlp",
    "tinyvit/ops/mlp.py": "05_gelu_mlp",
    "tinyvit/ops/layer_norm.py": "06_layer_norm",
    "tinyvit/ops/patches.py": "07_patches",
    "tinyvit/ops/embedding.py": "08_embeddings",
    "tinyvit/ops/attention.py": "10_multi_head",
    "tinyvit/model/block.py": "11_block",
    "tinyvit/ops/pooling.py": "12_vit",
    "tinyvit/ops/tanh.py": "12_vit",
    "tinyvit/optim/sgd.py": "13_optimisers",
    "tinyvit/optim/adam.py": "13_optimisers",
    "tinyvit/optim/clip.py": "13_optimisers",
    "tinyvit/optim/schedule.py": "13_optimisers",
    "tinyvit/ops/dropout.py": "15_data",
    "tinyvit/ops/drop_path.py": "15_data",
    "tinyvit/analysis/filters.py": "17_look_inside",
    "tinyvit/analysis/position_similarity.py": "17_look_inside",
    "tinyvit/ops/resize.py": "21_pretrained",
    "tinyvit/analysis/few_shot.py": "21_pretrained",
}
WITHOUT_EQUATIONS = {"tinyvit/ops/__init__.py", "tinyvit/ops/noise.py"}


def run_lessons(impl, folder):
    """Run all lessons' checks on one implementation; the result of every check, and what was printed."""
    report = folder / f"{impl}.json"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "lessons",
        "--impl",
        impl,
        "--lesson-report",
        str(report),
        "-p",
    ]
    start = time.perf_counter()
    done = subprocess.run([*command, "no:cacheprovider"], cwd=ROOT, capture_output=True, text=True)
    return json.loads(report.read_text()), done, time.perf_counter() - start


@pytest.fixture(scope="module")
def unsolved(tmp_path_factory):
    return run_lessons("exercise", tmp_path_factory.mktemp("unsolved"))


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    return run_lessons("solution", tmp_path_factory.mktemp("solved"))


@pytest.fixture(scope="module")
def mutants(tmp_path_factory):
    return run_lessons("mutants", tmp_path_factory.mktemp("mutants"))


def test_unsolved_exercises_are_to_do_and_not_a_failure(unsolved):
    results, done, _ = unsolved
    assert {result["lesson"] for result in results} == set(NAMES)
    wrong = [r for r in results if (r["state"], r["error"]) != ("to do", "NotImplementedError")]
    assert wrong == []
    assert done.returncode == 0, done.stdout
    for name in NAMES:
        assert re.search(rf"{name} +\[ +\]  0 of", done.stdout), f"no line of progress for {name}"


def test_solutions_pass(solved):
    results, done, _ = solved
    assert {result["lesson"] for result in results} == set(NAMES)
    assert [result for result in results if result["state"] != "done"] == []
    assert done.returncode == 0, done.stdout


def test_every_wrong_answer_is_caught_by_an_assertion(mutants):
    caught, crashed = set(), []
    for result in mutants[0]:
        if result["state"] == "wrong":
            if result["error"] == "AssertionError":
                caught.add((result["lesson"], result["impl"]))
            else:
                crashed.append(result)
    assert crashed == []
    present = {(path.parents[1].name, path.stem) for path in ROOT.glob("lessons/*/mutants/*.py")}
    assert present - caught == set()


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_a_lesson_has_all_its_parts(lesson):
    for part in ("README.md", "exercise.py", "solution.py", "test_lesson.py", "figures/draw.py"):
        assert (lesson / part).is_file(), f"{lesson.name}/{part} is missing"
    assert len(list(lesson.glob("mutants/*.py"))) >= 3
    exercise = (lesson / "exercise.py").read_text("utf-8")
    assert 1 <= exercise.count("raise NotImplementedError(") <= 3
    text = (lesson / "README.md").read_text("utf-8")
    assert f"pytest lessons/{lesson.name}" in text
    words = len(re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.DOTALL).split())
    assert 600 <= words <= 1700, f"{words} words"


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_the_python_blocks_run_and_print_what_the_text_says(lesson, monkeypatch, tmp_path):
    """Blocks run in order in one namespace; a ```text block right after one is what it prints."""
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "lesson"}
    blocks = re.findall(
        r"^```python\n(.*?)^```\n(?:```text\n(.*?)^```)?",
        (lesson / "README.md").read_text("utf-8"),
        re.M | re.S,
    )
    assert blocks
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(lesson / "README.md"), "exec"), namespace)
        assert printed.getvalue() == expected, code


@pytest.mark.parametrize(
    "page", [*ROOT.glob("*.md"), *ROOT.glob("lessons/**/*.md")], ids=lambda p: str(p.relative_to(ROOT))
)
def test_links_and_figures_resolve(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if not target.startswith(("http://", "https://", "#")):
            assert (page.parent / target.split("#")[0]).exists(), f"{target} does not exist"


def test_every_operation_is_derived_in_a_lesson_with_the_same_equation_numbers():
    files = {str(path.relative_to(ROOT).as_posix()) for path in (ROOT / "tinyvit/ops").glob("*.py")}
    assert files - set(DERIVED_IN) == WITHOUT_EQUATIONS
    shared = defaultdict(list)
    for file, lesson in DERIVED_IN.items():
        shared[lesson].append(file)
    for file, lesson in DERIVED_IN.items():
        docstring = (ROOT / file).read_text("utf-8").split('"""')[1]
        numbers = set(re.findall(r" \((\d+)\)$", docstring, re.M))
        assert numbers, file
        prefix = f"{Path(file).stem} ".replace("_", " ") if len(shared[lesson]) > 1 else ""
        text = (ROOT / "lessons" / lesson / "README.md").read_text("utf-8")
        missing = {n for n in numbers if rf"\tag{{{prefix}{n}}}" not in text}
        assert not missing, f"{lesson} lacks equations {sorted(missing)} of {file} (as \\tag{{{prefix}N}})"


def test_comments_in_the_operations_refer_to_equations_that_exist():
    for path in [*(ROOT / "tinyvit/ops").glob("*.py"), *(ROOT / "tinyvit/optim").glob("*.py")]:
        _, docstring, code = path.read_text("utf-8").split('"""', 2)
        numbers = set(re.findall(r" \((\d+)\)$", docstring, re.M))
        for reference in re.findall(r"# .*?eqs?\. ([\d, ]+)", code):
            assert {n.strip() for n in reference.split(",")} <= numbers, f"{path.name}: eq. {reference}"


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_formulas_survive_markdown(lesson):
    """A backslash before punctuation is an escape for Markdown, which eats it before the formula is set."""
    text = re.sub(r"```.*?```", "", (lesson / "README.md").read_text("utf-8"), flags=re.DOTALL)
    assert re.findall(r"\$[^$]*\\[,;:!{}_|*#%&][^$]*\$", text) == []
