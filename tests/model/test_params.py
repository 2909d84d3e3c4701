import numpy as np
import pytest

from tests.helpers import tiny_config
from tinyvit.model import Params, initialise, layout, rows_of

SHAPES = {"a.bias": (3,), "a.weight": (2, 3), "position": (4, 2), "norm.weight": (3,), "b.weight": (3, 1)}
ROWS = rows_of(SHAPES)


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
    for copy in (params.astype("float32"), params.astype("float64"), params.to(np), params.zeros_like()):
        assert copy.shapes == params.shapes and copy.decayed == params.decayed
        copy.flat += 1
    np.testing.assert_array_equal(params.flat, before)
    assert params.astype("float64").flat.dtype == np.float64
    assert params.zeros_like().flat.dtype == params.flat.dtype


def test_parameters_go_to_the_gpu_and_back_unchanged(gpu):
    params = initialise(tiny_config())
    there = params.to(gpu.xp)
    assert isinstance(there["position"], gpu.xp.ndarray)
    np.testing.assert_array_equal(there.to(np).flat, params.flat)
