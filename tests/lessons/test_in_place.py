"""Answers that change in place what they are given: a check says that, and calls no right number wrong."""

import math
from importlib import import_module
from types import SimpleNamespace

import pytest

from lessons.referee import Fault
from tinyvit.ops import (
    attention,
    attention_backward,
    cross_entropy,
    cross_entropy_backward,
    layer_norm,
    layer_norm_backward,
    linear,
    linear_backward,
    softmax,
)


def smoothed_in_place(logits, targets, smoothing=0.0):
    if targets.ndim == 2:
        targets *= 1 - smoothing
        targets += smoothing / targets.shape[1]
        smoothing = 0.0
    return cross_entropy(logits, targets, smoothing)


def flattened_in_place(x, weight, bias):
    before, x.shape = x.shape[:-1], (-1, x.shape[-1])
    y, cache = linear(x, weight, bias)
    return y.reshape(*before, -1), cache


def doubled_afterwards(x, weight, bias, eps=1e-6):
    y, cache = layer_norm(x, weight, bias, eps)
    x *= 2
    return y, cache


def divided_in_place(q, k, v):
    q /= math.sqrt(q.shape[-1])
    A, cache = softmax(q @ k.swapaxes(-1, -2))
    return A @ v, (q, k, v, A, cache)


def weights_divided_in_place(x, qkv_weight, qkv_bias, out_weight, out_bias, heads):
    y, cache = attention(x, qkv_weight, qkv_bias, out_weight, out_bias, heads)
    qkv_weight[:, : x.shape[-1]] /= 2
    return y, cache


ANSWERS = {
    "01_softmax_cross_entropy": {
        "cross_entropy": smoothed_in_place,
        "cross_entropy_backward": cross_entropy_backward,
    },
    "03_linear": {"linear": flattened_in_place, "linear_backward": linear_backward},
    "06_attention": {
        "single_head": divided_in_place,
        "single_head_backward": None,  # it is not reached
        "attention": weights_divided_in_place,
        "attention_backward": attention_backward,
    },
    "07_layer_norm": {"layer_norm": doubled_afterwards, "layer_norm_backward": layer_norm_backward},
}
RIGHT_VALUES = [
    ("01_softmax_cross_entropy", "test_backward_with_smoothing", ["soft targets"]),
    ("03_linear", "test_any_number_of_leading_axes", [(2, 3)]),
    ("07_layer_norm", "test_gain_offset_and_eps", [(2, 3, 5)]),
    ("07_layer_norm", "test_rows_of_small_numbers", []),
    ("07_layer_norm", "test_two_forwards_before_the_backward", []),
    ("06_attention", "test_values_token_by_token", [(2, 5, 7)]),
    ("06_attention", "test_values_head_by_head", [(5, 4, 6, 2)]),
]
CHANGED = [
    ("01_softmax_cross_entropy", "test_the_arrays_given_stay_as_they_are", ["soft targets", "float64"]),
    ("03_linear", "test_gradients", [(2, 3)]),
    ("07_layer_norm", "test_backward", [(2, 3, 5)]),
    ("06_attention", "test_backward", [(2, 5, 3)]),
    ("06_attention", "test_backward_with_heads", [(5, 4, 6, 2)]),
]


def checked(lesson, check, arguments):
    """Run one check of a lesson on the answer above."""
    getattr(import_module(f"lessons.{lesson}.test_lesson"), check)(
        SimpleNamespace(**ANSWERS[lesson]), *arguments
    )


@pytest.mark.parametrize(("lesson", "check", "arguments"), RIGHT_VALUES)
def test_right_values_are_accepted(lesson, check, arguments):
    checked(lesson, check, arguments)


@pytest.mark.parametrize(("lesson", "check", "arguments"), CHANGED)
def test_the_change_is_what_is_said(lesson, check, arguments):
    with pytest.raises(Fault) as raised:
        checked(lesson, check, arguments)
    assert raised.value.kind == "inplace"
