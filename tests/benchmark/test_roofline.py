"""The roofline of a GPU: bytes and multiply-adds are those counted by hand, and nothing is faster than it."""

import json
from dataclasses import replace

import pytest

from tests.tiny_runs import assert_one_line
from tinyvit import bench
from tinyvit.benchmark.roofline import CARDS, by_kind, card_in, card_named, least_seconds, plan_of
from tinyvit.model import preset
from tinyvit.model.cost import multiply_adds

H200 = card_named("H200")
TI = preset("Ti/4", 32, 10)


def step_named(plan, label):
    (found,) = [step for step in plan.steps if step.label == label]
    return found


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("CuPy on NVIDIA H200", "H200"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("Tesla T4", "T4"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA L40S", None),
        ("NVIDIA H100 PCIe", None),
        ("NVIDIA A100-SXM4-40GB", None),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", None),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", None),
    ],
)
def test_a_card_is_recognised_by_the_drivers_name_and_not_taken_for_a_slower_one(device, name):
    assert getattr(card_in(device), "name", None) == name


def test_a_layer_norm_takes_the_time_of_its_bytes_and_a_product_that_of_its_multiply_adds():
    """512 images of 65 tokens: reads x, the branch and three vectors, writes their sum, y, mean and r."""
    plan, rows = plan_of(TI, 512, "bf16", "train"), 512 * 65
    norm = step_named(plan, "blocks.3.norm1")
    assert norm.bytes_moved == 4 * rows * 192 * 2 + 2 * rows * 4 + 3 * 192 * 4
    assert least_seconds([norm], H200, "bf16") == pytest.approx(norm.bytes_moved / 4.8e12)
    wide = step_named(plan_of(preset("L/16", 224, 10), 512, "bf16", "train"), "blocks.3.h = x W")
    expected = 2 * (512 * 197) * 1024 * 4096 / 989.4e12
    assert least_seconds([wide], H200, "bf16") == pytest.approx(expected)


def test_the_multiply_adds_of_inference_are_those_of_the_model():
    """Mean pooling, since a class token alone leaves most of the last block out of the plan."""
    config = replace(TI, pool="mean")
    plan = plan_of(config, 128, "bf16", "infer")
    assert plan.multiply_adds == pytest.approx(128 * multiply_adds(config), rel=1e-3)


@pytest.mark.parametrize("mode", ["train", "infer"])
def test_the_kinds_are_the_whole_plan(mode):
    plan = plan_of(TI, 128, "tf32", mode)
    kinds = by_kind(plan)
    assert sum(map(len, kinds.values())) == plan.launches
    whole = least_seconds(plan.steps, H200, "tf32")
    assert sum(least_seconds(steps, H200, "tf32") for steps in kinds.values()) == pytest.approx(whole)


def test_the_table_and_the_json_say_the_same(go):
    flags = ("--predict", "rtx-4090", "--batch-size", "512")
    result = json.loads(go(bench, *flags, "--json")[1])
    assert result["images_per_second"] == pytest.approx(512e3 / result["least_ms_per_step"])
    status, out, err = go(bench, *flags)
    assert (status, err) == (0, "") and f"{result['least_ms_per_step']:.3f} ms" in out
    assert all(row["name"] in out for row in result["kernels"]) and "not measured" in out


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (("--predict", "H201"), ("H201", *(card.name for card in CARDS))),
        (("--predict", "T4"), ("T4 cannot multiply in bf16", "--precision")),
        (("--predict", "H200", "--model", "R+Ti/16", "--image-size", "64"), ("convolutions",)),
        (("--predict", "H200", "--vs", "torch"), ("--vs does not go with --predict",)),
    ],
)
def test_what_cannot_be_predicted_is_one_line(go, flags, parts):
    assert_one_line(go(bench, *flags), *parts)
