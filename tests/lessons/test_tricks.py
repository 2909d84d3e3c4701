"""`python -m lessons.26_fast_cpu.tricks`: every trick is there, and has the result of the plain way."""

import importlib
from dataclasses import replace

import pytest

from tests.tiny_runs import enter
from tinyvit.bench.timing import Case

tricks = importlib.import_module("lessons.26_fast_cpu.tricks")
PARTS = ("GELU", "LayerNorm", "attention between", "last block", "dW +=", "x +=", "bias", "block")


def test_the_table_has_every_trick_with_the_result_of_the_plain_way():
    result = tricks.measure("nano/8", 32, 1)
    assert len(result["tricks"]) == len(PARTS)
    for row, part in zip(result["tricks"], PARTS, strict=True):
        assert part in row["name"]
        assert row["difference"] < 1e-5, row
        assert min(row["plain_ms"], row["engine_ms"], row["times_as_fast"]) > 0
    text = tricks.table(result)
    assert all(f"{row['name']:33}{row['shapes']}" in text for row in result["tricks"])


def test_a_model_without_a_class_token_has_no_trick_for_it():
    config = replace(Case("nano/8", 32, 1, "train", 1).config, pool="mean")
    assert [trick.name for trick in tricks.tricks(config)[0] if "last block" in trick.name] == []


def test_a_wrong_result_shows_as_a_difference(monkeypatch):
    right = tricks.attend

    monkeypatch.setattr(tricks, "attend", lambda *args: 1.01 * right(*args))
    rows = tricks.measure("nano/8", 32, 1)["tricks"]
    assert [row["name"] for row in rows if row["difference"] > 1e-3] == ["attention between its matrices"]


@pytest.mark.parametrize("words", [("--model", "resnet-nano"), ("--pairs", "0")])
def test_a_mistake_is_told_without_a_traceback(capsys, monkeypatch, words):
    status, _, err = enter(tricks, capsys, monkeypatch, *words)
    assert status == 2 and "Traceback" not in err
