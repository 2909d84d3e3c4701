import copy
import pickle
from collections.abc import Mapping

import numpy as np
import pytest

from tests.helpers import tiny_config
from tinyvit.model import Model, Params, initialise, layout, preset, specs_from_shapes

SHAPES = {"a.bias": (3,), "a.weight": (2, 3), "position": (4, 2), "norm.weight": (3,), "b.weight": (3, 1)}
ROWS = specs_from_shapes(SHAPES)


def test_every_name_is_a_view_on_the_one_buffer():
    params = Params.zeros(ROWS)
    for number, name in enumerate(params, 1):
        assert params[name].shape == SHAPES[name] and np.shares_memory(params[name], params.flat)
        params[name] = np.full(SHAPES[name], number)
    assert sorted(params.flat) == [1] * 3 + [2] * 6 + [3] * 8 + [4] * 3 + [5] * 3
    params.flat[...] = 7
    assert all((params[name] == 7).all() for name in params)
    assert len(params) == 5 and params.count == 23


def test_what_decays_is_exactly_the_matrices_of_linear_layers_and_comes_first():
    params = initialise(tiny_config(pre_logits=4))
    names = {"patch.weight", "pre_logits.weight", "head.weight"}
    for i in range(2):
        names |= {f"blocks.{i}.{n}.weight" for n in ("attn.qkv", "attn.out", "mlp.fc1", "mlp.fc2")}
    params.flat[...] = 0
    for name in names:
        params[name] = np.ones(params.shapes[name])
    assert params.flat[: params.decayed].all() and not params.flat[params.decayed :].any()


def test_the_table_keeps_the_order_of_the_forward_pass():
    names = list(initialise(tiny_config()))
    assert names == [row.name for row in layout(tiny_config())]
    assert names[:4] == ["patch.weight", "patch.bias", "class_token", "position"]
    assert names[-2:] == ["head.weight", "head.bias"]


@pytest.mark.parametrize("shape", [(3, 2), (2,), (1, 3), (6,), ()])
def test_values_of_another_shape_are_refused_by_name(shape):
    params = Params.zeros(ROWS)
    with pytest.raises(ValueError, match=r"a\.weight has shape \(2, 3\), got"):
        params["a.weight"] = np.ones(shape)
    assert not params.flat.any()


@pytest.mark.parametrize("size", [22, 24])
def test_a_buffer_of_another_size_is_refused(size):
    with pytest.raises(ValueError, match=f"the buffer has {size} numbers, the parameters have 23"):
        Params(np.zeros(size), ROWS)


def test_add_sums_and_assignment_replaces():
    params = Params.zeros(ROWS)
    for _ in range(3):
        params.add("a.bias", np.array([1.0, 2, 3]))
    np.testing.assert_array_equal(params["a.bias"], [3, 6, 9])
    params["a.bias"] = np.array([1.0, 1, 1])
    np.testing.assert_array_equal(params["a.bias"], 1)


def test_copies_share_nothing_with_the_original():
    params = initialise(tiny_config())
    before = params.flat.copy()
    for twin in (params.astype("float32"), params.astype("float64"), params.to(np), params.zeros_like()):
        assert twin.shapes == params.shapes and twin.decayed == params.decayed
        twin.flat += 1
    np.testing.assert_array_equal(params.flat, before)
    for dtype in ("float32", "float64"):
        assert params.astype(dtype).flat.dtype == dtype
    assert params.zeros_like().flat.dtype == params.flat.dtype


def test_parameters_go_to_the_gpu_and_back_unchanged(gpu):
    params = initialise(tiny_config())
    there = params.to(gpu.xp)
    assert isinstance(there["position"], gpu.xp.ndarray)
    np.testing.assert_array_equal(there.to(np).flat, params.flat)


def test_what_is_made_of_parameters_on_the_gpu_is_there_too(gpu):
    params = Params.zeros(ROWS, xp=gpu.xp)
    for other in (params.zeros_like(), params.astype("float64"), params.copy_to(ROWS, exclude="b.")):
        assert isinstance(other.flat, gpu.xp.ndarray)


def test_a_group_has_its_parameters_in_the_order_of_the_table():
    """Not in that of the buffer, where what decays comes first."""
    params = initialise(tiny_config())
    weight, bias = params.group("blocks.1.norm1")
    assert weight is params["blocks.1.norm1.weight"] and bias is params["blocks.1.norm1.bias"]
    names = ["attn.qkv.weight", "attn.qkv.bias", "attn.out.weight", "attn.out.bias"]
    group = params.group("blocks.1.attn")
    assert len(group) == 4
    assert all(view is params[f"blocks.1.{name}"] for view, name in zip(group, names, strict=True))
    assert len(params.group("blocks")) == 2 * len(params.group("blocks.0")) == 2 * 12
    assert params.group("position")[0] is params["position"]


