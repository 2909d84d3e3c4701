import json
import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import random_batch
from tests.weights.checkpoints import EXACT, HUGGING_FACE, assert_same, complaint, random_model
from tinyvit.model import forward
from tinyvit.weights.equivalent import (
    CLIP_PIXELS,
    HALF_PIXELS,
    IMAGENET_PIXELS,
    adapt_to_pixel_scale,
    with_all_biases,
    with_row_of_token,
    without_scales,
)
from tinyvit.weights.naming import CLIP, DINOV3, OPENAI, TIMM, usual_pixels
from tinyvit.weights.naming import HUGGING_FACE as HUGGING_FACES_NAMES
from tinyvit.weights.read import load_weights
from tinyvit.weights.safetensors import write_safetensors
from tinyvit.weights.save import save_safetensors
from tinyvit.weights.torch_names import from_torch_names, to_torch_names

KNOWN = {"heads": 3}


def timm(pre_logits=0, **changes):
    """Arrays of a timm file; those with pre_logits are from older versions."""
    arrays = to_torch_names(*random_model(**(EXACT | changes)))
    if pre_logits:
        shapes = {"pre_logits.fc.weight": (pre_logits, 12), "pre_logits.fc.bias": (pre_logits,)}
        shapes["head.weight"] = (5, pre_logits)
        rng = np.random.default_rng(0)
        arrays |= {name: rng.standard_normal(shape).astype("float32") for name, shape in shapes.items()}
    return arrays


def hugging_face(**changes):
    """Arrays of a Hugging Face file."""
    return to_torch_names(*random_model(**(HUGGING_FACE | changes)))


def dinov2():
    """Arrays of a Hugging Face DINOv2 file: other names inside a block, LayerScale, a mask token, no head."""
    names = {"layernorm_before": "norm1", "layernorm_after": "norm2", "intermediate.dense": "mlp.fc1"}
    renamed = {}
    for name, array in hugging_face().items():
        name = name.removeprefix("vit.")
        for old, new in names.items():
            name = name.replace(old, new)
        if "attention" not in name:
            name = name.replace("output.dense", "mlp.fc2")
        if not name.startswith("classifier"):
            renamed[name] = array
    return renamed | {"embeddings.mask_token": np.zeros((1, 12), "float32")}


def replaced(arrays, names):
    """The same arrays under other names: every old piece of a name by its new one, in order."""
    result = {}
    for name, array in arrays.items():
        for old, new in names.items():
            name = re.sub(old, new, name)
        result[name] = array
    return result


FIVE = {
    r"encoder\.layer\.": "layers.",
    r"attention\.attention\.(.).*\.": r"attention.\1_proj.",  # query, key, value
    r"attention\.output\.dense": "attention.o_proj",
    r"intermediate\.dense": "mlp.fc1",
    r"output\.dense": "mlp.fc2",
}
TORCHVISION = {
    "^cls_token": "class_token",
    "^pos_embed": "encoder.pos_embedding",
    r"patch_embed\.proj": "conv_proj",
    r"blocks\.": "encoder.layers.encoder_layer_",
    "norm([12])": r"ln_\1",
    r"attn\.qkv\.": "self_attention.in_proj_",
    r"attn\.proj": "self_attention.out_proj",
    r"mlp\.fc1": "mlp.0",
    r"mlp\.fc2": "mlp.3",
    r"^norm\.": "encoder.ln.",
    r"^head\.": "heads.head.",
    r"^pre_logits\.fc": "heads.pre_logits",
}
OLDER = {r"mlp\.0": "mlp.linear_1", r"mlp\.3": "mlp.linear_2"}  # before torchvision 0.13


def test_the_names_of_transformers_5_are_those_of_the_same_model():
    arrays = replaced(hugging_face(), FIVE)
    assert "vit.layers.1.attention.q_proj.weight" in arrays and "vit.layers.0.mlp.fc2.bias" in arrays
    assert_same(from_torch_names(arrays, "file", KNOWN), from_torch_names(hugging_face(), "file", KNOWN))
    arrays = replaced(dinov2(), {key: FIVE[key] for key in list(FIVE)[1:3]})
    assert "encoder.layer.1.attention.v_proj.bias" in arrays
    assert_same(from_torch_names(arrays, "file", KNOWN), from_torch_names(dinov2(), "file", KNOWN))


