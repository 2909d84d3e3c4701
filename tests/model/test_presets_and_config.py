import json
import re
from dataclasses import fields
from math import prod

import numpy as np
import pytest

from tests.helpers import FIELDS_DRAWN, tiny_config
from tinyvit.model import (
    OFFICIAL,
    SMALL,
    ViTConfig,
    initialise,
    is_preset,
    is_resnet,
    layout,
    preset,
    usual_name,
)
from tinyvit.model.cost import multiply_adds
from tinyvit.support.errors import UserError
from tinyvit.support.limits import LARGEST, MOST_LAYERS, MOST_PIXELS

# at 224 px and 1000 classes, with a class token
PARAMETERS = {
    "Ti/16": 5_717_416,
    "S/16": 22_050_664,
    "S/32": 22_878_952,
    "B/8": 86_576_872,
    "B/16": 86_567_656,
    "B/32": 88_224_232,
    "L/16": 304_326_632,
    "L/32": 306_535_400,
    "H/14": 632_045_800,
    "R+Ti/16": 6_337_704,
    "R26+S/32": 36_431_912,
    "R26+B/32": 101_383_976,
    "R50+B/16": 98_659_112,
    "R50+L/32": 328_994_856,
    "resnet-26": 15_995_176,
    "resnet-50": 25_557_032,  # as of any ResNet-50 with as many norms
}


def count(config):
    return sum(prod(row.shape) for row in layout(config))


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_preset_has_exactly_the_parameters_of_the_official_model(name):
    assert count(preset(name, 224, 1000)) == PARAMETERS[name]


def test_the_mean_pooled_base_model_has_no_class_token_and_no_position_for_it():
    assert count(preset("B/16", 224, 1000, pool="mean")) == 86_566_120


def test_pre_logits_adds_one_layer_and_the_head_reads_it():
    plain, extra = preset("Ti/16", 224, 10), preset("Ti/16", 224, 10, pre_logits=64)
    assert count(extra) - count(plain) == (192 * 64 + 64) + (64 * 10) - (192 * 10)


def test_every_listed_model_can_be_made():
    assert {name.lower() for name in PARAMETERS} == set(OFFICIAL)
    for name in SMALL:
        assert 100_000 < count(preset(name, 32, 10)) < 4_000_000


@pytest.mark.parametrize("name", ["b/16", "B/16", "vit-b/16", "ViT-B_16", "ViT-B/16", "vit_b-16", " B/16\n"])
def test_a_model_is_found_however_its_name_is_spelled(name):
    assert preset(name, 224, 1000) == ViTConfig(224, 16, 768, 3072, 12, 12, 1000)


@pytest.mark.parametrize(
    "name", ["R26+S/32", "r26+s/32", "R26+ViT-S_32", "R26_S_32", "R26+ViT-S/32", "r26_vit_s-32"]
)
def test_a_hybrid_is_found_however_its_name_is_spelled(name):
    assert preset(name, 224, 1000) == ViTConfig(224, 1, 384, 1536, 6, 12, 1000, resnet=(2, 2, 2, 2))
    assert usual_name(name) == "R26+S/32"


# As in the official configs: the grid of patches at 224 px, and the side of a patch in pixels.
@pytest.mark.parametrize(
    "name, grid, pixels",
    [("R+Ti/16", 7, 32), ("R26+S/32", 7, 32), ("R26+B/32", 7, 32), ("R50+B/16", 14, 16), ("R50+L/32", 7, 32)],
)
def test_a_hybrid_has_the_tokens_of_the_official_one(name, grid, pixels):
    config = preset(name, 224, 1000)
    assert (config.grid, config.tokens) == ((grid, grid), grid * grid + 1)
    assert config.pixels_per_patch == pixels


def test_the_root_halves_an_image_twice_and_every_stage_but_the_first_once_more():
    for resnet, expected in {
        None: (45, 64, 3),
        (): (12, 16, 64),
        (3,): (12, 16, 256),
        (3, 4): (6, 8, 512),
        (3, 4, 9): (3, 4, 1024),
    }.items():
        config = ViTConfig((45, 64), 1, 12, 20, 3, 2, 5, resnet=resnet)
        assert config.feature_map == expected
        assert config.has_transformer and config.has_resnet == (resnet is not None)


