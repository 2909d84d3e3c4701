"""The model of a GPU's speed: bytes and multiply-adds are those counted by hand, figures make sense."""

import json

import pytest

from tests.tiny_runs import assert_one_line
from tinyvit import bench
from tinyvit.benchmark.speed import price as assumptions
from tinyvit.benchmark.speed.cards import CARDS, card_in, card_named
from tinyvit.benchmark.speed.prediction import part_of, plan_of, predict
from tinyvit.benchmark.speed.price import Matrices, Work, price, work_of
from tinyvit.engine.cuda.launch import Product
from tinyvit.engine.cuda.plan import Options, plan_inference
from tinyvit.model import preset
from tinyvit.model.cost import multiply_adds

H200, T4 = card_named("H200"), card_named("T4")
TI, S = preset("Ti/4", 32, 10), preset("S/4", 32, 10)


def step_named(plan, label):
    (found,) = [step for step in plan.steps if step.label == label]
    return found


def test_the_data_sheets_are_plausible():
    assert len({card.name for card in CARDS}) == len(CARDS)
    for card in CARDS:
        assert 70 <= card.capability <= 100 and 30 <= card.multiprocessors <= 200
        assert card.fp32 <= card.bf16 or not card.bf16
        assert bool(card.bf16) == bool(card.tf32) == (card.capability >= 80)
        assert 64 << 10 <= card.shared_bytes <= 227 << 10
        # reading a card's whole memory takes between 10 and 100 ms, on all of them
        assert 0.01 < card.gigabytes / card.gigabytes_per_second < 0.1
    assert H200.rate("bf16") == pytest.approx(494.7e12) and H200.bandwidth == 4.8e12


@pytest.mark.parametrize("name", ["h200", "RTX 4090", "rtx-4090", "A100"])
def test_a_card_is_found_however_it_is_spelled(name):
    assert card_named(name).name.lower().replace(" ", "-") == name.lower().replace(" ", "-")


def test_a_card_is_recognised_by_the_drivers_name():
    drivers = {
        "CuPy on NVIDIA H200": "H200",
        "NVIDIA A100-SXM4-80GB": "A100",
        "Tesla T4": "T4",
        "NVIDIA H100 80GB HBM3": "H100",
        "NVIDIA L40S": None,
    }
    for device, name in drivers.items():
        assert getattr(card_in(device), "name", None) == name


@pytest.mark.parametrize(
    "device",
    [
        "NVIDIA H100 PCIe",
        "NVIDIA H200 NVL",
        "NVIDIA A100-SXM4-40GB",
        "NVIDIA GeForce RTX 3090 Ti",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
    ],
)
def test_a_card_is_not_taken_for_another_of_nearly_the_same_name(device):
    assert card_in(f"CuPy on {device}") is None


def test_the_bytes_of_a_layer_norm_are_those_counted_by_hand():
    """512 images of 65 tokens: reads x, the branch and three vectors, writes their sum, y, mean and r."""
    step = step_named(plan_of(TI, 512, "bf16", "train"), "blocks.3.norm1")
    rows = 512 * 65
    work = work_of(step)
    assert work.bytes_moved == 4 * rows * 192 * 2 + 2 * rows * 4 + 3 * 192 * 4
    assert work.multiply_adds == 0
    assert work.blocks == rows // 4  # a warp for each row, four in a block
    found = price(work, H200, "bf16")
    assert found.bound == "memory"
    assert found.seconds == pytest.approx(work.bytes_moved / (4.8e12 * 0.8) + 2e-6)
    assert found.roofline == pytest.approx(work.bytes_moved / 4.8e12)


def test_the_price_of_a_product_is_that_computed_by_hand():
    """x W of the MLP: (33,280 x 192) by (192 x 768), in 260 by 6 tiles of 128 x 128."""
    step = step_named(plan_of(TI, 512, "bf16", "train"), "blocks.3.h = x W")
    work = work_of(step)
    assert work.bytes_moved == 2 * (33_280 * 192 + 192 * 768 + 33_280 * 768)
    assert work.multiply_adds == 33_280 * 192 * 768
    waves, one = 12, 128 * 128 * 192 * 132 / (494.7e12 * 0.6)  # 1,560 tiles on 132 multiprocessors
    assert waves * one > work.bytes_moved / (4.8e12 * 0.8)
    assert price(work, H200, "bf16").seconds == pytest.approx(waves * one + 2e-6)


def test_a_product_of_few_tiles_and_long_rows_is_cut_into_parts():
    long = Work(0, 0, Matrices(128, 128, 1 << 20))
    whole = 128 * 128 * 2**20 * 132 / (494.7e12 * 0.6)  # one tile, on one of 132 multiprocessors
    assert whole / 132 < price(long, H200, "bf16").seconds < whole / 20


def test_a_kernel_of_few_blocks_uses_only_a_part_of_the_card():
    few, many = (price(Work(10**9, blocks=n), H200, "bf16").seconds - 2e-6 for n in (33, 132))
    assert few == pytest.approx(4 * many)


def test_small_kernels_are_bound_by_their_launch():
    assert price(Work(1000), H200, "bf16").bound == "launch"


def test_kernels_multiply_float32_exactly_whatever_the_precision_of_products():
    work = Work(0, 10**12)
    assert (
        price(work, H200, "tf32").seconds
        == price(work, H200, "fp32").seconds
        > price(work, H200, "bf16").seconds
    )


