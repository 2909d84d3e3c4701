"""--dry-run: the settings that a run would have and their origins; and a file that holds a few settings."""

import json

import pytest

from tests.tiny_runs import assert_one_line
from tinyvit import finetune, pretrain, train


@pytest.fixture
def dry(go, tmp_path, monkeypatch):
    """dry(COMMAND, flags ...): what --dry-run prints, value and origin of each setting."""
    monkeypatch.chdir(tmp_path)

    def dry(command, *words):
        status, out, err = go(command, "--dry-run", "--device", "cpu", *words)
        assert (status, err) == (0, "")
        *lines, last = out.splitlines()
        assert last.startswith("nothing was trained")
        assert not (tmp_path / "runs").exists() and not (tmp_path / "data").exists()
        return {name: (value, origin) for name, value, origin in (line.split(maxsplit=2) for line in lines)}

    return dry


def test_each_setting_says_where_it_comes_from(dry):
    settings = dry(train, "--dataset", "cifar10", "--lr", "0.5", "--no-flip")
    assert settings["lr"] == ("0.5", "command line") and settings["flip"] == ("False", "command line")
    assert settings["dataset"] == ("cifar10", "command line")
    assert settings["optimizer"] == ("muon", "recipe") and settings["heads"] == ("2", "recipe")
    assert settings["seed"] == ("0", "default") and settings["position_at"] == ("stem", "default")
    assert settings["threads"][1] == "this machine"


def test_a_file_may_hold_a_few_settings(dry, tmp_path):
    (tmp_path / "few.json").write_text(json.dumps({"lr": 0.5, "flip": True, "epochs": 9, "seed": 3}))
    plain, settings = dry(train), dry(train, "--config", "few.json", "--seed", "4", "--steps", "30")
    assert settings["lr"] == ("0.5", "config") and settings["flip"] == ("True", "config")
    assert settings["seed"] == ("4", "command line") and settings["steps"] == ("30", "command line")
    assert "epochs" not in settings  # as many as the steps take
    given = {"lr", "flip", "seed", "steps", "epochs"}
    assert {name: settings[name] for name in settings if name not in given} == {
        name: plain[name] for name in plain if name not in given
    }


def test_settings_of_a_repeated_run_come_from_its_config(dry, trained):
    settings = dry(train, "--config", trained / "config.json", "--lr", "0.5")
    assert settings["lr"] == ("0.5", "command line") and settings["layers"] == ("1", "config")
    assert settings["model"] == ("nano/4", "config")


def test_the_other_commands_that_train_have_it_too(dry, trained):
    assert dry(pretrain)["corrupt"] == ("0.5", "default")
    settings = dry(finetune, trained, "--batch-size", "7")
    assert settings["weights"] == (str(trained), "command line") and settings["optimizer"] == (
        "sgd",
        "recipe",
    )


def test_mistakes_are_one_line(go, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_one_line(
        go(train, "--dry-run", "--resume", "runs/a"), "--dry-run starts no run", "omit one of them"
    )
    assert_one_line(go(train, "--dry-run", "--model", "huge/4"), "unknown model 'huge/4'")
    (tmp_path / "few.json").write_text('{"learning_rate": 1}')
    assert_one_line(go(train, "--config", "few.json"), "few.json", "learning_rate (did you mean lr?)")
    for command, few, said in (
        (train, '{"resolution": 16}', "has resolution, which is not a setting of this command"),
        (finetune, '{"layers": 7}', "has layers, which is not a setting of this command"),
        (finetune, '{"recipe": "cpu-8-minutes"}', "has recipe, which is not a setting of this command"),
        (pretrain, '{"smoothing": 0.1}', "has smoothing, which is not a setting of this command"),
        (train, '{"epochs": 3, "steps": 5}', "has both epochs and steps: give one"),
        (train, '{"warmup_epochs": 1, "warmup_steps": 5}', "has both warmup_epochs and warmup_steps"),
    ):
        (tmp_path / "few.json").write_text(few)
        words = ("Ti_16-384",) if command is finetune else ()
        assert_one_line(go(command, *words, "--config", "few.json"), f"few.json {said}")
    (tmp_path / "few.json").write_text('{"lr": 0}')
    assert_one_line(go(train, "--config", "few.json"), "few.json has 0 for the setting lr", "above 0")