@pytest.mark.parametrize("name", ["resnet-50", "ResNet-50", "RESNET50", " resnet_50\n"])
def test_a_resnet_is_found_however_its_name_is_spelled(name):
    config = preset(name, 224, 1000)
    assert (config.resnet, config.feature_map, config.width) == ((3, 4, 6, 3), (7, 7, 2048), 2048)
    assert not config.has_transformer and config.has_resnet
    assert (usual_name(name), usual_name("RESNET-nano")) == ("ResNet-50", "resnet-nano")
    assert is_resnet(name) and not is_resnet("R50+B/16") and not is_resnet("resnet-51")


@pytest.mark.parametrize("size", ["nano", "micro"])
def test_vit_hybrid_and_resnet_of_one_size_cost_about_the_same(size):
    names = (f"{size}/4", f"R5+{size}/4", f"resnet-{size}")
    vit, hybrid, resnet = (multiply_adds(preset(name, 32, 10)) for name in names)
    assert abs(resnet / vit - 1) < 0.03 and abs(hybrid / vit - 1) < 0.1
    assert preset(names[0], 32, 10).tokens == preset(names[1], 32, 10).tokens == 65


def test_the_last_gain_of_every_unit_is_0_at_first_and_the_kernels_are_lecun_normal():
    params = initialise(preset("R26+S/32", 224, 10, layers=1))
    gains = {name: values for name, values in params.items() if re.search(r"norm\w*\.weight$", name)}
    zero = {name for name, values in gains.items() if not values.any()}
    assert zero == {f"resnet.{i}.{j}.norm3.weight" for i in range(4) for j in range(2)}
    assert all((values == 1).all() for name, values in gains.items() if name not in zero)
    for name, inputs in {"resnet.root.conv.weight": 147, "resnet.3.1.conv2.weight": 4608}.items():
        assert params[name].std() == pytest.approx(inputs**-0.5, rel=0.02)
        assert abs(params[name]).max() <= 2.3 * inputs**-0.5


def test_arithmetic_is_that_of_the_official_code_unless_asked_otherwise():
    for config in (ViTConfig(8, 4, 12, 20, 3, 2, 5), preset("B/16", 224, 1000), preset("nano/4", 32, 10)):
        assert (config.gelu, config.eps, config.pool, config.pre_logits) == ("tanh", 1e-6, "token", 0)
        assert (config.dropout, config.attention_dropout, config.drop_path, config.channels) == (0, 0, 0, 3)


def test_further_arguments_replace_fields():
    config = preset("nano/4", (32, 48), 7, pool="mean", dropout=0.1, layers=2)
    assert (config.pool, config.dropout, config.layers, config.width) == ("mean", 0.1, 2, 64)
    assert config.image_size == (32, 48) and config.grid == (8, 12) and config.tokens == 96


UNKNOWN = [None, 4, "", "B", "16", "B/", "X/16", "B/16/2", "B/-4", "vit", "Bx16", "B/1.5"]


HALF_KNOWN = ["R26+S/16", "R+Ti/32", "R101+B/32", "R26+", "26+S/32", "resnet-101", "resnet", "resnet-50/4"]