@pytest.mark.parametrize("older", [{}, OLDER])
@pytest.mark.parametrize("changes", [{}, {"pre_logits": 7}])
def test_the_names_of_torchvision_are_those_of_the_same_model(older, changes):
    arrays = replaced(timm(**changes), TORCHVISION | older)
    assert "encoder.layers.encoder_layer_1.self_attention.in_proj_bias" in arrays
    assert_same(from_torch_names(arrays, "file", KNOWN), from_torch_names(timm(**changes), "file", KNOWN))


SCALES_OF_LAYERS = {f"blocks.{i}.ls{j}.gamma": np.ones(12, "float32") for i in (0, 1) for j in (1, 2)}
SCALES = {
    "torchvision": (replaced(timm(), TORCHVISION), IMAGENET_PIXELS),
    "DINOv2's own": (
        timm() | SCALES_OF_LAYERS | {"mask_token": np.ones((1, 12), "float32")},
        IMAGENET_PIXELS,
    ),
    "MAE with its decoder": (timm() | {"decoder_embed.weight": np.ones((2, 2), "float32")}, IMAGENET_PIXELS),
    "Hugging Face's DINOv2": (dinov2(), IMAGENET_PIXELS),
    "ours": (timm(), None),  # as those of DeiT, DINO and MAE's encoder
    "Hugging Face's ViT": (hugging_face(), None),
}


