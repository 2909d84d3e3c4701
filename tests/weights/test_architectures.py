"""The implications of timm's architectures, and the reasons why some of them are refused."""

import json

import pytest

from tests.weights.checkpoints import EXACT, complaint, random_model
from tinyvit.model.later.rotary import DINOV3, Rotary
from tinyvit.weights.architectures import described_architecture
from tinyvit.weights.description import GELU, read_description
from tinyvit.weights.read import load_weights
from tinyvit.weights.safetensors import write_safetensors
from tinyvit.weights.torch_names import to_torch_names


@pytest.mark.parametrize(
    ("name", "heads", "gelu"),
    [
        ("vit_tiny_patch16_224", 3, "exact"),
        ("deit_tiny_patch16_224", 3, "exact"),
        ("vit_base_patch16_224", 12, "exact"),
        ("vit_base_patch16_gap_224", 16, "exact"),
        ("vit_base_patch32_plus_256", 14, "exact"),
        ("vit_large_patch16_siglip_gap_384", 16, "exact"),
        ("vit_large_patch16_siglip_gap_512", 16, "tanh"),
        ("vit_so400m_patch14_siglip_gap_384", 16, "exact"),
        ("vit_so400m_patch16_siglip_gap_384", 16, "tanh"),
        ("deit3_huge_patch14_224", 16, "exact"),
        ("vit_base_patch16_224_in21k", 12, "exact"),  # as older versions of timm called it
        ("deit3_medium_patch16_224_in21ft1k", 8, "exact"),
        ("vit_base_patch16_224.augreg_in1k", 12, "exact"),
        ("vit_tiny_r_s16_p8_384.augreg_in21k", 3, "exact"),
        ("vit_small_r26_s32_224", 6, "exact"),
        ("vit_base_r50_s16_384", 12, "exact"),
        ("vit_large_r50_s32_384", 16, "exact"),
    ],
)
def test_heads_and_gelu_of_an_architecture(name, heads, gelu):
    assert described_architecture(name) == {"heads": heads, "gelu": gelu, "eps": 1e-6}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("vit_base_patch16_gap_512", "which tinyvit does not know"),
        ("resnet50", "which tinyvit does not know"),
        ("vit_base_patch16_224_x", "which tinyvit does not know"),
        ("vit_small_resnet26d_224", "not the paper's ResNet"),
        ("vit_base_mci_224", "not the paper's ResNet"),
        ("vit_relpos_base_patch16_224", "relative positions"),
        ("vit_base_patch16_rpn_224", "after each branch"),
        ("vit_small_patch16_18x2_224", "parallel branches"),
        ("aimv2_large_patch14_224", "another norm"),
        ("naflexvit_base_patch16_gap", "differs from a plain ViT"),
    ],
)
def test_another_architecture_is_refused_by_name_with_the_reason(tmp_path, name, why):
    write_safetensors(tmp_path / "model.safetensors", to_torch_names(*random_model(**EXACT)))
    (tmp_path / "config.json").write_text(json.dumps({"architecture": name}))
    message = complaint(load_weights, tmp_path / "model.safetensors", heads=3)
    assert f"names timm's architecture {name!r}, which" in message and why in message
    assert "choose another checkpoint" in message
    assert ("move config.json" in message) == ("does not know" in why)  # of no use where the reason is known


def described(folder, **stated):
    (folder / "config.json").write_text(
        json.dumps({"architecture": "vit_base_patch32_siglip_gap_256"} | stated)
    )
    return folder / "config.json"


def test_what_was_changed_comes_before_what_the_architecture_implies(tmp_path):
    known = read_description(described(tmp_path))
    assert known == {"heads": 12, "gelu": "tanh", "eps": 1e-6}
    changed = {"num_heads": 6, "act_layer": "gelu", "img_size": [8, 12], "embed_dim": 96, "norm_layer": None}
    known = read_description(described(tmp_path, model_args=changed, global_pool="avg"))
    expected = {"heads": 6, "gelu": "exact", "eps": 1e-6, "image_size": (8, 12), "pool": "mean"}
    assert known == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [("norm_layer", "rmsnorm"), ("block_fn", "ResPostBlock"), ("attn_layer", "diff"), ("novelty", 3)],
)
def test_an_argument_that_is_not_known_is_refused_by_name(tmp_path, name, value):
    message = complaint(read_description, described(tmp_path, model_args={name: value}))
    assert f"specifies {name} {value!r}, which tinyvit does not support" in message