@pytest.mark.parametrize("name", [*UNKNOWN, *HALF_KNOWN])
def test_an_unknown_model_is_refused_and_the_sizes_are_listed(name):
    expected = r"unknown model .*expected SIZE/PATCH .*nano, .*ti, s, b, l, h; .*R5 and 4, .*resnet-50"
    with pytest.raises(UserError, match=expected):
        preset(name, 224, 1000)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"patch_size": 5}, r"patches of 5 x 5 do not divide images of 32 x 48 pixels: choose a patch size"),
        ({"patch_size": 16, "image_size": (32, 40)}, "do not divide images of 32 x 40"),
        ({"patch_size": 64}, r"images of 32 x 48 pixels are smaller than one patch of 64 x 64"),
        ({"patch_size": 48}, r"images of 32 x 48 pixels are smaller than one patch of 48 x 48"),
        ({"heads": 5}, "width 12 is not divisible by 5 heads"),
        ({"pool": "max"}, "pool is 'max', expected one of token, mean"),
        ({"gelu": "elu"}, "gelu is 'elu', expected one of tanh, exact"),
        ({"position": "3d"}, "position is '3d', expected one of 1d, 2d, sincos, relative, bias, none"),
        ({"position_at": "head"}, "position_at is 'head', but for position '1d', expected one of stem, bl"),
        ({"position": "relative", "position_at": "stem"}, "'relative', expected one of blocks, shared"),
        ({"position": "none", "position_at": "stem"}, "'stem', but for position 'none', expected none: omit"),
        ({"position": "2d", "width": 15}, "width 15 is not divisible by 2, as 2d positions need"),
        ({"position": "sincos", "width": 6}, "width 6 is not divisible by 4, as sincos positions need"),
        ({"merge_after": 2}, "merge_after is 2, expected fewer than the 2 blocks"),
        (
            {"merge_after": 1, "patch_size": 16},
            "2 x 3 patches cannot be merged .* expected 0, or images whose sides are multiples of 32 pixels",
        ),
        (
            {"merge_after": 1, "patch_dropout": 0.5},
            "patch_dropout is 0.5, expected 0: a model that .* merges patches",
        ),
        (
            {"merge_after": 1, "position": "relative"},
            "merge_after is 1, expected 0: .* positions in its blocks",
        ),
        ({"dropout": 1.0}, "dropout is 1.0, expected a rate"),
        ({"attention_dropout": -0.1}, "attention_dropout is -0.1"),
        ({"drop_path": 1.5}, "drop_path is 1.5"),
        ({"layers": -1}, "layers is -1, expected a whole number, 0 or more"),
        ({"layers": 0}, "a model with 0 layers is a ResNet on its own, which needs stages"),
        ({"layers": 0, "resnet": ()}, "which needs stages: give their units as resnet"),
        ({"patch_size": 0}, "patch_size is 0"),
        ({"classes": 0}, "classes is 0"),
        ({"width": "12"}, "width is '12', expected a whole number"),
        ({"layers": 2.0}, "layers is 2.0, expected a whole number"),
        ({"image_size": "8"}, r"image_size is '8', expected a whole number of pixels, or \(height, width\)"),
        ({"image_size": 8.0}, "image_size is 8.0, expected"),
        ({"image_size": 0}, "image_size is 0, expected at least 1 pixel"),
        ({"image_size": (-4, 8), "resnet": (1,), "resnet_groups": 8}, "expected at least 1 pixel"),
        ({"pre_logits": -1}, "pre_logits is -1, expected a whole number, 0 or more"),
        ({"pre_logits": 2.5}, "pre_logits is 2.5, expected"),
        ({"dropout": "0.1"}, "dropout is '0.1', expected a finite number"),
        ({"eps": None}, "eps is None, expected a finite number"),
        ({"image_size": (8, 8, 3)}, r"image_size is \(8, 8, 3\), expected"),
        (
            {"resnet": 3},
            r"resnet is 3, expected the number of units in each stage, as in \(3, 4, 9\), or None",
        ),
        ({"resnet": (3, 0)}, r"resnet is \(3, 0\), expected the number of units"),
        ({"resnet": (1,), "resnet_width": 48}, "resnet_width 48 is not divisible by 32 groups"),
        (
            {"resnet": (1, 1)},
            r"turns images of 32 x 48 pixels into a map of 4 x 6, which patches of 4",
        ),
        ({"resnet": (1, 1), "patch_size": 5}, "choose images whose sides are multiples of 40 pixels"),
        ({"resnet_groups": 0}, "resnet_groups is 0, expected a whole number"),
        ({"image_size": ("8", 8)}, r"image_size is \('8', 8\), expected whole numbers"),
        (
            {"image_size": (8, 10**6)},
            r"image_size is \(8, 1000000\), expected at most [0-9,]+ pixels",
        ),
        ({"layers": 10**6}, "layers is 1,000,000, expected at most"),
        ({"classes": 2**31}, "classes is 2,147,483,648, expected at most"),
        ({"resnet": (10**6,)}, r"resnet is \(1000000,\), expected at most [0-9,]+ units"),
        ({"eps": 0.0}, "eps is 0.0, expected a small number above 0"),
        ({"eps": 1.0}, "eps is 1.0, expected a small number above 0"),
        ({"predicts": "labels"}, "predicts is 'labels', expected one of image, patches"),
        ({"resnet": (1,), "resnet_form": "torch"}, "resnet_form is 'torch', expected one of official, timm"),
    ],
)
def test_numbers_that_cannot_be_or_do_not_fit_together_are_refused_in_one_line(changes, message):
    good = {
        "image_size": (32, 48),
        "patch_size": 4,
        "width": 12,
        "mlp_width": 20,
        "heads": 3,
        "layers": 2,
        "classes": 5,
    }
    ViTConfig(**good)
    with pytest.raises(UserError, match=message) as caught:
        ViTConfig(**(good | changes))
    assert "\n" not in str(caught.value) and "  " not in str(caught.value)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"patch_size": 2}, "patch_size is 2, but must be 1 in a ResNet without a Transformer"),
        ({"width": 500}, "width is 500, but must be 512 .*channels of its feature map"),
        ({"heads": 4}, "heads is 4, but must be 0 .*it has no attention"),
        ({"mlp_width": 128}, "mlp_width is 128, but must be 0 .*no MLP"),
        ({"position": "1d"}, "position is '1d', but must be 'none'"),
        ({"pool": "token"}, "pool is 'token', but must be 'mean' .*no class token"),
        ({"dropout": 0.1}, "dropout is 0.1, but must be 0"),
        ({"drop_path": 0.1}, "drop_path is 0.1, but must be 0"),
        ({"layers": 2}, "heads is 0, expected a whole number, 1 or more|mlp_width is 0"),
    ],
)
def test_what_has_no_meaning_in_a_resnet_is_refused_in_one_line(changes, message):
    with pytest.raises(UserError, match=message) as caught:
        preset("resnet-nano", 32, 10, **changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"image_size": (1, MOST_PIXELS), "patch_size": 1},
        {"layers": MOST_LAYERS},
        {"classes": LARGEST},
        {"image_size": (32, 32), "patch_size": 1, "resnet": (MOST_LAYERS,)},
    ],
)
def test_the_largest_numbers_that_are_allowed_are_allowed(changes):
    config = tiny_config(**changes)
    assert {name: getattr(config, name) for name in changes} == changes