@pytest.mark.parametrize("kind", SCALES)
def test_names_decide_the_scale_of_pixels_or_a_warning_says_what_is_assumed(kind, tmp_path):
    arrays, scale = SCALES[kind]
    write_safetensors(tmp_path / "a.safetensors", arrays)
    expected = from_torch_names(arrays, "file", KNOWN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if scale is None:
            with pytest.raises(
                UserWarning, match=r"a.safetensors does not state .* -1 to 1 .* preprocessor_c"
            ):
                load_weights(tmp_path / "a.safetensors", heads=3)
            scale, stated = HALF_PIXELS, {"image_mean": [0.5], "image_std": [0.5], "do_resize": False}
            (tmp_path / "preprocessor_config.json").write_text(json.dumps(stated))
        found = load_weights(tmp_path / "a.safetensors", heads=3)
    assert_same(found, adapt_to_pixel_scale(*expected, scale, "file"))


@pytest.mark.parametrize(
    ("names", "held", "scale"),
    [
        (CLIP, ["embeddings.class_embedding"], CLIP_PIXELS),
        (CLIP, [], HALF_PIXELS),  # a SigLIP
        (OPENAI, [], CLIP_PIXELS),
        (DINOV3, [], IMAGENET_PIXELS),
        (TIMM, ["dist_token"], IMAGENET_PIXELS),
        (HUGGING_FACES_NAMES, ["embeddings.distillation_token"], IMAGENET_PIXELS),
        (HUGGING_FACES_NAMES, ["decoder.decoder_embed.weight"], IMAGENET_PIXELS),
        (HUGGING_FACES_NAMES, ["x.relative_position_bias_table"], HALF_PIXELS),
        (HUGGING_FACES_NAMES, ["layer_scale1.lambda1"], None),
        (TIMM, ["blocks.0.norm1.weight"], None),
    ],
)
def test_the_scale_of_pixels_that_names_imply(names, held, scale):
    assert usual_pixels(names, held) == scale


def test_maes_fine_tuned_files_are_not_pooled_by_the_class_token():
    arrays = {
        name.replace("norm.", "fc_norm.", 1) if name.startswith("norm.") else name: array
        for name, array in timm().items()
    }
    assert "(class_token, final_norm)" in complaint(from_torch_names, arrays, "file", KNOWN)
    config, _ = from_torch_names(arrays, "file", KNOWN, described=True)
    assert (config.pool, config.final_norm, config.has_token) == ("mean", "pooled", True)


@pytest.mark.parametrize(
    ("arrays", "pattern", "kept"),
    [
        (timm, r"attn\.qkv\.bias", "none"),
        (hugging_face, r"(query|key|value)\.bias", "none"),
        (dinov2, r"key\.bias", "qv"),
    ],
)
def test_without_biases_of_queries_keys_and_values_a_model_is_as_with_zeros_and_so_it_is_written(
    arrays, pattern, kept
):
    whole = arrays()
    without = {name: array for name, array in whole.items() if not re.search(pattern, name)}
    zeros = {name: array if name in without else np.zeros_like(array) for name, array in whole.items()}
    config, params = from_torch_names(without, "file", KNOWN)
    assert config.qkv_bias == kept
    assert_same(with_all_biases(config, params), from_torch_names(zeros, "file", KNOWN))


def test_a_bias_that_only_one_block_lacks_is_missing():
    arrays = timm()
    del arrays["blocks.1.attn.qkv.bias"]
    assert "blocks.1.attn.qkv.bias is missing" in complaint(from_torch_names, arrays, "file", KNOWN)


def test_of_a_class_token_it_is_the_same_whether_it_is_normalised_before_or_after_pooling():
    after = replaced(timm(), {r"^norm\.": "fc_norm."})
    known = KNOWN | {"pool": "token"}
    assert_same(from_torch_names(after, "file", known), from_torch_names(timm(), "file", known))
    config, _ = from_torch_names(after, "file", KNOWN | {"pool": "mean"}, described=True)
    assert (config.final_norm, config.has_token) == ("pooled", True)


def test_a_model_without_a_class_token_does_not_tell_its_heads_by_its_width():
    arrays = to_torch_names(*random_model(width=192, heads=3, mlp_width=1, layers=1, pool="mean", **EXACT))
    message = complaint(from_torch_names, arrays, "file")
    assert "share its width of 192 where there is no class token. Put the config.json" in message
    assert "heads=... or on the command line as --heads" in message


def test_an_edge_that_no_patch_covers_is_left_out():
    usual = from_torch_names(timm(), "file", KNOWN)
    assert_same(from_torch_names(timm(), "file", KNOWN | {"image_size": (9, 11)}), usual)


def test_the_decoder_of_a_self_supervised_model_is_ignored():
    arrays = hugging_face() | {"decoder.0.weight": np.ones(3, "float32"), "decoder_embed.bias": np.ones(2)}
    assert_same(from_torch_names(arrays, "file", KNOWN), from_torch_names(hugging_face(), "file", KNOWN))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "changes",
    [
        EXACT,
        EXACT | {"pool": "mean"},
        EXACT | {"channels": 1, "layers": 1},
        HUGGING_FACE,
        HUGGING_FACE | {"layers": 11},
    ],
)
def test_saved_and_loaded_it_is_the_same_model(tmp_path, changes, dtype):
    model = random_model(1, dtype, **changes)
    save_safetensors(tmp_path / "model.safetensors", *model)
    assert_same(load_weights(tmp_path / "model.safetensors", heads=3, dtype=dtype), model)


def test_images_that_are_not_square_need_a_word():
    arrays = timm(image_size=(8, 12))
    message = complaint(from_torch_names, arrays, "file", KNOWN)
    assert "pos_embed has 7 rows" in message and "(and a class token)" in message
    config, _ = from_torch_names(arrays, "file", KNOWN | {"image_size": (12, 8)})
    assert config.grid == (3, 2)


@pytest.mark.parametrize(("width", "heads"), [(192, 3), (832, 13), (1280, 16)])
def test_heads_are_those_of_the_published_model_of_that_width(width, heads):
    model = random_model(width=width, heads=heads, mlp_width=1, layers=1, **EXACT)
    assert_same(from_torch_names(to_torch_names(*model), "file"), model)


