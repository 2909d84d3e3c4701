"""Odd values of flags end in one line: those that once ended in a traceback, and others drawn at random."""

import pytest

from tests.fuzz.flags import call, fuzz
from tests.tiny_runs import tiny
from tinyvit import bench, info, pretrain, train
from tinyvit.model import ViTConfig, preset

LONG = "9" * 400


@pytest.mark.parametrize(
    ("flag", "value", "said"),
    [
        ("--steps", str(2**31), "is not a whole number, 1 or more, and below 2^31"),
        ("--steps", LONG, "is not a whole number, 1 or more, and below 2^31"),
        ("--width", str(2**31), "is not a whole number"),
        ("--width", str(2**31 - 1), "is not divisible by 4 heads"),
        ("--width", str(2**31 - 4), "not enough memory"),
        ("--mlp-width", "9" * 5000, "is not a whole number, 1 or more"),
        ("--layers", str(2**31), "is not a whole number from 1 to 10,000"),
        ("--image-size", str(2**31), "is not a whole number from 1 to 16,384"),
        ("--warmup-epochs", "1e308", "is not a number, 0 or more, and below 2^31"),
        ("--warmup-epochs", "1e400", "is not a number, 0 or more"),
        ("--lr", LONG, "is not a number above 0"),
        ("--seed", LONG, "is not a whole number, 0 or more, and below 2^64"),
        ("--model", "nano/" + "9" * 5000, "unknown model 'nano/999"),
        ("--model", "nano/" + "9" * 9, "smaller than one patch"),
        ("--threads", "257", "is not a whole number from 1 to 256"),
        ("--position=--", "--flip", "argument --position: expected one argument"),
    ],
)
@pytest.mark.parametrize("command", [train, pretrain])
def test_a_number_beyond_all_use_is_refused(photos, tmp_path, command, flag, value, said):
    words = [
        word for word in tiny(photos, tmp_path / "run") if flag != "--steps" or word not in ("--epochs", "3")
    ]
    ending = call(command, [*words, flag, value], seconds=60)
    assert ending.kind == "refused" and said in ending.shown, ending
    assert not (tmp_path / "run").exists()


def test_a_batch_beyond_all_memory_is_one_line():
    words = ["--model", "nano/4", "--batch-size", str(2**31 - 1), "--image-size", "16384", "--threads", "1"]
    ending = call(bench, words, seconds=60)
    assert ending.kind == "refused" and "not enough memory" in ending.shown, ending


def test_a_model_too_large_for_any_card_is_described_all_the_same():
    assert call(info, ["nano/4", "--classes", "1000000000"], seconds=60).kind == "done"


@pytest.mark.parametrize("changes", [{"layers": 10_001}, {"classes": 2**31}, {"image_size": 65_536}])
def test_a_model_has_limits_too(changes):
    with pytest.raises(ValueError, match="expected at most"):
        preset("nano/4", **({"image_size": 8, "classes": 3} | changes))
    with pytest.raises(ValueError, match="expected at most"):
        fields = preset("resnet-nano", 32, 3).as_dict()
        ViTConfig(**(fields | {"resnet": (10_000, 1)}))


def test_odd_values_drawn_at_random_end_in_success_or_one_line():
    """Some of them; `python -m tests.fuzz.flags` makes thousands."""
    faults = [ending for ending in fuzz(calls=60, seed=7, seconds=60, only="info") if ending.is_fault]
    assert not faults, faults