def test_block_1_does_not_take_in_block_10():
    params = initialise(tiny_config(layers=11))
    assert len(params.group("blocks.1")) == len(params.group("blocks.10")) == 12


def test_a_missing_part_is_a_key_error():
    params = initialise(tiny_config())
    for name in ("blocks.2", "block", "norm.weigh", ""):
        with pytest.raises(KeyError):
            params.group(name)
    with pytest.raises(KeyError):
        params["blocks.0"]


def test_a_group_is_added_to_in_the_order_of_the_table():
    params = Params.zeros(ROWS)
    for _ in range(2):
        params.add("a", np.full(3, 1.0), np.full((2, 3), 2.0))  # the bias is the first of them in ROWS
    assert (params["a.bias"] == 2).all() and (params["a.weight"] == 4).all()
    assert not params["b.weight"].any()


@pytest.mark.parametrize("count", [1, 3])
def test_as_many_arrays_are_added_as_the_group_has(count):
    with pytest.raises(ValueError, match="zip"):
        Params.zeros(ROWS).add("a", *[np.zeros(3)] * count)


def test_it_is_a_mapping():
    params = Params.zeros(ROWS)
    assert isinstance(params, Mapping)
    assert list(params) == list(params.keys()) == list(SHAPES) and len(params) == 5
    assert {name: view.shape for name, view in params.items()} == SHAPES
    assert all(view is params[name] for view, name in zip(params.values(), params, strict=True))
    assert "a.bias" in params and "a" not in params
    assert params.get("nothing") is None
    assert dict(**params).keys() == SHAPES.keys()


def test_two_tables_are_equal_if_they_are_one():
    params, twin = Params.zeros(ROWS), Params.zeros(ROWS)
    assert params == params and params != twin
    assert len({params, twin, params}) == 2


@pytest.mark.parametrize("method", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_names_of_a_copy_are_views_of_its_own_buffer(method):
    params = initialise(tiny_config(pre_logits=3), 1)
    before = params.flat.copy()
    twin = method(params)
    np.testing.assert_array_equal(twin.flat, before)
    assert twin.rows == params.rows and twin.decayed == params.decayed
    for name in params:
        assert np.shares_memory(twin[name], twin.flat)
        np.testing.assert_array_equal(twin[name], params[name])
    if method is not copy.copy:  # a shallow copy shares its buffer
        twin.flat[...] = 7
        assert all((twin[name] == 7).all() for name in twin)
        np.testing.assert_array_equal(params.flat, before)


def test_a_model_survives_deepcopy_and_pickle():
    model = Model(tiny_config(), initialise(tiny_config()), "abcde")
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert (twin.config, twin.classes) == (model.config, model.classes)
        twin.params["head.bias"] = np.ones(5)
        assert twin.params.flat.sum() > model.params.flat.sum() + 4
    assert not model.params["head.bias"].any()


def test_the_repr_counts_and_names_what_is_there():
    assert repr(Params.zeros(ROWS, "float64")) == (
        "Params(23 numbers, float64: a.bias (3,), a.weight (2, 3), position (4, 2), norm.weight (3,), "
        "b.weight (3, 1))"
    )
    text = repr(initialise(preset("nano/4", 32, 10)))
    assert text.startswith("Params(142,026 numbers, float32: patch.weight (48, 64), ")
    assert text.endswith(", ..., head.weight (64, 10), head.bias (10,))") and len(text) < 200


def test_the_repr_leaves_names_out_if_there_are_more_than_six():
    six, seven = (
        Params.zeros(specs_from_shapes(dict.fromkeys(names, (1,)))) for names in ("abcdef", "abcdefg")
    )
    assert repr(six).endswith("float32: a (1,), b (1,), c (1,), d (1,), e (1,), f (1,))")
    assert repr(seven).endswith("float32: a (1,), b (1,), c (1,), d (1,), ..., f (1,), g (1,))")


def test_the_repr_says_when_it_is_on_the_gpu(gpu):
    assert "float32 on the GPU" in repr(Params.zeros(ROWS, xp=gpu.xp))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_are_carried_over_to_another_table(dtype):
    params = Params(np.arange(23, dtype=dtype), ROWS)
    rows = specs_from_shapes({"position": (4, 2), "a.weight": (2, 3), "a.bias": (3,), "b.weight": (5, 5)})
    carried = params.copy_to(rows, exclude="b.")
    assert list(carried) == ["position", "a.weight", "a.bias", "b.weight"]
    for name in ("position", "a.weight", "a.bias"):
        np.testing.assert_array_equal(carried[name], params[name])
    assert not carried["b.weight"].any() and carried.flat.dtype == dtype