@pytest.mark.parametrize("precision", ["fp32", "tf32", "bf16"])
@pytest.mark.parametrize("mode", ["train", "infer"])
def test_the_sums_are_those_of_the_plan(precision, mode):
    plan = plan_of(TI, 128, precision, mode)
    found = predict(TI, 128, precision, mode, H200)
    assert len(found.steps) == found.total.launches == plan.launches
    assert found.total.bytes_moved == plan.bytes_moved
    assert found.total.multiply_adds == plan.multiply_adds
    for rows in (found.steps, found.kinds, found.parts):
        assert sum(row.seconds for row in rows) == pytest.approx(found.total.seconds)
        assert sum(row.bytes_moved for row in rows) == plan.bytes_moved
    assert {row.name for row in found.parts} <= {"attention", "MLP", "stem", "readout", "loss", "update"}
    assert found.total.roofline < found.total.seconds < found.unfused.seconds


def test_every_step_of_any_model_belongs_to_a_part():
    pooled = preset("Ti/4", 32, 10).__class__(
        **{**vars(TI), "pool": "mean", "pre_logits": 64, "dropout": 0.1, "layers": 2}
    )
    steps = plan_of(pooled, 4, "bf16", "train").steps + plan_inference(pooled, 4, Options("bf16")).steps
    assert "other" not in {part_of(step.label) for step in steps}
    assert part_of("blocks.0.mlp.fc1.weight") == "MLP" and part_of("norm.x") == "readout"
    assert part_of("augmentation") == "stem"


@pytest.mark.parametrize("config", [TI, S], ids=["Ti", "S"])
def test_more_images_take_longer_but_less_each(config):
    found = [predict(config, batch, "bf16", "train", H200) for batch in (64, 2048)]
    seconds = [each.total.seconds for each in found]
    assert seconds == sorted(seconds)
    assert [each.images_per_second for each in found] == sorted(each.images_per_second for each in found)
    assert [each.workspace for each in found] == sorted(each.workspace for each in found)


def test_a_card_with_less_of_everything_is_slower():
    by_card = [
        predict(TI, 512, "bf16", "train", card_named(name)).total.seconds for name in ("H200", "H100", "L4")
    ]
    assert by_card == sorted(by_card)


def test_half_the_bytes_are_why_bf16_is_faster():
    bf16, fp32 = (predict(TI, 512, numbers, "train", H200) for numbers in ("bf16", "fp32"))
    assert 0.5 < bf16.total.bytes_moved / fp32.total.bytes_moved < 0.6
    assert bf16.total.seconds < 0.6 * fp32.total.seconds


def test_products_of_the_plan_have_the_multiply_adds_of_the_model():
    plan = plan_of(TI, 8, "bf16", "infer")
    counted = sum(step.multiply_adds for step in plan.steps if isinstance(step, Product))
    N, D = 65, 192
    in_kernels = 12 * 2 * N * N * D  # q k^T and A v
    only_token = (N - 1) * (D * D + 2 * D * 4 * D)  # what the last block leaves out
    assert counted == 8 * (multiply_adds(TI) - in_kernels - only_token)


# The command.


def test_the_table_and_the_json_predict_the_same(go):
    flags = ("--predict", "H200", "--model", "Ti/4", "--batch-size", "512")
    status, out, err = go(bench, *flags, "--json")
    assert (status, err) == (0, "")
    (found,) = json.loads(out)["predictions"]
    assert found["images_per_second"] == pytest.approx(512 / found["seconds"])
    assert len(found["steps"]) == found["total"]["launches"]
    status, out, _ = go(bench, *flags)
    assert status == 0
    assert f"{found['images_per_second']:,.0f} images/s" in out
    assert "predicted from its data sheet, not measured" in out and "Assumed, not measured" in out
    for name in ("bias_gelu_backward", "attention", "product: gradient of W", "workspace", "plain CuPy"):
        assert name in out


def test_batches_are_compared_line_by_line(go):
    status, out, _ = go(bench, "--predict", "L4", "--batch-size", "16", "64", "--mode", "infer")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[3:5]] == ["16", "64"]


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (("--predict", "H2000"), ("H2000", "H200, H100")),
        (("--predict", "T4"), ("T4", "bf16", "--precision")),
        (("--predict", "H200", "--model", "R+Ti/16", "--image-size", "64"), ("convolutions",)),
        (
            ("--predict", "T4", "--precision", "fp32", "--model", "B/16", "--image-size", "224"),
            ("197 tokens",),
        ),
        (("--predict", "H200", "--batch-size", "2000000000"), ("threads", "fewer images at a time")),
        (("--predict", "H200", "--batch-size", "65536"), ("65,536 blocks", "fewer images at a time")),
        (
            ("--predict", "H200", "--model", "L/16", "--batch-size", "30000"),
            ("partial sums", "fewer images at a time"),
        ),
        (("--predict", ""), ("no data sheet",)),
        (("--predict", "H200", "--vs", "torch"), ("--vs", "--predict")),
        (("--compile",), ("--vs torch",)),
        (("--out", "here"), ("--all",)),
        (("--batch-size", "8", "16"), ("--predict",)),
        (("--precision", "bf16"), ("--device gpu",)),
        (("--engine", "cuda"), ("cpu or reference",)),
        (("--all",), ("--device gpu", "--out")),
        (("--device", "gpu", "--breakdown", "3"), ("--breakdown",)),
    ],
)
def test_flags_that_cannot_be_are_one_line(go, flags, parts):
    assert_one_line(go(bench, *flags), *parts)


def test_the_assumptions_are_shares():
    names = ("BANDWIDTH", "MATRIX_RATE", "FLOAT_RATE", "KERNEL_RATE")
    shares = [getattr(assumptions, name) for name in names]
    assert all(0 < share < 1 for share in shares)
