"""`python -m lessons.13_train_cifar10.run`: it trains by the loop of a file, and says what that is worth."""

import sys
from importlib import import_module

import pytest

from tinyvit.data.shapes import make_shapes

run = import_module("lessons.13_train_cifar10.run")


def ran(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["run", *arguments])
    monkeypatch.setattr(run, "load_dataset", lambda name, folder: make_shapes(train=120, test=30))
    run.main()


def test_the_solution_trains_and_is_tested(monkeypatch, capsys):
    ran(monkeypatch, "--file", "solution", "--model", "nano/8", "--epochs", "2")
    first, *epochs, last = capsys.readouterr().out.splitlines()
    assert first == "nano/8 on shapes: 108 images to train on, 12 held out"
    assert [line.split("   ")[0] for line in epochs] == ["epoch 1/2", "epoch 2/2"]
    assert last.startswith("best epoch, on 30 test images: ")


def test_an_exercise_that_is_not_written_is_no_traceback(monkeypatch, capsys):
    monkeypatch.setattr(run, "is_written", lambda lesson, name: name == "evaluate")
    with pytest.raises(SystemExit) as stopped:
        ran(monkeypatch)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("write evaluate and fit first")
