"""The cost of a model is counted from its shape: here it is compared with what is really there."""

import numpy as np
import pytest

from tests.helpers import random_batch, tiny_config
from tinyvit.model import Params, forward, initialise, preset, stages
from tinyvit.model.config import POOLS
from tinyvit.model.cost import (
    activation_bytes,
    multiply_adds,
    parameter_count,
)
from tinyvit.model.later.resnet import (
    ConvolvedCache,
    resnet_activation_bytes,
    resnet_largest_array,
    resnet_multiply_adds,
)
from tinyvit.model.stage import infer_through
from tinyvit.ops import Noise, cross_entropy

RESNET = {"resnet_width": 8, "resnet_groups": 4}
KINDS = {
    "class token": {},
    "mean": {"pool": "mean"},
    "wide image": {"image_size": (8, 12)},
    "one patch": {"patch_size": 8},
    "one head": {"heads": 1},
    "one layer": {"layers": 1},
    "pre-logits": {"pre_logits": 7},
    "exact GELU": {"gelu": "exact"},
    "dropout": {"dropout": 0.1},
    "dropout and mean": {"dropout": 0.1, "pool": "mean", "pre_logits": 3},
    "attention dropout": {"attention_dropout": 0.1},
    "2-D positions in blocks": {"position": "2d", "position_at": "blocks"},
    "sin-cos positions": {"position": "sincos"},
    "relative positions": {"position": "relative", "attention_dropout": 0.1},
    "relative positions, mean": {"position": "relative", "position_at": "shared", "pool": "mean"},
    "stochastic depth": {"drop_path": 0.2, "layers": 4},
    "merged patches": {"layers": 3, "merge_after": 1, "pool": "mean"},
    "merged patches, class token": {"layers": 3, "merge_after": 2, "image_size": (8, 16)},
    "hybrid, root alone": {"image_size": (16, 24), "patch_size": 2, "resnet": (), **RESNET},
    "hybrid, odd sizes": {"image_size": (33, 45), "patch_size": 1, "resnet": (2, 1), **RESNET},
    "hybrid, patches of its map": {"image_size": 64, "patch_size": 2, "resnet": (1, 1, 2), **RESNET},
    "ResNet": {
        **{"image_size": (33, 45), "patch_size": 1, "layers": 0, "heads": 0, "mlp_width": 0, "pool": "mean"},
        **{"width": 64, "position": "none", "resnet": (2, 1), "pre_logits": 5, **RESNET},
    },
    "everything": {"dropout": 0.1, "attention_dropout": 0.1, "drop_path": 0.2, "pre_logits": 9},
}


def buffers(cache):
    """The arrays that own the memory of what is in a cache, by id, views traced to their base."""
    if isinstance(cache, tuple | list):
        return {key: array for part in cache for key, array in buffers(part).items()}
    if not isinstance(cache, np.ndarray):
        return {}
    while cache.base is not None:
        cache = cache.base
    return {id(cache): cache}


