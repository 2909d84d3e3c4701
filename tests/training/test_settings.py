"""Settings are read back as they were written; whatever else a file holds is named."""

import argparse
import json
import math
import re
import sys
from dataclasses import MISSING
from typing import get_type_hints

import numpy as np
import pytest

from tinyvit.data.plan import Change
from tinyvit.flags import add_flags
from tinyvit.model import preset
from tinyvit.support.errors import UserError, one_line
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import FitSettings, Group, Settings, few_settings, in_groups, table

SETTINGS = Settings(
    dataset="cifar10", model="micro/4", epochs=3, steps=70, lr=0.01, flip=True, weights="B/16", threads=2
)


def written(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def test_settings_of_a_run_are_loaded_from_its_config(tmp_path):
    run = RunFolder(tmp_path / "run")
    run.create(SETTINGS, preset("nano/4", 8, 2), ["a", "b"], 7)
    assert Settings.load(run.config_path) == run.settings() == SETTINGS


def test_settings_are_loaded_from_a_bare_object(tmp_path):
    assert Settings.load(written(tmp_path / "a.json", SETTINGS.as_dict())) == SETTINGS
    few = {"dataset": "shapes", "model": "nano/4", "lr": 1, "threads": None}
    assert Settings.load(written(tmp_path / "b.json", few)) == Settings(
        dataset="shapes", model="nano/4", lr=1.0
    )


def test_positions_are_at_their_usual_place_unless_it_is_given():
    for position, usual in {"1d": "stem", "relative": "blocks", "none": None}.items():
        assert Settings(dataset="shapes", model="nano/4", position=position).position_at == usual
    old = {"dataset": "shapes", "model": "nano/4"}  # from before there was a choice
    settings = Settings.from_dict(old)
    assert (settings.position, settings.position_at) == ("1d", "stem")
    with pytest.raises(UserError, match=r"has '3d' for the setting position, expected one of 1d, 2d"):
        Settings.from_dict(old | {"position": "3d"})
    with pytest.raises(UserError, match=r"has 'imagenet' for the setting dataset, expected one of shapes"):
        Settings.from_dict(old | {"dataset": "imagenet"})


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "7", "{}", {"settings": {}}, {"settings": 3}])
def test_a_file_without_settings_says_what_was_expected(tmp_path, content):
    path = written(tmp_path / "a.json", content)
    with pytest.raises(UserError, match=rf"{re.escape(str(path))} .*expected the config\.json of a run"):
        Settings.load(path)


def test_a_file_that_cannot_be_read_says_so(tmp_path):
    with pytest.raises(UserError, match=r"there is no file .*nowhere"):
        Settings.load(tmp_path / "nowhere")
    (tmp_path / "a.json").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=r"a\.json cannot be read as JSON"):
        Settings.load(tmp_path / "a.json")
    with pytest.raises(UserError, match=r"is a folder, .*: give the file, .*config\.json"):
        Settings.load(tmp_path)


def test_a_mistake_names_the_file(tmp_path):
    path = written(tmp_path / "a.json", {"dataset": "shapes", "model": "nano/4", "colour": 1})
    with pytest.raises(UserError, match=re.escape(f"{path} has settings that this version")):
        Settings.load(path)


def test_names_that_are_unknown_or_missing_are_listed():
    values = SETTINGS.as_dict()
    with pytest.raises(UserError, match=r"config\.json has settings .* does not know: taste, zest\. Use"):
        Settings.from_dict(values | {"taste": 1, "zest": 2})
    with pytest.raises(
        UserError, match=r"know: batchsize \(did you mean batch_size\?\), learning_rate \(did "
    ):
        Settings.from_dict(values | {"learning_rate": 1, "batchsize": 2})
    with pytest.raises(UserError, match=r"is missing the settings model\. "):
        Settings.from_dict({"dataset": "shapes"})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("epochs", "ten", "a whole number, 1 or more"),
        ("epochs", 2.5, "a whole number, 1 or more"),
        ("epochs", True, "a whole number, 1 or more"),
        ("epochs", None, "a whole number, 1 or more"),
        ("augment", "trivial", "one of none, randaugment, autoaugment"),
        ("lr", float("nan"), "a number above 0"),
        ("lr", 10**400, "a number above 0"),
        ("lr", "1e-3", "a number above 0"),
        ("mixup", 10**400, "a number, 0 or more"),
        ("flip", 1, "true or false"),
        ("model", 7, "a string"),
        ("data_dir", False, "a string"),
        ("validation", 1.5, "a whole number, 0 or more, and below 2^31, or a fraction below 1"),
    ],
)
def test_a_value_that_a_setting_cannot_have_is_named(name, value, expected):
    message = one_line(f"config.json has {value!r} for the setting {name}, expected {expected}")
    with pytest.raises(UserError, match=re.escape(message)):
        Settings.from_dict(SETTINGS.as_dict() | {name: value})


