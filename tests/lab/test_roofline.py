"""The roofline of a GPU: bytes and multiply-adds are those counted by hand, and nothing is faster than it."""

from dataclasses import replace

import pytest

from tests.lab.roofline import CARDS, card_in, card_named, kernels, least_seconds, main, plan_of
from tinyvit.bench.timing import Case
from tinyvit.engine.cuda.plan import Options, plan_inference
from tinyvit.model.cost import multiply_adds
from tinyvit.support.errors import UserError

H200 = card_named("H200")
TI = Case("Ti/4", 32, 512, "train", 1, "bf16", "gpu")


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
    norm, rows = step_named(plan_of(TI), "blocks.3.norm1"), 512 * 65
    assert norm.bytes_moved == 4 * rows * 192 * 2 + 2 * rows * 4 + 3 * 192 * 4
    assert least_seconds([norm], H200, "bf16") == pytest.approx(norm.bytes_moved / 4.8e12)
    wide = step_named(plan_of(replace(TI, model="L/16", image_size=224)), "blocks.3.h = x W")
    expected = 2 * (512 * 197) * 1024 * 4096 / 989.4e12
    assert least_seconds([wide], H200, "bf16") == pytest.approx(expected)


def test_the_multiply_adds_of_inference_are_those_of_the_model():
    """Mean pooling, since a class token alone leaves most of the last block out of the plan."""
    config = replace(TI.config, pool="mean")
    plan = plan_inference(config, 128, Options("bf16"))
    assert sum(step.multiply_adds for step in plan.steps) == pytest.approx(
        128 * multiply_adds(config), rel=1e-3
    )


@pytest.mark.parametrize("mode", ["train", "infer"])
def test_kinds_of_kernels_are_the_whole_plan(mode):
    plan = plan_of(replace(TI, mode=mode, precision="tf32"))
    rows = kernels(plan, "tf32", [1e-6] * plan.launches, H200)
    assert sum(row["launches"] for row in rows) == plan.launches
    assert all(row["seconds"] == pytest.approx(1e-6 * row["launches"]) for row in rows)
    whole = least_seconds(plan.steps, H200, "tf32")
    assert sum(row["least_seconds"] for row in rows) == pytest.approx(whole)
    assert not any("least_seconds" in row for row in kernels(plan, "tf32", None, None))


def test_a_prediction_is_printed_or_refused(capsys):
    main(["--card", "rtx-4090", "--model", "nano/8"])
    assert "not measured" in (out := capsys.readouterr().out) and "bias_gelu_backward" in out
    for flags, part in (
        (("--card", "H201"), CARDS[-1].name),
        (("--card", "T4"), "T4 cannot multiply in bf16"),
        (("--card", "H200", "--model", "R+Ti/16"), "convolutions"),
    ):
        with pytest.raises(UserError, match=part):
            main(flags)
