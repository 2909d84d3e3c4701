"""Array operations of the reference engine, counted without a GPU: what is counted by hand comes out."""

import numpy as np
import pytest

from tests.helpers import tiny_config
from tinyvit import ops
from tinyvit.backend import array_module
from tinyvit.benchmark.speed import array_operations
from tinyvit.benchmark.speed.array_operations import count_operations, reference_operations
from tinyvit.model import preset
from tinyvit.model.cost import multiply_adds


def counted(function, *shapes):
    """The operations of a function of arrays of these shapes, as pairs (name, bytes)."""
    arrays = [array_operations._array(shape, "float32") for shape in shapes]
    with array_operations._counting() as found:
        function(*arrays)
        return [(operation.name, operation.work.bytes_moved) for operation in found]


def test_the_operations_of_a_layer_norm_are_those_counted_by_hand():
    rows, row, array = 10, 4 * 10, 4 * 10 * 8  # numbers in a column, bytes of a column, bytes of an array
    found = counted(ops.layer_norm, (rows, 8), (8,), (8,))
    assert found == [
        ("mean", array + row),
        ("subtract", 2 * array + row),
        ("multiply", 2 * array),  # n n reads n once
        ("mean", array + row),
        ("add", 2 * row),
        ("sqrt", 2 * row),
        ("divide", 2 * row),
        ("multiply", 2 * array + row),
        ("multiply", 2 * array + 32),
        ("add", 2 * array + 32),
    ]


def test_a_product_of_transposed_matrices_is_not_copied_but_a_batch_of_them_is():
    found = counted(lambda a, b: a @ b.T, (5, 3), (4, 3))
    assert found == [("matmul", 4 * (15 + 12 + 20))]
    found = counted(lambda a, b: a @ b.transpose(0, 2, 1), (2, 5, 3), (2, 4, 3))
    assert found == [("copy", 2 * 96), ("matmul", 4 * (30 + 24 + 40))]


@pytest.mark.parametrize("mode", ["train", "infer"])
@pytest.mark.parametrize("config", [tiny_config(), tiny_config(pool="mean", pre_logits=8)])
def test_what_is_computed_from_small_batches_holds_for_larger_ones(mode, config):
    assert reference_operations(config, 7, mode) == count_operations(config, 7, mode)


def test_multiply_adds_are_those_of_the_model():
    config = preset("Ti/4", 32, 10)
    inference = sum(o.work.multiply_adds for o in reference_operations(config, 16, "infer"))
    assert 0.9 < inference / (16 * multiply_adds(config)) < 1  # in the last block, the class token only
    training = sum(o.work.multiply_adds for o in reference_operations(config, 16, "train"))
    assert 2.9 < training / inference <= 3


def test_nothing_is_left_behind():
    count_operations(tiny_config(), 2, "train")
    x = np.ones((2, 3), "float32")
    assert array_module(x) is np
    assert ops.layer_norm(x, x[0], x[0])[0].__class__ is np.ndarray
