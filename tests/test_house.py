"""The house: how large each room may be, who may import whom, and what a run of a command enters.

Raise a number only in a commit that gives the reason.
"""

import ast
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

import tinyvit
from tests.tiny_runs import tiny
from tinyvit import train

PACKAGE = Path(tinyvit.__file__).parent
TESTS = Path(__file__).parent
SOURCES = (".py", ".cu", ".cuh", ".js", ".css", ".html")
TOP = "tinyvit"  # the commands, and what `import tinyvit` gives
BUDGET = {  # lines, files; a room imports nothing from the rooms below it
    "support": (2_766, 20),
    "ops": (1_878, 33),
    "model": (3_698, 37),
    "objectives": (270, 3),
    "optim": (939, 12),
    "data": (4_870, 21),
    "engine": (7_296, 60),
    "weights": (4_114, 22),
    "training": (4_751, 24),
    "insight": (5_209, 36),
    TOP: (3_896, 19),
    "gradcheck": (482, 5),
    "bench": (788, 6),
}
ENTRIES = 33  # at the top of the package, with README.md and py.typed
TRAINING_ENTERS, PREDICTION_ENTERS = 92, 47  # files
API_IMPORTS = 145  # modules
BESIDE_SUPPORT = ("tinyvit.backend", "tinyvit.__init__")  # at the top, yet imported by all rooms


def modules():
    """The path of every module, by name; that of a package is its __init__.py."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


MODULES = modules()


def room_of(module):
    """The room of a module; of one at the top, TOP or, for what all rooms import, "support"."""
    parts = module.split(".")
    if len(parts) > 1 and parts[1] in BUDGET:
        return parts[1]
    return "support" if module in (*BESIDE_SUPPORT, "tinyvit") else TOP


def imports(node):
    """The import statements below a node, and whether each is carried out at once, not in a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, True
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        else:
            within = isinstance(child, ast.FunctionDef)
            yield from ((found, at_once and not within) for found, at_once in imports(child))


def imported_by(path, only_at_once=False):
    """The modules of tinyvit that a file imports, except for types."""
    for node, at_once in imports(ast.parse(path.read_text("utf-8"))):
        if only_at_once and not at_once:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "tinyvit":
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "tinyvit")


ARROWS = {(module, target) for module, path in MODULES.items() for target in imported_by(path)}


def test_no_room_is_larger_than_its_budget():
    lines, files = Counter(), Counter()
    for path in PACKAGE.rglob("*"):
        if path.suffix in SOURCES:
            room = path.relative_to(PACKAGE.parent).parts[:-1][:2][-1]
            lines[room] += len(path.read_text("utf-8").splitlines())
            files[room] += 1
    assert lines.keys() == BUDGET.keys()
    weighs = {room: (lines[room], files[room]) for room in BUDGET}
    over = {
        room: pair for room, pair in weighs.items() if pair[0] > BUDGET[room][0] or pair[1] > BUDGET[room][1]
    }
    assert not over, "larger than the budget allows"


def test_the_top_has_few_entries():
    entries = [path for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    assert len(entries) <= ENTRIES


def test_no_room_imports_from_a_room_below_it():
    order = [*BUDGET]
    down = {
        (module, target)
        for module, target in ARROWS
        if order.index(room_of(target)) > order.index(room_of(module))
    }
    assert not down


@pytest.mark.parametrize(
    ("rooms", "prefix"),
    [
        (("training",), "tinyvit.insight"),  # training does not draw
        (("model", "ops", "objectives", "optim"), "tinyvit.engine"),  # a model does not name its engines
        (("ops", "model", "objectives", "optim", "data", "engine", "weights"), "tinyvit.support.shell"),
    ],
)
def test_a_room_knows_nothing_of(rooms, prefix):
    assert not {pair for pair in ARROWS if room_of(pair[0]) in rooms and pair[1].startswith(prefix)}


def test_training_knows_the_terminal_only_where_a_run_is_begun():
    knowing = {pair for pair in ARROWS if room_of(pair[0]) == "training" and ".support.shell" in pair[1]}
    assert {source.removeprefix("tinyvit.training.") for source, _ in knowing} == {
        "session",
        "studies.carry_out",
    }
    assert {target for _, target in knowing} == {"tinyvit.support.shell.progress"}


def test_modules_that_import_each_other_at_once_form_no_circle():
    """Otherwise what works would depend on which of them is imported first."""
    graph = {
        module: set(imported_by(path, only_at_once=True)) - {module, "tinyvit"}
        for module, path in MODULES.items()
        if path.name != "__init__.py"
    }
    done = set()

    def visit(module, path):
        assert module not in path, " -> ".join([*path, module])
        if module not in done:
            for target in graph.get(module, ()):
                visit(target, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())


def test_tests_of_the_library_do_not_import_the_course():
    """Except for what runs CUDA kernels on a CPU, which learners use too."""
    for path in TESTS.rglob("*.py"):
        if path.is_relative_to(TESTS / "lessons"):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = (
                [alias.name for alias in getattr(node, "names", ())] if isinstance(node, ast.Import) else []
            )
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            course = [name for name in names if name.split(".")[0] == "lessons"]
            assert not [name for name in course if not name.startswith("lessons.cuda_on_cpu")], path


def files_entered(act):
    """Number of files of the package with a function that runs while act() does, on any thread."""
    entered = set()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_name != "<module>":
            entered.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len({name for name in entered if Path(name).is_relative_to(PACKAGE)})


def test_a_training_and_a_prediction_enter_few_files(go, photos, tmp_path):
    run, again = tmp_path / "run", tmp_path / "again"
    assert go(train, *tiny(photos, run, "--epochs", "1"))[0] == 0  # all is imported
    assert files_entered(lambda: go(train, *tiny(photos, again, "--epochs", "1"))) <= TRAINING_ENTERS
    photo = next(photos.rglob("*.png"))
    assert files_entered(lambda: tinyvit.load(run).predict(photo)) <= PREDICTION_ENTERS


def test_importing_the_library_imports_few_modules_and_no_terminal():
    code = "import sys, tinyvit.api; print(*(name for name in sys.modules if name.startswith('tinyvit')))"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = imported.stdout.split()
    assert len(names) <= API_IMPORTS
    shell = {name for name in names if name.startswith("tinyvit.support.shell.")}
    assert shell == {"tinyvit.support.shell.start"}  # what ends a command on Ctrl-C
