import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.official_weights import official, official_names
from tests.helpers import tiny_config
from tests.weights.checkpoints import (
    EXACT,
    assert_same,
    complaint,
    official_arrays,
    random_model,
)
from tinyvit.weights.official import from_official, to_official
from tinyvit.weights.read import load_weights
from tinyvit.weights.save import save_official

CONFIGS = {
    "token": tiny_config(),
    "mean": tiny_config(pool="mean"),
    "pre_logits": tiny_config(pre_logits=7),
    "one channel": tiny_config(channels=1, image_size=12),
    "hybrid": tiny_config(image_size=32, patch_size=2, resnet=(2, 1), resnet_width=32),
    "root alone": tiny_config(image_size=16, patch_size=2, resnet=(), channels=1),
}
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
NEWER = {
    "MultiHeadDotProductAttention_1": "MultiHeadDotProductAttention_0",
    "LayerNorm_2": "LayerNorm_1",
    "MlpBlock_3": "MlpBlock_0",
}


def prefixed(prefix):
    return lambda arrays: {prefix + name: array for name, array in arrays.items()}


def newer(arrays):
    renamed = {}
    for name, array in arrays.items():
        for old, new in NEWER.items():
            name = name.replace(old, new)
        renamed[name] = array
    return renamed


def stacked(arrays):
    """big_vision's: newer names, one array for all layers, the position embedding at the top."""
    arrays = newer(arrays)
    rest = {re.sub(r"encoderblock_0/", "encoderblock/", name) for name in arrays if "encoderblock_0/" in name}
    layers = 1 + max(int(found[1]) for name in arrays if (found := re.search(r"encoderblock_(\d+)/", name)))
    result = {name: array for name, array in arrays.items() if "encoderblock" not in name}
    result["pos_embedding"] = result.pop("Transformer/posembed_input/pos_embedding")
    for name in rest:
        of_layer = [name.replace("encoderblock/", f"encoderblock_{i}/") for i in range(layers)]
        result[name] = np.stack([arrays[one] for one in of_layer])
    return result


SPELLINGS = {
    "opt/target/": prefixed("opt/target/"),
    "params/": prefixed("params/"),
    "newer": newer,
    "stacked": stacked,
    "stacked params/": lambda arrays: prefixed("params/")(stacked(arrays)),
}


@pytest.mark.parametrize("change", [{}, {"pool": "mean"}, {"pre_logits": 7}])
def test_every_array_is_where_an_independent_list_has_it(change):
    config = tiny_config(**change)
    expected, _ = official(config)
    rng, arrays = np.random.default_rng(2010_11929), {}
    for name, shape, spread, _ in official_names(config):
        draw = rng.standard_normal(shape) * spread
        arrays[name] = (draw + 1 if name.endswith("scale") else draw).astype("float32")
    assert_same(from_official(arrays, "file"), (config, expected))


@every_config
@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_all_spellings_are_the_same_model(config, spelling):
    arrays = official_arrays(config)
    assert_same(from_official(spelling(arrays), "file"), from_official(arrays, "file"))
    assert from_official(arrays, "file")[0] == config


@every_config
def test_a_checkpoint_written_back_is_the_same_to_the_bit(config):
    arrays = official_arrays(config)
    written = to_official(*from_official(arrays, "file"))
    assert written.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(written[name], array, strict=True)


