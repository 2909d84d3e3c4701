"""The promises of pyproject.toml: the installed command, what it needs, and files that are not Python."""

import importlib
import re

import pytest

import tinyvit
from tests.tiny_runs import REPOSITORY

PACKAGE = REPOSITORY / "tinyvit"


@pytest.fixture
def pyproject():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 has no reader of TOML")
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))


def names(requirements):
    """The packages that lines of requirements name."""
    return {re.match(r"[\w-]+", line).group() for line in requirements}


def test_the_installed_command_is_the_main_function(pyproject):
    module, _, function = pyproject["project"]["scripts"]["tinyvit"].partition(":")
    assert (
        getattr(importlib.import_module(module), function) is importlib.import_module("tinyvit.__main__").main
    )


def test_numpy_and_pillow_are_all_it_needs(pyproject):
    assert names(pyproject["project"]["dependencies"]) == {"numpy", "pillow"}
    extras = pyproject["project"]["optional-dependencies"]
    assert {extra: names(lines) for extra, lines in extras.items()} == {
        "gpu": {"cupy-cuda12x"},
        "gpu13": {"cupy-cuda13x"},
        "test": {"pytest", "hypothesis"},
        "mpi": {"mpi4py"},
        "photos": {"pillow-heif"},
        "tensorboard": {"tensorboardX"},
        "parquet": {"pyarrow"},
        "onnx": {"onnx", "onnxruntime"},
        "hub": {"huggingface_hub"},
        "words": {"tokenizers"},
        "site": {"markdown-it-py", "mdit-py-plugins", "pygments", "latex2mathml", "pytest"},
        "check": {"ruff", "mypy", "coverage", "mutmut"},
    }


def test_requirements_txt_asks_for_the_same_versions_on_the_same_machines(pyproject):
    lines = (REPOSITORY / "requirements.txt").read_text("utf-8").splitlines()
    asked = {line.strip().replace('"', "'") for line in lines if line and not line.startswith("#")}
    extras = pyproject["project"]["optional-dependencies"]
    assert asked == {*pyproject["project"]["dependencies"], *extras["test"], *extras["gpu"]}
    markers = [extras[name][0].partition(";")[2] for name in ("gpu", "gpu13")]
    assert markers[0] == markers[1]


def test_what_the_tools_are_told_of_exists(pyproject):
    tools, excepted = pyproject["tool"], {"tests.typing.*"}
    for override in tools["mypy"]["overrides"]:
        if not override.get("ignore_missing_imports"):
            excepted |= {
                *([override["module"]] if isinstance(override["module"], str) else override["module"])
            }
    named = {name.removesuffix(".*").replace(".", "/") for name in excepted}
    named |= {*tools["mypy"]["files"], *tools["coverage"]["run"]["source"], *tools["mutmut"]["also_copy"]}
    named |= {name.removesuffix("/*") for name in tools["mutmut"]["only_mutate"]}
    missing = [n for n in named if not ((REPOSITORY / n).exists() or (REPOSITORY / f"{n}.py").exists())]
    assert not missing


def test_the_version_is_written_in_one_place(pyproject):
    assert "version" not in pyproject["project"]
    assert pyproject["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "tinyvit.__version__"}
    assert re.fullmatch(r"\d+\.\d+\.\d+", tinyvit.__version__)


def test_what_is_said_of_versions_agrees(pyproject):
    """The Pythons that are promised are those that hosted CI tries; the version has its changes."""
    promised = [name for name in pyproject["project"]["classifiers"] if ":: 3." in name]
    workflow = (REPOSITORY / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    assert re.findall(r'"(3\.\d+)"[,\]]', workflow) == [name.rpartition(" ")[2] for name in promised]
    assert f">={promised[0].rpartition(' ')[2]}" == pyproject["project"]["requires-python"]
    assert f"\n## {tinyvit.__version__}, " in (REPOSITORY / "CHANGELOG.md").read_text("utf-8")


def test_only_the_librarys_own_names_are_offered():
    assert dir(tinyvit) == sorted(["Model", "ViTClassifier", "__version__", "load", "preset"])


def test_files_that_are_not_python_are_in_the_package(pyproject):
    patterns = pyproject["tool"]["setuptools"]["package-data"]["tinyvit"]
    packed = {path for pattern in patterns for path in PACKAGE.glob(pattern)}
    others = {path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")}
    assert packed == others
    assert PACKAGE / "py.typed" in packed