def test_a_field_that_a_model_does_not_have_is_refused():
    with pytest.raises(
        UserError,
        match=r"a model has no depth \(did you mean layers\?\): expected some of image_size, .*layers",
    ):
        preset("nano/4", 32, 10, depth=3)


def test_sizes_may_be_numbers_of_numpy():
    config = preset("nano/4", np.int64(8), np.int64(10), layers=np.int64(2))
    assert (config.image_size, config.layers) == ((8, 8), 2)
    assert ViTConfig(**json.loads(json.dumps(config.as_dict()))) == config


def test_tests_that_draw_models_draw_every_field():
    assert {field.name for field in fields(ViTConfig)} - {"parts"} == FIELDS_DRAWN


def test_a_configuration_survives_a_json_file():
    config = preset("nano/4", (32, 48), 10, pool="mean", gelu="exact", drop_path=0.1)
    assert ViTConfig(**json.loads(json.dumps(config.as_dict()))) == config
    hybrid = preset("R50+B/16", (224, 256), 10)
    assert ViTConfig(**json.loads(json.dumps(hybrid.as_dict()))) == hybrid
    resnet = preset("resnet-nano", (32, 40), 10)
    assert ViTConfig(**json.loads(json.dumps(resnet.as_dict()))) == resnet


def test_stochastic_depth_rises_linearly_from_nothing_to_its_rate():
    config = preset("nano/4", 32, 10, layers=5, drop_path=0.2)
    np.testing.assert_allclose([config.drop_path_rate(i) for i in range(5)], [0, 0.05, 0.1, 0.15, 0.2])
    two = preset("nano/4", 32, 10, layers=2, drop_path=0.2)
    assert [two.drop_path_rate(i) for i in range(2)] == [0, 0.2]
    assert preset("nano/4", 32, 10, layers=1, drop_path=0.2).drop_path_rate(0) == 0


@pytest.mark.parametrize(
    "name, usual",
    [("ViT-b_16", "B/16"), ("vit-ti/16", "Ti/16"), ("NANO/4", "nano/4"), ("r5+Nano/4", "R5+nano/4")],
)
def test_the_usual_name_is_that_of_the_paper(name, usual):
    assert usual_name(name) == usual


def test_only_a_preset_has_a_usual_name():
    with pytest.raises(ValueError, match="'alexnet' is not the name of a preset"):
        usual_name("alexnet")


@pytest.mark.parametrize(
    "name, expected", [("R50+B/16", True), ("resnet-50", True), ("B/x", False), ("", False)]
)
def test_the_name_of_a_preset_is_told_from_others(name, expected):
    assert is_preset(name) is expected
