"""`python -m tinyvit.bench --tricks`: every trick is there, and has the result of the plain way."""

import json
from dataclasses import replace

import pytest

from tests.tiny_runs import enter
from tinyvit import bench
from tinyvit.benchmark import tricks, tricks_table
from tinyvit.benchmark.case import Case

SMALL = ("--tricks", "--model", "nano/8", "--rounds", "1")
PARTS = ("GELU", "LayerNorm", "attention between", "last block", "dW +=", "x +=", "bias", "block")


def test_the_table_has_every_trick_with_the_result_of_the_plain_way(capsys, monkeypatch):
    status, out, err = enter(bench, capsys, monkeypatch, *SMALL, "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    assert len(result["tricks"]) == len(PARTS)
    for row, part in zip(result["tricks"], PARTS, strict=True):
        assert part in row["name"]
        assert row["difference"] < 1e-5, row
        assert min(row["plain_ms"], row["engine_ms"], row["times_as_fast"]) > 0
    text = tricks_table.table(result)
    assert [line for line in text.splitlines() if f"{result['tricks'][0]['plain_ms']:.3f}" in line]
    assert all(row["name"] in text for row in result["tricks"])


def test_a_model_without_a_class_token_has_no_trick_for_it():
    config = replace(Case("nano/8", 32, 1, "train", 1).config, pool="mean")
    assert [trick.name for trick in tricks.tricks(config)[0] if "last block" in trick.name] == []


def test_a_wrong_result_shows_as_a_difference(monkeypatch):
    right = tricks.attend

    monkeypatch.setattr(tricks, "attend", lambda *args: 1.01 * right(*args))
    rows = tricks_table.measure(Case("nano/8", 32, 1, "train", 1), 1)["tricks"]
    assert [row["name"] for row in rows if row["difference"] > 1e-3] == ["attention between its matrices"]


def test_a_model_without_transformer_blocks_is_one_line(capsys, monkeypatch):
    status, _, err = enter(bench, capsys, monkeypatch, "--tricks", "--model", "resnet-nano")
    assert (status, err.count("\n")) == (2, 1)
    assert "Transformer blocks" in err


@pytest.mark.parametrize(
    "flags",
    [("--device", "gpu"), ("--mode", "infer"), ("--ranks",), ("--predict", "T4"), ("--batch-size", "8")],
    ids=" ".join,
)
def test_flags_that_do_not_go_with_it_are_one_line(capsys, monkeypatch, flags):
    status, _, err = enter(bench, capsys, monkeypatch, *SMALL, *flags)
    assert (status, err.count("\n")) == (2, 1)
    assert "--tricks" in err