def test_heads_that_cannot_be_inferred_are_requested():
    for width in (12, 64):  # our own small models have more than one head of 64
        arrays = to_torch_names(*random_model(width=width, heads=1, mlp_width=1, layers=1, **EXACT))
        message = complaint(from_torch_names, arrays, "file")
        assert f"file does not state how many heads share its width of {width}" in message


def test_no_heads_are_not_taken_for_heads_that_nobody_stated():
    arrays = to_torch_names(*random_model(**EXACT))
    assert "heads is 0, expected" in complaint(from_torch_names, arrays, "file", {"heads": 0})


def test_a_file_written_by_tinyvit_states_its_heads(tmp_path):
    model = random_model(width=192, heads=6, mlp_width=1, layers=1, **EXACT)
    save_safetensors(tmp_path / "model.safetensors", *model)
    assert_same(load_weights(tmp_path / "model.safetensors"), model)


@pytest.mark.parametrize("prefix", ["module.", "model.", "deit.", "module.model."])
def test_the_name_of_the_whole_model_before_the_others_does_no_harm(prefix):
    arrays = {prefix + name: array for name, array in timm().items()}
    assert_same(from_torch_names(arrays, "file", KNOWN), from_torch_names(timm(), "file", KNOWN))


def test_layer_scale_is_read_and_can_be_multiplied_in():
    arrays = timm()
    plain_config, plain = from_torch_names(arrays, "file", KNOWN, "float64")
    rng = np.random.default_rng(3)
    scales = {
        f"blocks.{i}.{scale}.gamma": rng.uniform(0.1, 2, 12).astype("float32")
        for i in range(2)
        for scale in ("ls1", "ls2")
    }
    config, params = from_torch_names(arrays | scales, "file", KNOWN, "float64")
    assert config.layer_scale and params["blocks.1.scale2"][3] == scales["blocks.1.ls2.gamma"][3]
    config, folded = without_scales(config, params)
    assert config == plain_config
    for name in plain:
        expected = plain[name]
        if ".attn.out." in name:
            expected = expected * scales[f"blocks.{name.split('.')[1]}.ls1.gamma"].astype("float64")
        if ".mlp.fc2." in name:
            expected = expected * scales[f"blocks.{name.split('.')[1]}.ls2.gamma"].astype("float64")
        np.testing.assert_array_equal(folded[name], expected)


def test_dinov2_is_read_with_its_own_names_and_epsilon():
    config, params = from_torch_names(dinov2(), "file", KNOWN)
    assert (config.eps, config.gelu, config.classes) == (1e-6, "exact", 1)
    _, other = from_torch_names(hugging_face(), "file", KNOWN)
    for name in set(params) - {"head.weight", "head.bias"}:
        np.testing.assert_array_equal(params[name], other[name])


def test_the_pooler_of_hugging_face_is_omitted():
    pooler = {
        "pooler.dense.weight": np.ones((12, 12), "float32"),
        "pooler.dense.bias": np.ones(12, "float32"),
    }
    arrays = {name.removeprefix("vit."): array for name, array in hugging_face().items()}
    assert_same(from_torch_names(arrays | pooler, "file", KNOWN), from_torch_names(arrays, "file", KNOWN))


def test_deit_3_has_no_position_for_its_class_token():
    arrays = timm()
    arrays["pos_embed"] = arrays["pos_embed"][:, 1:]
    assert "has 4 rows" in complaint(from_torch_names, arrays, "file", KNOWN)  # an array cut short, perhaps
    arrays |= {f"blocks.{i}.ls{j}.gamma": np.ones(12, "float32") for i in range(2) for j in (1, 2)}
    config, params = from_torch_names(arrays, "file", KNOWN)
    assert config.position_on == "patches"
    np.testing.assert_array_equal(params["position"], arrays["pos_embed"][0])
    _, params = with_row_of_token(config, params)
    assert not params["position"][0].any()
    np.testing.assert_array_equal(params["position"][1:], arrays["pos_embed"][0])


