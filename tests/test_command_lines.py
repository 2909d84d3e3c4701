"""The commands as a user runs them: what help says, names in any script, and a GPU that is not there."""

import argparse
import importlib
import re
import shutil
import sys

import pytest

from tests.tiny_runs import assert_same_run, spawn, tiny
from tinyvit import train
from tinyvit.__main__ import commands

COMMANDS = [importlib.import_module(f"tinyvit.{name}") for name in commands()]


# Help.


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_help_explains_every_flag(go, command):
    status, out, err = go(command, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: {command.__name__} ")
    for action in command.parser()._actions:
        assert action.help and action.help != argparse.SUPPRESS, action.option_strings
        assert all(option in out for option in action.option_strings)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_a_default_that_help_states_is_the_default(command):
    for action in command.parser()._actions:
        stated = re.search(r"\(default: ([^\s;,)]+)\)", action.help)
        if stated and action.default not in (None, argparse.SUPPRESS):
            assert stated.group(1) == str(action.default), action.option_strings


@pytest.mark.parametrize("name", commands())
def test_each_command_is_a_program(name):
    process = spawn(name, "--help")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.startswith(f"usage: tinyvit.{name}")


def test_names_that_the_terminal_cannot_show_do_not_stop_a_command(photos, tmp_path):
    for old, new in (("red", "красный"), ("blue", "bleu foncé")):
        shutil.copytree(photos / old, tmp_path / "photos" / new)
    run = tmp_path / "прогон"
    for name, *argv in (("train", *tiny(tmp_path / "photos", run, "--epochs", "1")), ("evaluate", run)):
        process = spawn(name, *argv, encoding="ascii")
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
    assert "???????  " in out


# Devices.


def test_a_missing_gpu_is_reported_in_one_line_and_training_continues(go, photos, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)  # import cupy fails
    assert go(train, *tiny(photos, tmp_path / "cpu", "--epochs", "1"))[0] == 0
    status, out, err = go(train, *tiny(photos, tmp_path / "gpu", "--epochs", "1", "--device", "gpu"))
    assert (status, err) == (0, "")
    note, *lines = out.splitlines()
    assert re.fullmatch(r"no GPU can be used: CuPy is .*pip install.*NumPy is used instead\.", note)
    assert any(line.startswith("tinyvit") for line in lines)
    assert_same_run(tmp_path / "gpu", tmp_path / "cpu")