@given(
    seed=st.integers(0, 99),
    heads=st.integers(1, 3),
    layers=st.integers(1, 3),
    pool=st.sampled_from(["token", "mean"]),
    pre_logits=st.integers(0, 2),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_saved_and_loaded_it_is_the_same_model(tmp_path_factory, seed, dtype, **changes):
    model = random_model(seed, dtype, **changes)
    path = tmp_path_factory.mktemp("weights") / "model.npz"
    save_official(path, *model)
    assert_same(load_weights(path, dtype=dtype), model)


def test_images_that_are_not_square_need_a_word(tmp_path):
    model = random_model(image_size=(8, 12))
    save_official(tmp_path / "model.npz", *model)
    message = complaint(load_weights, tmp_path / "model.npz")
    assert "model.npz: Transformer/posembed_input/pos_embedding has 7 rows" in message
    assert "read it with tinyvit.weights.read.load_weights, which takes image_size=(height" in message
    assert_same(load_weights(tmp_path / "model.npz", image_size=(8, 12)), model)
    message = complaint(load_weights, tmp_path / "model.npz", image_size=(8, 16))
    assert "has shape (1, 7, 12), expected (1, 9, 12)" in message


def test_arrays_of_a_thousand_layers_are_separated_and_of_more_are_not():
    """Each would become as many arrays."""
    for layers, found in ((1000, "encoderblock_0/"), (1001, "encoderblock/")):
        arrays = {
            "embedding/kernel": np.zeros((4, 4, 3, 12)),
            "Transformer/encoderblock/LayerNorm_0/scale": np.zeros((layers, 1)),
        }
        message = complaint(from_official, arrays, "file")
        assert f"is missing; not used so far are Transformer/{found}LayerNorm_0" in message


def test_a_missing_array_is_named_beside_those_that_may_be_it():
    arrays = official_arrays(tiny_config())
    bias = arrays.pop("head/bias")
    message = complaint(from_official, arrays, "file")
    assert "the array head/bias is missing; all others are used. Download it again" in message
    arrays["head/offset"] = bias
    message = complaint(from_official, arrays, "file")
    assert "the array head/bias is missing; not used so far are head/offset." in message


def test_a_missing_class_token_is_named():
    arrays = official_arrays(tiny_config())
    del arrays["cls"]
    message = complaint(from_official, arrays, "file")
    assert "has 5 rows" in message and "the array cls is missing" in message


def test_big_visions_class_token_has_no_position():
    config = tiny_config()
    arrays = official_arrays(config)
    name = "Transformer/posembed_input/pos_embedding"
    assert "has 4 rows" in complaint(from_official, arrays | {name: arrays[name][:, 1:]}, "file")
    without = {n: a for n, a in arrays.items() if n != name} | {"pos_embedding": arrays[name][:, 1:]}
    found, params = from_official(without, "file")
    assert found == config
    assert not params["position"][0].any()
    np.testing.assert_array_equal(params["position"][1:], arrays[name][0, 1:])


def test_a_file_without_a_head_gets_one_of_zeros():
    arrays = official_arrays(tiny_config())
    del arrays["head/kernel"], arrays["head/bias"]
    config, params = from_official(arrays, "file")
    assert config.classes == 1
    assert not params["head.weight"].any() and not params["head.bias"].any()


def test_half_precision_is_widened_exactly():
    config = tiny_config()
    halves = {name: array.astype("float16") for name, array in official_arrays(config).items()}
    widened = {name: array.astype("float32") for name, array in halves.items()}
    assert_same(from_official(halves, "file"), from_official(widened, "file"))


def older(arrays):
    """GroupNorm's arrays as the first released hybrids have them."""
    return {
        name: array.reshape(1, 1, 1, -1) if re.search(r"gn\w+/(scale|bias)$", name) else array
        for name, array in arrays.items()
    }


@pytest.mark.parametrize(
    "spelled", [older, newer, lambda arrays: newer(older(prefixed("opt/target/")(arrays)))]
)
@pytest.mark.parametrize("name", ["hybrid", "root alone"])
def test_a_hybrid_is_the_same_in_every_spelling(name, spelled):
    arrays = official_arrays(CONFIGS[name])
    assert_same(from_official(spelled(arrays), "file"), from_official(arrays, "file"))


@pytest.mark.parametrize(
    "missing", ["block1/unit2/conv2/kernel", "gn_root/bias", "block1/unit1/gn_proj/scale"]
)
def test_a_hybrid_without_one_of_its_arrays_is_refused_with_its_name(missing):
    arrays = official_arrays(CONFIGS["hybrid"])
    del arrays[missing]
    assert f"the array {missing} is missing" in complaint(from_official, arrays, "file")


def test_a_resnet_with_a_stage_left_out_is_refused():
    arrays = official_arrays(CONFIGS["hybrid"])
    arrays = {name.replace("block2/", "block3/"): array for name, array in arrays.items()}
    assert "2, 0 units in its stages" in complaint(from_official, arrays, "file")


def test_a_hybrid_with_other_groups_is_not_written_in_a_layout_that_implies_32():
    config, params = random_model(image_size=16, patch_size=1, resnet=(), resnet_groups=16)
    assert "16 groups in its GroupNorms, not 32, fits no layout" in complaint(to_official, config, params)


def test_what_does_not_fit_is_named_with_its_shape():
    arrays = official_arrays(tiny_config()) | {"MAPHead_0/probe": np.zeros((1, 1, 12), "float32")}
    assert "it also contains MAPHead_0/probe (1, 1, 12)" in complaint(from_official, arrays, "file")


def test_two_spellings_of_one_array_are_not_chosen_from():
    arrays = official_arrays(tiny_config())
    assert "cls twice" in complaint(from_official, arrays | {"params/cls": arrays["cls"]}, "file")


@given(data=st.data())
def test_an_array_that_is_missing_misshapen_or_not_numeric_is_named(data):
    arrays = official_arrays(data.draw(st.sampled_from(list(CONFIGS.values()))))
    optional = ("cls", "head/kernel", "pre_logits/kernel")
    name = data.draw(st.sampled_from(sorted(arrays)))
    how = data.draw(st.sampled_from(["missing", "flat", "longer", "text"]))
    if how == "missing":
        left = {other: array for other, array in arrays.items() if other != name}
        if name in (*optional, "embedding/kernel", "conv_root/kernel"):
            complaint(from_official, left, "file")  # it is then the arrays that belong to it that do not fit
            return
        message = complaint(from_official, left, "file")
    elif how == "flat":
        message = complaint(from_official, arrays | {name: arrays[name].reshape(1, 1, 1, 1, -1)}, "file")
    elif how == "longer":
        longer = np.concatenate([arrays[name], arrays[name]], axis=-1)
        message = complaint(from_official, arrays | {name: longer}, "file")
        return  # the array that another one is compared with may be the one that is wrong
    else:
        message = complaint(from_official, arrays | {name: arrays[name].astype("U")}, "file")
        assert "expected floating point" in message
    assert name in message


@pytest.mark.parametrize("change", [EXACT, {"eps": 1e-12}])
def test_another_arithmetic_is_not_written_in_the_official_layout(tmp_path, change):
    message = complaint(save_official, tmp_path / "model.npz", *random_model(**change))
    assert "does not fit the official layout" in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change", [{"merge_after": 1}, {"registers": 2}, {"pool": "both"}, {"gated": True}, {"qk_norm": True}]
)
def test_what_the_official_layout_has_no_place_for_is_named(tmp_path, change):
    ((name, value),) = change.items()
    message = complaint(save_official, tmp_path / "model.npz", *random_model(**change))
    assert f"no place for {name} {value!r}: " in message and "an .onnx file." in message
    assert list(tmp_path.iterdir()) == []