def test_a_file_may_hold_a_few_settings_which_are_checked(tmp_path):
    few = {"lr": 0.01, "epochs": 3, "threads": None}
    assert few_settings(written(tmp_path / "a.json", few)) == {"lr": 0.01, "epochs": 3}
    for whole in ({"settings": SETTINGS.as_dict()}, SETTINGS.as_dict()):  # of a run to be repeated
        assert few_settings(written(tmp_path / "a.json", whole)) is None
    for bad, words in (
        ({"learning_rate": 1}, r"a\.json .*know: learning_rate \(did you mean lr\?\)\."),
        ({"lr": 0}, r"a\.json has 0 for the setting lr, expected a number above 0"),
        ({"weights": "B/16"}, r"a\.json has the setting weights, which no flag gives.*finetune"),
    ):
        with pytest.raises(UserError, match=words):
            few_settings(written(tmp_path / "a.json", bad))


MOST_FLOAT, BELOW_1 = sys.float_info.max, math.nextafter(1, 0)
BOUNDS = {
    "width mlp_width heads epochs steps batch_size accumulate": (1, 2**31 - 1),
    "evaluate_every repeats ranks lora patience": (1, 2**31 - 1),
    "crop_padding warmup_steps": (0, 2**31 - 1),
    "image_size resolution": (1, 16_384),
    "layers": (1, 10_000),
    "threads": (1, 256),
    "seed": (0, 2**64 - 1),
    "augment_ops": (1, 16),
    "augment_magnitude": (0.0, 30.0),
    "warmup_epochs": (0.0, 2.0**31 - 1),
    "ema smoothing dropout drop_path corrupt patch_dropout": (0.0, BELOW_1),
    "erase colour_jitter": (0.0, 1.0),
    "fraction layer_decay crop_scale": (5e-324, 1.0),
    "lr lora_alpha": (5e-324, MOST_FLOAT),
    "weight_decay clip mixup cutmix": (0.0, MOST_FLOAT),
}


@pytest.mark.parametrize("names", BOUNDS)
def test_a_setting_may_have_every_value_up_to_its_bounds_and_none_beyond(names):
    smallest, largest = BOUNDS[names]
    if isinstance(smallest, int):
        beyond = smallest - 1, largest + 1
    else:
        beyond = math.nextafter(smallest, -math.inf), math.nextafter(largest, math.inf)
    for name in names.split():
        row = table()[name]
        assert not any(map(row.error, (smallest, largest, np.array(smallest)[()])))
        assert all(map(row.error, beyond))


@pytest.mark.parametrize(
    ("share", "fits"), [(0, True), (BELOW_1, True), (1, True), (1.5, False), (-0.1, False)]
)
def test_validation_is_a_number_of_images_or_a_fraction(share, fits):
    assert bool(table()["validation"].error(share)) == (not fits)


@pytest.mark.parametrize("row", table().values(), ids=table())
def test_a_row_of_the_table_makes_a_setting_a_check_and_a_flag(row):
    """Its default is allowed, nothing of another type is, and its flag takes what it may be, as help says."""
    assert row.default is MISSING or not row.error(row.default)
    assert row.error(b"bytes") == row.error([1]) == row.rule.words
    assert all(row.error(name) == "" for name in row.rule.choices)
    if row.name in ("weights", "ranks"):
        return
    parser = argparse.ArgumentParser(argument_default=argparse.SUPPRESS)
    add_flags(parser, row.name)
    value, flag = example(row), f"--{row.name.replace('_', '-')}"
    words = [flag if value else f"--no-{flag[2:]}"] if bool in row.kinds else [flag, str(value)]
    assert vars(parser.parse_args(words)) == {row.name: value} and not row.error(value)
    assert vars(parser.parse_args([])) == {}
    shown = " ".join(parser.format_help().split())
    assert re.search(r"\(default: .+\)", shown) and (row.default in (None, MISSING) or "None" not in shown)


def example(row):
    """A value of a setting that is not its default."""
    if bool in row.kinds:
        return not row.default
    if row.rule.choices:
        return next(name for name in reversed(row.rule.choices) if name != row.default)
    values = (0.5, 0.25, 3) if float in row.kinds else (3, 2, "a")
    return next(value for value in values if value != row.default and not row.error(value))


def test_the_keywords_of_fit_are_typed_as_the_table_has_them():
    settings = get_type_hints(Settings)
    expected = {name: settings[name] | None for name in in_groups(Group.AUGMENTATION, Group.TRAINING)}
    expected["augment"] |= Change  # a function of the user's has no place in a file of settings
    assert get_type_hints(FitSettings) == expected


def test_settings_that_have_gone_are_passed_over():
    for value in (False, True):
        assert Settings.from_dict(SETTINGS.as_dict() | {"shard_optimizer": value}) == SETTINGS


def test_a_whole_number_will_do_where_any_number_may_stand():
    assert Settings.from_dict(SETTINGS.as_dict() | {"lr": 1, "weight_decay": 0}).lr == 1
