"""The gradient checks themselves: they pass what is right, and nothing else."""

import dataclasses
import math

import numpy as np
import pytest

from tests.helpers import random_batch
from tinyvit import gradcheck, ops
from tinyvit.backend import to_numpy
from tinyvit.gradcheck import (
    MODEL_CHECKS,
    OPERATION_CHECKS,
    TOLERANCE,
    ModelCheck,
    check_gradients,
    gradient_error,
    numerical_gradient,
    random_params,
)
from tinyvit.ops import Noise
from tinyvit.ops.gelu import _tanh_slope
from tinyvit.ops.layer_norm import row_means
from tinyvit.support.errors import UserError

BACKWARDS = sorted(name for name in dir(ops) if name.endswith("_backward"))
every_check = pytest.mark.parametrize("check", OPERATION_CHECKS, ids=lambda check: check.name)


def draw(*shapes):
    rng = np.random.default_rng(1)
    return [rng.standard_normal(shape) for shape in shapes]


def errors(forward, backward, *shapes):
    return check_gradients(forward, backward, draw(*shapes), np.random.default_rng(2))


def test_the_numerical_gradient_is_right_to_ten_digits():
    (x,) = draw((3, 4))
    np.testing.assert_allclose(numerical_gradient(lambda: np.sin(x).sum(), x), np.cos(x), atol=1e-9)


def test_the_input_is_put_back_to_the_bit():
    x = np.outer(10.0 ** np.arange(-9, 6), draw((5,))[0])  # numbers far smaller than the step, and far larger
    before = x.tobytes()
    numerical_gradient(lambda: (x**3).sum(), x)
    assert x.tobytes() == before


@pytest.mark.parametrize("x", [np.ones(3, "float32"), np.ones((3, 2)).T], ids=["float32", "not contiguous"])
def test_arrays_that_differences_cannot_be_taken_of_are_refused(x):
    with pytest.raises(ValueError, match="expected contiguous float64"):
        numerical_gradient(lambda: x.sum(), x)


def test_two_gradients_of_zero_are_equal_and_noise_about_zero_is_forgiven():
    assert gradient_error(np.zeros(4), np.zeros(4)) == 0
    assert gradient_error(np.full(4, 1e-17), np.full(4, -1e-11)) < TOLERANCE
    assert gradient_error(np.ones(4), np.zeros(4)) == 1


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_gradient_that_is_not_finite_is_wrong_wherever_it_is(bad):
    def backward(dy, cache):
        dx, dweight, dbias = ops.linear_backward(dy, cache)
        dweight[0, 0] = bad
        return dx, dweight, dbias

    found = errors(ops.linear, backward, (4, 3), (3, 2), (2,))
    assert not max(found) < TOLERANCE
    assert found[1] == max(found)


def layer_norm_without_the_mean(dy, cache):
    n, r, weight = cache
    _, dweight, dbias = ops.layer_norm_backward(dy, cache)
    g = dy * weight
    return r * (g - n * row_means(g * n)), dweight, dbias


def layer_norm_without_the_spread(dy, cache):
    _, r, weight = cache
    _, dweight, dbias = ops.layer_norm_backward(dy, cache)
    g = dy * weight
    return r * (g - row_means(g)), dweight, dbias


@pytest.mark.parametrize("backward", [layer_norm_without_the_mean, layer_norm_without_the_spread])
def test_a_layer_norm_backward_without_one_of_its_terms_is_caught(backward):
    shapes = (3, 5, 6), (6,), (6,)
    assert max(errors(ops.layer_norm, ops.layer_norm_backward, *shapes)) < TOLERANCE
    dx, dweight, dbias = errors(ops.layer_norm, backward, *shapes)
    assert dx > 0.01 and max(dweight, dbias) < TOLERANCE


def test_the_slope_of_the_tanh_gelu_under_an_exact_forward_is_caught():
    def backward(dy, cache):
        x, gate, _ = cache
        return dy * _tanh_slope(x, gate)

    (error,) = errors(lambda x: ops.gelu(x, "exact"), backward, (4, 25))
    assert 1e-5 < error < 1e-2


def test_a_softmax_backward_that_returns_zeros_is_caught():
    (error,) = errors(ops.softmax, lambda dy, cache: np.zeros_like(dy), (3, 5))
    assert error > 0.9


def test_a_gradient_of_another_shape_is_refused_though_its_numbers_are_right():
    def backward(dy, cache):
        dx, dweight, dbias = ops.linear_backward(dy, cache)
        return dx, dweight, dbias[None]

    with pytest.raises(ValueError, match=r"gradient 2 has shape \(1, 2\), its input has \(2,\)"):
        errors(ops.linear, backward, (4, 3), (3, 2), (2,))


def test_a_missing_gradient_is_refused():
    with pytest.raises(ValueError, match="zip"):
        errors(ops.linear, lambda dy, cache: ops.linear_backward(dy, cache)[:2], (4, 3), (3, 2), (2,))