def standardised_kernels(cache):
    """The kernels and the factors of their channels, in the caches of a ResNet."""
    if isinstance(cache, ConvolvedCache):
        return cache.standardisation
    parts = cache if isinstance(cache, tuple | list) else ()
    return [kernel for part in parts for kernel in standardised_kernels(part)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
def test_activations_are_the_bytes_that_the_caches_hold(kind, dtype):
    config, count = tiny_config(**KINDS[kind]), 3
    params = initialise(config, dtype=dtype)
    images, labels = random_batch(config, count, np.random.default_rng(0), dtype)
    logits, cache = forward(config, params, images, Noise(0, 1))
    _, loss_cache = cross_entropy(logits, labels)
    held = buffers((cache, loss_cache))
    del held[id(params.flat)]
    for kernel in standardised_kernels(cache):  # held once for all images
        del held[id(kernel)]
    assert sum(array.nbytes for array in held.values()) == count * activation_bytes(
        config, params.flat.itemsize
    )


@pytest.mark.parametrize(
    ("name", "millions", "billions"),
    [
        ("Ti/16", 5.717416, 1.25),
        ("S/16", 22.050664, 4.60),
        ("B/16", 86.567656, 17.56),
        ("L/16", 304.326632, 61.6),
    ],
)
def test_official_models_cost_what_others_found(name, millions, billions):
    config = preset(name, 224, 1000)
    assert parameter_count(config) == round(millions * 1e6)
    assert multiply_adds(config) / 1e9 == pytest.approx(billions, rel=4e-3)


def test_multiply_adds_of_a_model_by_hand():
    config = tiny_config(image_size=8, patch_size=4, width=12, mlp_width=20, heads=3, layers=2, classes=5)
    linear_layers = 5 * (12 * 36 + 12 * 12 + 12 * 20 + 20 * 12)
    attention = 2 * 5 * 5 * 12
    assert multiply_adds(config) == 4 * 48 * 12 + 2 * (linear_layers + attention) + 12 * 5


class Counted(np.ndarray):
    """An array that counts the multiply-adds of matrix products, other than sums written as products."""

    products = 0

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        plain = [each.view(np.ndarray) if isinstance(each, Counted) else each for each in inputs]
        if out is not None:
            options["out"] = tuple(each.view(np.ndarray) for each in out)
        result = getattr(ufunc, method)(*plain, **options)
        if ufunc is np.matmul and min(result.shape[-1], plain[1].shape[-1]) > 1:
            Counted.products += result.size * plain[0].shape[-1]
        return result.view(Counted) if out is None else out[0]


PRODUCTS = [
    {},
    *({"pool": pool, "pre_logits": 7} for pool in POOLS),
    *({"pool": pool, "registers": 2} for pool in POOLS),
    {"pool": "attention", "pool_mlp_width": 9, "pool_heads": 2, "class_token": True, "pool_all": True},
    {"pool": "attention", "class_token": True},
    {"gated": True, "qk_norm": True, "mlp_norm": True},
]
MERGING = [{"layers": 3, "image_size": (8, 16), "merge_after": after} for after in (1, 2)]


@pytest.mark.parametrize(
    "changes",
    [
        *PRODUCTS,
        *(changes | merging for changes in PRODUCTS for merging in MERGING),
        {"predicts": "patches", "pre_logits": 7},
    ],
    ids=str,
)
def test_multiply_adds_are_those_of_the_products_that_are_carried_out(changes):
    config = tiny_config(**changes)
    params = initialise(config)
    params = Params(params.flat.view(Counted), params.rows)
    images, _ = random_batch(config, 1, np.random.default_rng(0), "float32")
    Counted.products = 0
    infer_through(stages(config, all_tokens=True), params, images)
    assert Counted.products == multiply_adds(config)


def test_a_model_that_predicts_patches_has_a_head_for_each_of_them():
    one, four = (tiny_config(pool="mean", predicts=what) for what in ("image", "patches"))  # 4 patches
    assert multiply_adds(four) - multiply_adds(one) == 3 * 12 * 5
    assert activation_bytes(four) - activation_bytes(one) == 4 * 3 * (12 + 2 * 5)


def test_a_resnet_on_its_own_costs_its_convolutions_and_its_head():
    config = tiny_config(**KINDS["ResNet"])
    assert multiply_adds(config) == resnet_multiply_adds(config) + 64 * 5 + 5 * 5


def test_the_largest_array_of_a_resnet_by_hand():
    """The windows of the root, where there are few channels, or else those of a unit."""
    few, many = (
        tiny_config(image_size=(16, 24), patch_size=1, resnet=(1,), resnet_width=width, resnet_groups=4)
        for width in (8, 128)
    )
    assert resnet_largest_array(few) == 7 * 7 * 3 * (8 * 12)
    assert resnet_largest_array(many) == 3 * 3 * 128 * (4 * 6)
    assert resnet_largest_array(tiny_config()) == 0


def test_numbers_have_four_bytes_unless_said_otherwise():
    config = tiny_config(**KINDS["hybrid, odd sizes"])
    for count in (activation_bytes, resnet_activation_bytes):
        assert count(config) == count(config, 4)


def test_the_cost_of_relative_positions_by_hand():
    config = tiny_config(image_size=8, patch_size=4, width=12, heads=3, layers=2)
    relative = tiny_config(image_size=8, patch_size=4, width=12, heads=3, layers=2, position="relative")
    offsets, head_width = 9, 4  # of 5 tokens
    assert multiply_adds(relative) - multiply_adds(config) == 2 * 3 * (5 * offsets * head_width)
    without_table = parameter_count(config) - 5 * 12
    assert parameter_count(relative) - without_table == 2 * offsets * head_width


def test_parameters_of_positions_by_hand():
    without = parameter_count(tiny_config(image_size=(8, 12), position="none"))
    for kind, at, numbers in (
        ("1d", "stem", 7 * 12),
        ("1d", "blocks", 2 * 7 * 12),
        ("2d", "shared", (2 + 3) * 6),
        ("sincos", "stem", 0),
        ("relative", "shared", 13 * 4),
    ):
        config = tiny_config(image_size=(8, 12), position=kind, position_at=at)
        assert parameter_count(config) - without == numbers
