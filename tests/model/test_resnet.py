"""The ResNet of a hybrid: its parts, one by one, and what the tokens of a hybrid see."""

import numpy as np
import pytest

from tests.helpers import random_batch, tiny_config
from tinyvit import ops
from tinyvit.engine import CpuEngine
from tinyvit.gradcheck import TOLERANCE, gradient_error, numerical_gradient, random_params
from tinyvit.model import backward, forward, infer, initialise
from tinyvit.model.later.resnet import EPSILONS, resnet_stages, unit, unit_backward
from tinyvit.model.stage import infer_through
from tinyvit.objectives import loss_and_grads


def hybrid(**changes):
    numbers = {"image_size": 24, "patch_size": 1, "resnet": (2, 1), "resnet_width": 4, "resnet_groups": 2}
    return tiny_config(**(numbers | changes))


def draw(config, shape):
    rng = np.random.default_rng(0)
    return random_params(config, rng), rng.standard_normal(shape), rng


def test_a_new_unit_passes_on_what_the_skip_connection_gives_it():
    config = hybrid()
    params, x = initialise(config, dtype="float64"), np.random.default_rng(0).standard_normal((2, 5, 6, 16))
    np.testing.assert_array_equal(unit(config, params, 0, 1, x)[0], np.maximum(x, 0))


def test_the_first_unit_of_a_stage_projects_the_skip_connection():
    config = hybrid()
    params, x, _ = draw(config, (2, 5, 6, 16))
    params["resnet.1.0.norm3.weight"][:] = 0
    params["resnet.1.0.norm3.bias"][:] = 0
    y, _ = unit(config, params, 1, 0, x)
    kernel, _ = ops.weight_standardisation(params["resnet.1.0.conv_proj.weight"])
    projected = x[:, ::2, ::2] @ kernel[0, 0]
    expected, _ = ops.group_norm(projected, *params.group("resnet.1.0.norm_proj"), groups=2)
    np.testing.assert_allclose(y, np.maximum(expected, 0), atol=1e-12)


@pytest.mark.parametrize("form", EPSILONS)
def test_every_convolution_has_the_epsilons_of_its_form(form, monkeypatch):
    kernels, norms = [], []
    standardisation, group_norm = ops.weight_standardisation, ops.group_norm

    def standardise(weight, eps=None, in_root=None):
        kernels.append((eps, in_root))
        return standardisation(weight, eps, in_root)

    def normalise(x, gain, bias, groups, eps=None):
        norms.append(eps)
        return group_norm(x, gain, bias, groups, eps)

    monkeypatch.setattr(ops, "weight_standardisation", standardise)
    monkeypatch.setattr(ops, "group_norm", normalise)
    config = hybrid(resnet_form=form)
    params, images, _ = draw(config, (1, 24, 24, 3))
    infer_through(resnet_stages(config), params, images)
    kernel, in_root, norm = EPSILONS[form]
    count = 1 + 4 + 3 + 4  # the root, and three units, of which two have a projection
    assert kernels == [(kernel, in_root)] * count and norms == [norm] * count


@pytest.mark.parametrize(
    "i, j, channels, size", [(0, 0, 4, (4, 4)), (0, 1, 16, (3, 5)), (1, 0, 16, (3, 5)), (1, 0, 16, (4, 4))]
)
def test_the_gradients_of_a_unit_match_finite_differences(i, j, channels, size):
    config = hybrid()
    params, x, rng = draw(config, (2, *size, channels))
    y, cache = unit(config, params, i, j, x)
    dy, grads = rng.standard_normal(y.shape), params.zeros_like()
    dx = unit_backward(i, j, dy, cache, grads)

    def loss():
        return (unit(config, params, i, j, x)[0] * dy).sum()

    assert gradient_error(dx, numerical_gradient(loss, x)) < TOLERANCE
    mine = [name for name in params if name.startswith(f"resnet.{i}.{j}.")]
    assert len(mine) == (9 if j else 12)
    for name in mine:
        assert gradient_error(grads[name], numerical_gradient(loss, params[name])) < TOLERANCE, name
    assert not any(grads[name].any() for name in params if name not in mine)


@pytest.mark.parametrize("size", [(24, 24), (33, 45), (1, 7)], ids=str)
@pytest.mark.parametrize("stages", [(), (1,), (2, 1, 1)], ids=str)
def test_the_feature_map_has_the_shape_that_the_configuration_states(size, stages):
    config = hybrid(image_size=size, resnet=stages)
    x = infer_through(resnet_stages(config), initialise(config), np.zeros((2, *size, 3), "float32"))
    assert x.shape == (2, *config.feature_map) and x.dtype == "float32"


def test_gradients_are_added_to_what_is_there():
    config = hybrid()
    params, images, rng = draw(config, (2, 24, 24, 3))
    logits, cache = forward(config, params, images)
    dlogits = rng.standard_normal(logits.shape)
    once, twice = params.zeros_like(), params.zeros_like()
    backward(dlogits, cache, once)
    backward(dlogits, cache, twice)
    backward(dlogits, cache, twice)
    assert once.flat.any()
    np.testing.assert_allclose(twice.flat, 2 * once.flat, atol=1e-12)


def test_the_cpu_engine_computes_a_hybrid_on_threads():
    config = hybrid()
    params, images, rng = draw(config, (6, 24, 24, 3))
    labels = rng.integers(0, config.classes, 6)
    engine = CpuEngine(config, params, threads=2, micro_batch=1)
    loss = engine.loss_and_grads(images, labels)
    expected = params.zeros_like()
    assert loss == pytest.approx(loss_and_grads(config, params, images, labels, expected), rel=1e-12)
    np.testing.assert_allclose(engine.grads.flat, expected.flat, atol=1e-10)
    np.testing.assert_allclose(engine.logits(images), infer(config, params, images), atol=1e-10)


def test_float32_stays_float32_and_agrees_with_float64():
    config = hybrid(image_size=64, resnet_width=32, resnet_groups=32)
    params = random_params(config, np.random.default_rng(0), "float32")
    images, labels = random_batch(config, 2, np.random.default_rng(1), "float32")
    grads, double_grads = params.zeros_like(), params.astype("float64").zeros_like()
    loss_and_grads(config, params, images, labels, grads)
    loss_and_grads(config, params.astype("float64"), images.astype("float64"), labels, double_grads)
    logits = infer(config, params, images)
    assert logits.dtype == grads.flat.dtype == np.float32
    expected = infer(config, params.astype("float64"), images.astype("float64"))
    assert np.abs(logits - expected).max() < 1e-4 * np.abs(expected).max()
    assert gradient_error(grads.flat, double_grads.flat) < 1e-3


def test_a_plain_vit_has_no_resnet_and_the_root_alone_has_no_stages():
    assert not any(name.startswith("resnet.") for name in initialise(tiny_config()))
    names = [name for name in initialise(hybrid(resnet=())) if name.startswith("resnet.")]
    assert names == ["resnet.root.conv.weight", "resnet.root.norm.weight", "resnet.root.norm.bias"]