def calls(function, name):
    """True if a check's function is ops.NAME, perhaps with options, or calls it in its own body."""
    function = getattr(function, "func", function)
    return function is getattr(ops, name) or name in function.__code__.co_names


@pytest.mark.parametrize("name", BACKWARDS)
def test_every_backward_function_of_ops_has_a_check(name):
    assert name in ops.__all__
    forward = name.removesuffix("_backward")
    assert any(calls(c.forward, forward) and calls(c.backward, name) for c in OPERATION_CHECKS)


@every_check
def test_a_check_notices_every_gradient_that_is_a_thousandth_off(check):
    def backward_with(wrong):
        def backward(dy, cache):
            gradients = check.backward(dy, cache)
            gradients = list(gradients) if isinstance(gradients, tuple | list) else [gradients]
            gradients[wrong] = gradients[wrong] * 1.001
            return gradients

        return backward

    assert max(check.errors(seed=3).values()) < TOLERANCE
    for wrong, name in enumerate(check.shapes):
        found = dataclasses.replace(check, backward=backward_with(wrong)).errors(seed=3)
        assert [other for other in found if not found[other] < TOLERANCE] == [name]


def test_a_model_check_notices_an_operation_that_passes_on_a_thousandth_too_much(monkeypatch):
    right = ops.layer_norm_backward

    def wrong(dy, cache):
        dx, dweight, dbias = right(dy, cache)
        return dx * 1.001, dweight, dbias

    monkeypatch.setattr(ops, "layer_norm_backward", wrong)
    assert not max(MODEL_CHECKS[0].errors(seed=1).values()) < TOLERANCE


def run_main(*arguments):
    return gradcheck.main(gradcheck.parser().parse_args(arguments))


def test_the_command_has_a_row_for_every_check_and_exits_with_status_0(monkeypatch, capsys):
    """The gradients of whole models, which take half a minute, are checked in tests/model/test_vit.py."""
    monkeypatch.setattr(ModelCheck, "errors", lambda check, seed, xp: {"head.weight": 1e-9})
    assert run_main("--seed", "3") == 0
    output = capsys.readouterr().out
    assert f"all {len(OPERATION_CHECKS) + len(MODEL_CHECKS)} are right" in output
    for check in (*OPERATION_CHECKS, *MODEL_CHECKS):
        assert f"\n{check.name:32}" in output


@pytest.mark.parametrize("factor", [1.01, 0, math.nan])
def test_the_command_exits_with_status_1_when_a_backward_is_wrong(monkeypatch, capsys, factor):
    wrong = dataclasses.replace(
        next(check for check in OPERATION_CHECKS if check.name == "linear"),
        backward=lambda dy, cache: [
            g * f for g, f in zip(ops.linear_backward(dy, cache), (1, factor, 1), strict=True)
        ],
    )
    monkeypatch.setattr(gradcheck, "OPERATION_CHECKS", (wrong,))
    assert run_main("--only", "linear") == 1
    output = capsys.readouterr().out
    assert "weight   WRONG" in output and "1 of 1 are WRONG" in output


@pytest.mark.parametrize("text", ["SOFTMAX", "layer_norm"])
def test_the_command_can_be_asked_for_some_checks_alone(capsys, text):
    assert run_main("--only", text) == 0
    assert "it is right" in capsys.readouterr().out


def test_asking_for_an_unknown_check_lists_the_existing_ones():
    with pytest.raises(UserError, match=r"no check has 'recurrence'.*layer norm; ") as refused:
        run_main("--only", "recurrence")
    names = str(refused.value).split(" one of ")[1].removesuffix(".").split("; ")
    assert names == [check.name for check in (*OPERATION_CHECKS, *MODEL_CHECKS)]


@every_check
def test_every_gradient_is_right_on_the_gpu(gpu, check):
    assert max(check.errors(seed=3, xp=gpu.xp).values()) < TOLERANCE


@pytest.mark.parametrize("check", MODEL_CHECKS, ids=lambda check: check.name)
def test_every_gradient_of_a_model_on_the_gpu_is_that_on_the_cpu_which_differences_confirm(gpu, check):
    found = []
    for xp in (np, gpu.xp):
        rng = np.random.default_rng(3)
        params, (images, labels) = random_params(check.config, rng), random_batch(check.config, 2, rng)
        params, noise = params.to(xp), Noise(seed=3, step=4) if check.training else None
        grads, arrays = params.zeros_like(), (xp.asarray(images), xp.asarray(labels))
        loss = check.objective(check.config, params, *arrays, grads, noise=noise)
        found.append((float(loss), to_numpy(grads.flat)))
    (loss, grads), (loss_there, grads_there) = found
    assert loss_there == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(grads_there, grads, rtol=1e-9, atol=1e-12)


def test_a_numerical_gradient_is_taken_on_the_gpu(gpu):
    x = gpu.xp.asarray(draw((3, 4))[0])
    gradient = numerical_gradient(lambda: gpu.xp.sin(x).sum(), x)
    np.testing.assert_allclose(to_numpy(gradient), np.cos(to_numpy(x)), atol=1e-9)