@pytest.mark.parametrize(
    ("name", "shape", "why"),
    [
        ("patch_embed.backbone.conv1.0.weight", (64, 3, 3, 3), "not the paper's ResNet"),
        ("blocks.0.attn.rel_pos.relative_position_bias_table", (9, 3), "relative positions"),
        ("blocks.0.something.weight", (12,), "also contains"),
    ],
)
def test_what_is_not_a_plain_vit_is_named_with_its_shape(name, shape, why):
    message = complaint(from_torch_names, timm() | {name: np.zeros(shape, "float32")}, "file", KNOWN)
    assert "file is not a plain ViT" in message and f"{name} {shape}" in message and why in message


@pytest.mark.parametrize(
    "more",
    [
        {"norm_pre.weight": (12,), "norm_pre.bias": (12,)},
        {"blocks.0.attn.q_norm.weight": (4,)},
        {"reg_token": (1, 4, 12), "pos_embed": (1, 5, 12)},
        {"blocks.0.mlp.fc1.weight": (40, 12)},
    ],
    ids=str,
)
def test_what_only_a_description_can_tell_is_not_guessed(more):
    arrays = timm() | {name: np.zeros(shape, "float32") for name, shape in more.items()}
    message = complaint(from_torch_names, arrays, "file", KNOWN)
    assert "file is not the paper's ViT" in message and "put the config.json" in message


def test_a_second_token_that_was_learned_with_another_head_is_kept_but_not_read():
    arrays = hugging_face()
    arrays["vit.embeddings.distillation_token"] = np.ones((1, 1, 12), "float32")
    arrays["vit.embeddings.position_embeddings"] = np.zeros((1, 6, 12), "float32")
    config, params = from_torch_names(arrays, "file", KNOWN, described=True)
    assert (config.pool, config.registers, config.position_on) == ("token", 1, "all")
    np.testing.assert_array_equal(params["registers"], np.ones((1, 12)))


def test_a_classifier_of_two_vectors_reads_class_token_and_mean():
    arrays = dinov2() | {"classifier.weight": np.zeros((5, 24), "float32")}
    arrays["classifier.bias"] = np.zeros(5, "float32")
    assert from_torch_names(arrays, "file", KNOWN, described=True)[0].pool == "both"


def test_strange_names_and_many_of_them_stay_on_one_line():
    strange = {f"a\nb\x1b{i}": np.zeros(1) for i in range(20)}
    message = complaint(from_torch_names, timm() | strange, "file", KNOWN)
    assert r"'a\nb\x1b0' (1,)" in message and "and 14 more" in message


def test_unknown_names_are_not_a_vit():
    message = complaint(from_torch_names, {"conv1.weight": np.zeros((64, 3, 7, 7))}, "resnet.safetensors")
    assert "resnet.safetensors is not a ViT that tinyvit knows" in message


def test_two_spellings_of_one_array_are_not_chosen_from():
    arrays = timm()
    assert "norm.bias twice" in complaint(
        from_torch_names, arrays | {"model.norm.bias": arrays["norm.bias"]}, "file", KNOWN
    )


@given(data=st.data())
def test_an_array_that_is_missing_misshapen_or_not_numeric_is_a_users_error(data):
    arrays = data.draw(st.sampled_from([timm(), timm(pool="mean", pre_logits=4), hugging_face(), dinov2()]))
    needed = sorted(name for name in arrays if not name.endswith("mask_token"))
    name = data.draw(st.sampled_from(needed))
    how = data.draw(st.sampled_from(["missing", "axes", "longer", "whole numbers"]))
    if how == "missing":
        del arrays[name]
    elif how == "axes":
        arrays[name] = arrays[name].reshape(1, 1, 1, 1, -1)
    elif how == "longer":
        arrays[name] = np.concatenate([arrays[name], arrays[name]], axis=-1)
    else:
        arrays[name] = arrays[name].astype("int32")
    complaint(from_torch_names, arrays, "file", KNOWN)


def test_a_model_loaded_from_a_file_can_be_used():
    config, params = from_torch_names(timm(), "file", KNOWN)
    images, _ = random_batch(config, 2, np.random.default_rng(0), "float32")
    logits, _ = forward(config, params, images)
    assert logits.shape == (2, 5) and np.isfinite(logits).all()
