"""The doors as a user opens them: help, endings, and one line for every mistake."""

import argparse
import re
import shutil
import sys

import pytest

from tests.tiny_runs import assert_same_run, spawn, tiny
from tinyvit import (
    bench,
    compare,
    evaluate,
    export,
    fewshot,
    finetune,
    gradcheck,
    info,
    predict,
    train,
    visualize,
)
from tinyvit.shell.command import make_parser, run_command

DOORS = (train, finetune, evaluate, compare, predict, fewshot, visualize, info, export, gradcheck, bench)


# Help.


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_help_explains_every_flag(go, door):
    status, out, err = go(door, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: {door.__name__} ")
    for action in door.parser()._actions:
        assert action.help and action.help != argparse.SUPPRESS, action.option_strings
        assert all(option in out for option in action.option_strings)


@pytest.mark.parametrize(
    "name", ["train", "finetune", "evaluate", "compare", "predict", "fewshot", "info", "gradcheck"]
)
def test_each_door_is_a_program(name):
    process = spawn(name, "--help")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.startswith(f"usage: tinyvit.{name}")


# How a door closes.


def a_door(main):
    """A door without flags that does what main does."""
    return argparse.Namespace(__name__="door", parser=lambda: make_parser("door", ""), main=main)


def raising(error):
    def main(args):
        raise error

    return main


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (PermissionError(13, "Permission denied", "a/b"), "tinyvit.door: error: a/b: Permission denied\n"),
        (OSError(28, "No space left"), "tinyvit.door: error: No space left\n"),
        (OSError("odd"), "tinyvit.door: error: odd\n"),
        (
            MemoryError("Unable to allocate 9 TiB"),
            "tinyvit.door: error: not enough memory: Unable to allocate 9 TiB. "
            "Try a smaller --batch-size, --resolution or model.\n",
        ),
    ],
)
def test_what_the_machine_refuses_is_one_line(go, error, line):
    assert go(a_door(raising(error))) == (2, "", line)


def test_ctrl_c_at_any_time_is_no_traceback(go):
    assert go(a_door(raising(KeyboardInterrupt()))) == (130, "", "\ntinyvit.door: interrupted\n")


def test_a_bug_is_not_hidden(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["door"])
    with pytest.raises(ZeroDivisionError):
        run_command(make_parser("door", ""), raising(ZeroDivisionError()))


def test_what_the_terminal_cannot_show_is_no_reason_to_stop(photos, tmp_path):
    for old, new in (("red", "красный"), ("blue", "bleu foncé")):
        shutil.copytree(photos / old, tmp_path / "photos" / new)
    run = tmp_path / "прогон"
    for name, *argv in (("train", *tiny(tmp_path / "photos", run, "--epochs", "1")), ("evaluate", run)):
        process = spawn(name, *argv, encoding="ascii")
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
    assert "???????  " in out


def test_a_reader_that_has_seen_enough_ends_it_quietly(photos, tmp_path):
    process = spawn("train", *tiny(photos, tmp_path / "run", "--epochs", "50"))
    assert process.stdout.readline().startswith("tinyvit")
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert process.stderr.read() == ""
    process.stderr.close()


# Devices.


def test_a_gpu_that_is_not_there_is_one_line_and_no_obstacle(go, photos, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)  # import cupy fails
    assert go(train, *tiny(photos, tmp_path / "cpu", "--epochs", "1"))[0] == 0
    status, out, err = go(train, *tiny(photos, tmp_path / "gpu", "--epochs", "1", "--device", "gpu"))
    assert (status, err) == (0, "")
    note, header, *_ = out.splitlines()
    assert re.fullmatch(r"no GPU used: CuPy is not installed.*pip install.*Going on with NumPy\.", note)
    assert header.startswith("tinyvit")
    assert_same_run(tmp_path / "gpu", tmp_path / "cpu")
