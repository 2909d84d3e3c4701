"""The commands as a user runs them: what help says, names in any script, and a GPU that is not there."""

import argparse
import importlib
import os
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest
from PIL import Image

import tinyvit
from tests.tiny_runs import assert_one_line, assert_same_run, spawn, tiny
from tinyvit import compare, evaluate, export, in_one_file, info, predict, study, train, visualize
from tinyvit.__main__ import commands
from tinyvit.insight.pictures.sheet import Sheet
from tinyvit.support.errors import _ELSEWHERE
from tinyvit.support.shell.command import Rare, png_path
from tinyvit.training.fit import _BESIDE

COMMANDS = [importlib.import_module(f"tinyvit.{name}") for name in commands()]
SHARING = [command for command in COMMANDS if command is not in_one_file]  # which imports nothing
each_command = pytest.mark.parametrize("command", SHARING, ids=lambda command: command.__name__)


# Help.


@each_command
def test_help_explains_every_flag(go, command):
    status, out, err = go(command, "--help-all")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: python -m {command.__name__} [FLAGS]")
    for action in command.parser()._actions:
        assert action.help and action.help != argparse.SUPPRESS, action.option_strings
        assert all(option in out for option in action.option_strings)


@each_command
def test_help_fits_on_a_screen_and_names_the_rest(go, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    out, everything = go(command, "--help")[1], go(command, "--help-all")[1]
    assert "--help-all" in out and out.count("\n") < 65
    rare = [action for action in command.parser()._actions if isinstance(action.help, Rare)]
    assert (out == everything) == (not rare)


@each_command
def test_every_command_has_the_version(go, command):
    assert go(command, "--version") == (0, f"tinyvit {tinyvit.__version__}\n", "")


def test_common_flags_are_in_help_and_rare_ones_in_help_all(go):
    brief, everything = (go(train, flag)[1] for flag in ("--help", "--help-all"))
    for flag in ("--dataset", "--model", "--lr", "--resume", "--dry-run"):
        assert f"\n  {flag}" in brief and f"\n  {flag}" in everything
    for flag in ("--mixup", "--position-at", "--strict", "--show-augmentation"):
        assert f"\n  {flag}" not in brief and f"\n  {flag}" in everything
    assert "augmentation:" in everything and "augmentation:" not in brief
    assert "SIZE is one of" in everything and "SIZE is one of" not in brief
    assert "(default: 0.001; with sgd, 0.05)" in everything and "(default: 0.001)" in brief


# Suggestions.


@pytest.mark.parametrize(
    ("command", "words", "meant"),
    [
        (train, "--learning-rate 0.1", "--lr?"),
        (train, "--bs=4", "--batch-size?"),
        (train, "--wd 0.1", "--weight-decay?"),
        (train, "--img-size 32", "--image-size?"),
        (train, "--output-dir a", "--out?"),
        (train, "--epoch 3", "--epochs?"),
        (train, "--colour_jitter 1", "--colour-jitter?"),
        (train, "--pretrained", "python -m tinyvit.finetune WEIGHTS?"),
        (train, "--dataset cifar-10", "cifar10?"),
        (train, "--device cuda", "gpu?"),
        (train, "--optimizer adam_w", "adamw?"),
        (train, "--precision bfloat16", "bf16?"),
        (train, "--recipe cpu-8-minute", "cpu-8-minutes?"),
        (train, "--dry-run --model vit_tiny_patch16_224", "Ti/16?"),
        (train, "--dry-run --model nanno/4", "nano/4?"),
        (train, "--dry-run --model tiny", "Ti/16?"),
        (train, "--dry-run --model huge/14", "H/14?"),
        (train, "--patch-size 4", "--model?"),
        (train, "--depth 3", "--layers?"),
        (train, "--augment rand", "randaugment?"),
        (train, "photos", "--dataset folder --data-dir photos?"),
        (train, "--dataset cifar10 photos", "did you mean --data-dir photos?"),
        (train, "run", "--resume run?"),
        (predict, "--pretrained a --arch b c.png", "--weights?"),
        (evaluate, "run photos", "did you mean --data-dir photos?"),
        (info, "Ti_16_384", "Ti_16-384?"),
        (evaluate, "B_16", "ViT-B_16?"),
        (export, "vit_base_patch16_224 a.npz", "ViT-B_16?"),
        (export, "vit_tiny_patch16_224 a.npz", "Ti_16-224?"),
        (study, "scalling", "scaling?"),
    ],
)
def test_what_was_perhaps_meant_is_suggested(go, tmp_path, monkeypatch, command, words, meant):
    monkeypatch.chdir(tmp_path)
    for folder in ("photos", "run"):
        Path(folder).mkdir()
    Path("run/config.json").touch()
    assert_one_line(go(command, *words.split()), f"did you mean {meant.removeprefix('did you mean ')}")


@pytest.mark.parametrize("words", ["--zzz 1", "nowhere", "--dataset zzz", "--dry-run --model zzz"])
def test_nothing_is_suggested_where_nothing_is_near(go, words):
    status, _, err = go(train, *words.split())
    assert status == 2 and "did you mean" not in err


@each_command
def test_a_default_that_help_states_is_the_default(command):
    for action in command.parser()._actions:
        stated = re.search(r"\(default: ([^\s;,)]+)\)", action.help)
        if stated and action.default not in (None, argparse.SUPPRESS):
            assert stated.group(1) == str(action.default), action.option_strings


@pytest.mark.parametrize("name", commands())
def test_each_command_is_a_program(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--help"])
    monkeypatch.delitem(sys.modules, f"tinyvit.{name}")
    with pytest.raises(SystemExit) as leaving:
        runpy.run_module(f"tinyvit.{name}", run_name="__main__")
    assert not leaving.value.code
    assert re.match(rf"usage: (python -m )?tinyvit\.{name} ", capsys.readouterr()[0])


def test_names_that_the_terminal_cannot_show_do_not_stop_a_command(photos, tmp_path):
    for old, new in (("red", "красный"), ("blue", "bleu foncé")):
        shutil.copytree(photos / old, tmp_path / "photos" / new)
    run = tmp_path / "прогон"
    for name, *argv in (("train", *tiny(tmp_path / "photos", run, "--epochs", "1")), ("evaluate", run)):
        process = spawn(name, *argv, encoding="ascii")
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
    assert "???????  " in out


def test_what_other_programs_call_something_stands_for_something_that_exists():
    actions = [action for command in COMMANDS for action in command.parser()._actions]
    names = {option.lstrip("-") for action in actions for option in action.option_strings}
    names |= {str(choice) for action in actions for choice in action.choices or ()} | {*commands()}
    names |= {*tinyvit.__all__, *dir(tinyvit.Model), *tinyvit.Model.__dataclass_fields__, *_BESIDE}
    assert _ELSEWHERE.keys() <= names


# Paths.

PICTURES = [
    pytest.param(command, action.option_strings[0], id=f"{command.__name__} {action.option_strings[0]}")
    for command in COMMANDS
    for action in command.parser()._actions
    if action.type is png_path
]


def test_these_flags_draw():
    assert {picture.id.removeprefix("tinyvit.") for picture in PICTURES} == {
        *(f"{command} --show-augmentation" for command in ("train", "finetune", "pretrain")),
        *("evaluate --confusion", "evaluate --mistakes", "evaluate --reliability", "predict --attention"),
        *("visualize --out", "compare --out"),
    }


@pytest.mark.parametrize(("command", "flag"), PICTURES)
def test_a_picture_never_replaces_the_users_own(go, tmp_path, command, flag):
    photo = tmp_path / "photo.png"
    Image.new("RGB", (20, 20), "red").save(photo)
    before = photo.read_bytes()
    words = flag, "'{photo}' exists", "not a picture drawn by this version of tinyvit", "choose another name"
    assert_one_line(go(command, flag, photo), *(word.format(photo=photo) for word in words))
    assert photo.read_bytes() == before


def test_a_picture_whose_name_is_not_given_replaces_nothing_either(go, trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert go(export, trained, "model.npz")[0] == 0
    for name, *words in (("compare", trained, trained), ("filters", "model.npz", "--only", "filters")):
        command, picture = compare if name == "compare" else visualize, tmp_path / f"{name}.png"
        picture.write_bytes(b"a photo")
        assert_one_line(go(command, *words), f"{name}.png exists", "choose another name with --out")
        assert picture.read_bytes() == b"a photo"
        assert go(command, *words, "--json")[0] == 0  # draws nothing
        picture.unlink()
        assert [go(command, *words)[0] for _ in range(2)] == [0, 0]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes in folders, and lets few users make links")
@pytest.mark.parametrize(
    "make", [Path.mkdir, getattr(os, "mkfifo", None), lambda path: path.symlink_to(path)]
)
def test_a_picture_replaces_nothing_that_cannot_be_read(tmp_path, make):
    path = tmp_path / "a.png"
    make(path)
    with pytest.raises(argparse.ArgumentTypeError, match="exists"):
        png_path(str(path))


def test_a_picture_that_tinyvit_has_drawn_may_be_drawn_again(tmp_path):
    path = tmp_path / "a.png"
    assert png_path(str(path)) == path
    Sheet(10, 10).save(path)
    assert png_path(str(path)) == path


EMPTY = [
    pytest.param(command, flag, id=f"{command.__name__} {flag}")
    for command in COMMANDS
    for flag in ("--out", "--resume", "--data-dir", "--config")
    if flag in command.parser()._option_string_actions and (command, flag) not in [p.values for p in PICTURES]
]


def test_these_flags_take_paths():
    for name in ("train", "finetune", "pretrain"):
        flags = [flag.values[1] for flag in EMPTY if flag.values[0].__name__ == f"tinyvit.{name}"]
        assert flags == ["--out", "--resume", "--data-dir", "--config"]


@pytest.mark.parametrize(("command", "flag"), EMPTY)
def test_an_empty_path_is_not_the_current_folder(go, tmp_path, monkeypatch, command, flag):
    monkeypatch.chdir(tmp_path)
    for words in ((flag, ""), (f"{flag}=",)):
        assert_one_line(go(command, *words), flag, "the path is empty", "give a path")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("compare", ["runs/a", ""]),
        ("evaluate", [""]),
        ("export", ["runs/a", ""]),
        ("export", ["", "a.npz"]),
        ("finetune", [""]),
        ("info", [""]),
        ("predict", ["", "a.png"]),
        ("predict", ["runs/a", ""]),
        ("visualize", [""]),
    ],
)
def test_nor_is_an_empty_argument(go, tmp_path, monkeypatch, command, words):
    monkeypatch.chdir(tmp_path)
    assert_one_line(
        go(importlib.import_module(f"tinyvit.{command}"), *words), "the path is empty", "give a path"
    )


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
