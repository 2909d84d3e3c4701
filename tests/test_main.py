"""`python -m tinyvit`: it lists the commands, runs them, and helps with a name that is none of them."""

import re
import subprocess
import sys

import pytest

import tinyvit
from tests.tiny_runs import REPOSITORY, tiny
from tinyvit import __main__ as commands_list
from tinyvit import info


@pytest.fixture
def call(capsys, monkeypatch):
    """call(WORDS ...) is `tinyvit WORDS ...`: exit status, stdout, stderr."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["tinyvit", *map(str, words)])
        with pytest.raises(SystemExit) as leaving:
            commands_list.main()
        return leaving.value.code or 0, *capsys.readouterr()

    return call


def test_every_module_that_can_be_run_is_listed_with_one_sentence(call):
    status, out, err = call()
    assert (status, err) == (0, "")
    listed = dict(re.findall(r"^  ([a-z_]+)  +(\S.*)$", out, re.MULTILINE))
    runnable = {
        path.stem
        for path in (REPOSITORY / "tinyvit").glob("[!_]*.py")
        if "__main__" in path.read_text("utf-8")
    }
    runnable |= {path.parent.name for path in (REPOSITORY / "tinyvit").glob("*/__main__.py")}
    assert set(listed) == runnable == set(commands_list.commands())
    assert {"train", "predict", "info"} <= set(listed)
    for name, sentence in listed.items():
        assert re.fullmatch(r"[A-Z].*\.", sentence), (name, sentence)


def test_the_list_tells_how_to_begin_and_to_get_help(call):
    out = call()[1]
    assert "\n  tinyvit train\n" in out
    assert "tinyvit COMMAND --help" in out
    assert call("--help") == call("-h") == call("help") == (0, out, "")


def test_help_may_come_before_the_command(call):
    assert call("help", "train") == call("train", "--help")


@pytest.mark.parametrize("name", commands_list.commands())
def test_a_command_is_described_in_the_list_as_in_its_help(call, name):
    sentence = commands_list.commands()[name]
    assert sentence in call()[1]
    assert sentence in " ".join(call(name, "--help")[1].split())


def test_a_new_command_is_found_without_being_listed(call, tmp_path, monkeypatch):
    (tmp_path / "admire.py").write_text('"""`python -m tinyvit.admire RUN`: admire a run."""\n')
    (tmp_path / "helper.py").write_text('"""What admire needs."""\n')
    monkeypatch.setattr(tinyvit, "__path__", [*tinyvit.__path__, str(tmp_path)])
    listed = commands_list.commands()
    assert listed["admire"] == "Admire a run."
    assert "helper" not in listed
    assert list(listed) == sorted(listed)


def test_a_command_runs_as_it_does_by_itself(call, go):
    for words in (("nano/4",), ("nonsense/4",), ("--classes",)):
        assert call("info", *words) == go(info, *words)
    alone = go(info, "--help")[1]
    assert alone.count("python -m tinyvit.info") > 1
    assert call("info", "--help")[1] == alone.replace("python -m tinyvit.info", "tinyvit info")


def test_a_run_can_be_trained_through_it(call, photos, tmp_path):
    status, _, err = call("train", *tiny(photos, tmp_path / "run", "--epochs", "1"))
    assert (status, err) == (0, "")
    assert (tmp_path / "run" / "last.npz").exists()


@pytest.mark.parametrize(
    ("word", "nearest"),
    [("trian", "train"), ("Train", "train"), ("visualise", "visualize"), ("eval", "evaluate")],
)
def test_a_name_that_is_nearly_right_gets_a_suggestion(call, word, nearest):
    status, out, err = call(word, "--epochs", "3")
    assert (status, out) == (2, "")
    assert err.startswith(f"tinyvit: error: {word} is not a command (did you mean {nearest}?), expected one")
    assert err.count("\n") == 1


@pytest.mark.parametrize("word", ["nonsense", "backend", "model", "__main__", "train.py", ""])
def test_a_name_that_is_wrong_gets_the_list(call, word):
    status, out, err = call(word)
    assert (status, out) == (2, "")
    assert f"tinyvit: error: {word} is not a command" in err
    assert ", ".join(commands_list.commands()) in err
    assert err.count("\n") == 1


def test_a_flag_before_the_command(call):
    status, _, err = call("--dataset", "cifar10")
    assert status == 2
    assert err.startswith(
        "tinyvit: error: expected a command before --dataset, as in tinyvit train --dataset: "
    )


def test_the_version_is_that_of_the_package(call):
    assert call("--version") == (0, f"tinyvit {tinyvit.__version__}\n", "")


def test_listing_imports_neither_a_command_nor_numpy():
    code = (
        "import sys; sys.argv = ['tinyvit']\n"
        "from tinyvit.__main__ import commands\n"
        "names = commands(); assert len(names) > 9\n"
        "print(sorted({'numpy', 'PIL', *(f'tinyvit.{name}' for name in names)} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("[]\n", "")


def test_it_is_a_program():
    result = subprocess.run([sys.executable, "-m", "tinyvit"], cwd=REPOSITORY, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("usage: python -m tinyvit COMMAND")
    assert "\n  python -m tinyvit train\n" in result.stdout