@pytest.mark.parametrize(
    ("architecture", "arguments", "expected"),
    [
        ("vit_base_patch16_224", {"global_pool": "map", "pool_include_prefix": True}, {"pool_all": True}),
        ("vit_base_patch16_224", {"global_pool": "map", "pool_include_prefix": False}, {"pool_all": False}),
        ("test_vit3", {"global_pool": "map"}, {"pool_all": True, "pool": "attention"}),
        ("test_vit3", {"global_pool": "map", "pool_include_prefix": False}, {"pool_all": False}),
        ("eva_giant_patch14_224", {"global_pool": "map"}, {"pool_all": True, "pool": "attention"}),
        ("eva_large_patch14_196", {"global_pool": "map"}, {"pool": "attention"}),  # of another class
        ("vit_pe_core_base_patch16_224", {"global_pool": "map"}, {"pool_all": True, "pool_heads": 8}),
        ("vit_pe_core_base_patch16_224", {"global_pool": "avg"}, {"pool_all": False, "pool": "mean"}),
        ("vit_base_patch16_clip_224", {"norm_layer": "layernorm"}, {"eps": 1e-6}),
    ],
    ids=str,
)
def test_which_tokens_timm_pools_follows_from_its_class_and_arguments(
    tmp_path, architecture, arguments, expected
):
    known = read_description(described(tmp_path, architecture=architecture, model_args=arguments))
    assert known | expected == known


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ({"model_args": {"act_layer": "tanh"}}, "the nonlinearity 'tanh', but"),
        ({"model_args": {"act_layer": "exact"}}, "the nonlinearity 'exact', but"),
        ({"model_args": {"global_pool": "mean"}}, "the pooling 'mean', but"),
        ({"architecture": "eva02_tiny_patch14_224", "global_pool": "map"}, "another nonlinearity"),
    ],
    ids=str,
)
def test_names_that_timm_gives_to_nothing_that_tinyvit_has_are_refused(tmp_path, stated, why):
    assert why in complaint(read_description, described(tmp_path, **stated))


def test_a_model_without_pooling_is_read_if_it_has_no_classes(tmp_path):
    unpooled = {"model_args": {"global_pool": ""}}
    assert "pool" not in read_description(described(tmp_path, num_classes=0, **unpooled))
    assert "the pooling ''" in complaint(read_description, described(tmp_path, num_classes=7, **unpooled))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("vit_base_patch32_clip_quickgelu_224", {"heads": 12, "gelu": "quick", "eps": 1e-5}),
        ("vit_giant_patch14_reg4_dinov2", {"heads": 24, "gelu": "silu", "eps": 1e-6}),
        ("vit_base_patch16_dinov3", {"heads": 12, "gelu": "exact", "eps": 1e-5, "rotary": DINOV3}),
        ("eva02_tiny_patch14_224", {"heads": 3, "gelu": "silu", "eps": 1e-6, "rotary": Rotary(1e4, 16)}),
        ("test_vit3", {"heads": 3, "gelu": "exact", "eps": 1e-6, "pool_all": True}),
    ],
)
def test_what_a_later_architecture_implies(name, expected):
    assert described_architecture(name) == expected


def test_every_name_of_a_gelu_is_the_form_that_its_library_computes():
    tanh = ("gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu_accurate", "gelu_tanh")
    others = {"quick_gelu": "quick", "quickgelu": "quick", "silu": "silu", "swish": "silu", "relu": "relu"}
    assert {"gelu": "exact", "gelu_python": "exact"} | dict.fromkeys(tanh, "tanh") | others == GELU
