"""The ResNet of a hybrid, which reads the image before the Transformer does, or a ResNet on its own.

The root makes the image four times smaller, and stages of bottleneck units follow, each stage but the first
halving it once more. As in the official code, every convolution is a unit of its own, without a bias: its
kernel is standardised first, and its result is normalised,

    C(x) = GroupNorm(convolution(x, standardised kernel))                                  (1)

    root    y = max-pool(ReLU(C(x)))           7 x 7, stride 2; max-pool 3 x 3, stride 2   (2)

    unit    a = ReLU(C1(x))                    1 x 1, to F channels                        (3)
            b = ReLU(C2(a))                    3 x 3, with the stride of the unit          (4)
            y = ReLU(S(x) + C3(b))             1 x 1, to 4 F channels                      (5)

The skip connection S is the identity where x and y have the same shape; in the first unit of a stage it is
another C, 1 x 1 with the stride of the unit. F is the width of the root in the first stage, and doubles with
each. 3 x 3 kernels are applied to the narrow F channels only: hence the name bottleneck.

Backward. (1) to (5) are read from the last to the first. In (5), the gradient dz that passes the ReLU goes
both ways:

    dx = (gradient of S at dz) + (gradient of C3, C2, C1 at dz)                            (6)

The gain of the last norm of a unit is 0 at first, so that a new unit computes y = ReLU(S(x)).

timm computes the same with other epsilons, which weights published by it need: see EPSILONS.
"""

from typing import NamedTuple

from tinyvit import ops
from tinyvit.backend import Array
from tinyvit.errors import UserError
from tinyvit.model import distributions
from tinyvit.model.config import ViTConfig
from tinyvit.model.distributions import Initialiser
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, instead
from tinyvit.model.layout import ParamSpec, Shape, norm_specs
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage, stage


class Epsilons(NamedTuple):
    """The epsilon of weight standardisation, whether it is added to the variance, and that of GroupNorm."""

    kernel: float
    in_root: bool
    norm: float


EPSILONS = {"official": Epsilons(1e-5, False, 1e-6), "timm": Epsilons(1e-8, True, 1e-5)}  # by resnet_form


class ConvolvedCache(NamedTuple):
    """The cache of a standardised, normalised convolution, one entry per operation."""

    standardisation: tuple
    convolution: tuple
    norm: tuple


class UnitCache(NamedTuple):
    """The cache of a unit, one entry per part; proj is None where the skip is x."""

    proj: ConvolvedCache | None
    conv1: ConvolvedCache
    relu1: Array
    conv2: ConvolvedCache
    relu2: Array
    conv3: ConvolvedCache
    relu3: Array


class ResNetCache(NamedTuple):
    """The cache of a ResNet."""

    root: ConvolvedCache
    relu: Array
    pool: tuple
    units: list[UnitCache]


def resnet(config: ViTConfig, params: Params, images: Array) -> tuple[Array, ResNetCache]:
    """The feature map (B, *config.feature_map) of images (B, H, W, channels), and the cache."""
    x, root = convolved(config, params, "resnet.root", "", images, stride=2)
    x, relu = ops.relu(x)
    x, pool = ops.max_pool(x)  #                                                             eq. 2
    units = []
    for i, j in units_of(config):
        x, cache = unit(config, params, i, j, x)
        units.append(cache)
    return x, ResNetCache(root, relu, pool, units)


def resnet_backward(config: ViTConfig, dx: Array, cache: ResNetCache, grads: Params) -> None:
    """Add the gradients of the parameters to grads, given dx (B, *config.feature_map)."""
    for (i, j), unit_cache in zip(reversed(units_of(config)), reversed(cache.units), strict=True):
        dx = unit_backward(i, j, dx, unit_cache, grads)
    dx = ops.max_pool_backward(dx, cache.pool)
    dx = ops.relu_backward(dx, cache.relu)
    convolved_backward("resnet.root", "", dx, cache.root, grads, inputs=False)


def unit(config: ViTConfig, params: Params, i: int, j: int, x: Array) -> tuple[Array, UnitCache]:
    """Unit j of stage i, both counted from 0: x (B, H, W, C) to y (B, h, w, 4 F), and the cache."""
    p, stride = f"resnet.{i}.{j}", unit_stride(i, j)
    skip, proj = x, None
    if j == 0:
        skip, proj = convolved(config, params, p, "_proj", x, stride)  # (B, h, w, 4 F)
    y, conv1 = convolved(config, params, p, "1", x)
    y, relu1 = ops.relu(y)  # (B, H, W, F)                                                   eq. 3
    y, conv2 = convolved(config, params, p, "2", y, stride)
    y, relu2 = ops.relu(y)  # (B, h, w, F)                                                   eq. 4
    y, conv3 = convolved(config, params, p, "3", y)
    y, relu3 = ops.relu(skip + y)  # (B, h, w, 4 F)                                          eq. 5
    return y, UnitCache(proj, conv1, relu1, conv2, relu2, conv3, relu3)


def unit_backward(i: int, j: int, dy: Array, cache: UnitCache, grads: Params) -> Array:
    """Gradient of unit j of stage i: dy (B, h, w, 4 F) to dx (B, H, W, C); adds those of its parameters."""
    p = f"resnet.{i}.{j}"
    dz = ops.relu_backward(dy, cache.relu3)  # (B, h, w, 4 F)
    dx = convolved_backward(p, "3", dz, cache.conv3, grads)
    dx = ops.relu_backward(dx, cache.relu2)
    dx = convolved_backward(p, "2", dx, cache.conv2, grads)
    dx = ops.relu_backward(dx, cache.relu1)
    dx = convolved_backward(p, "1", dx, cache.conv1, grads)  # (B, H, W, C)
    if cache.proj:
        dz = convolved_backward(p, "_proj", dz, cache.proj, grads)
    return dx + dz  #                                                                        eq. 6


def convolved(
    config: ViTConfig, params: Params, part: str, which: str, x: Array, stride: int = 1
) -> tuple[Array, ConvolvedCache]:
    """Convolution `which` of a part, with a standardised kernel, and its group norm; and the cache."""
    eps = EPSILONS[config.resnet_form]
    weight, gain, bias = (*params.group(f"{part}.conv{which}"), *params.group(f"{part}.norm{which}"))
    kernel, standardisation = ops.weight_standardisation(weight, eps.kernel, eps.in_root)
    y, convolution = ops.convolution(x, kernel, stride)
    y, norm = ops.group_norm(y, gain, bias, config.resnet_groups, eps.norm)  #               eq. 1
    return y, ConvolvedCache(standardisation, convolution, norm)


def convolved_backward(
    part: str, which: str, dy: Array, cache: ConvolvedCache, grads: Params, inputs: bool = True
) -> Array | None:
    """Gradient of convolved: dy to dx, or None without `inputs`; adds the parameter gradients to grads."""
    dy, *dnorm = ops.group_norm_backward(dy, cache.norm)
    grads.add(f"{part}.norm{which}", *dnorm)
    dx, dkernel = ops.convolution_backward(dy, cache.convolution, inputs)
    dkernel = ops.weight_standardisation_backward(dkernel, cache.standardisation)
    grads.add(f"{part}.conv{which}", dkernel)
    return dx


def units_of(config: ViTConfig) -> list[tuple[int, int]]:
    """(stage, unit) of every unit, in the order of the forward pass."""
    return [(i, j) for i, count in enumerate(config.resnet or ()) for j in range(count)]


def unit_stride(i: int, j: int) -> int:
    """Every stage but the first begins by halving the image, which the root has made smaller already."""
    return 2 if i and j == 0 else 1


def _flatten(x: Array) -> tuple[Array, Shape]:
    """The positions of a feature map (B, h, w, D) as tokens (B, h w, D), and the cache."""
    return x.reshape(len(x), -1, x.shape[-1]), x.shape


def _flatten_backward(dy: Array, cache: Shape) -> Array:
    return dy.reshape(cache)


def _stages(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    if place.kind == "stem":

        def backward(dy: Array, cache: ResNetCache, grads: Params) -> None:
            resnet_backward(config, dy, cache, grads)

        before = Stage("resnet", lambda params, x: resnet(config, params, x), backward)
        alone = [stage("flatten", _flatten, _flatten_backward)]
        return [before, *(stages if config.has_transformer else alone)]
    if place.kind == "readout" and not config.has_transformer:
        return instead(stages, "norm")
    return stages


def _specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    if place.kind == "stem":
        return [*_resnet_specs(config), *(specs if config.has_transformer else [])]
    if place.kind == "readout" and not config.has_transformer:
        return instead(instead(specs, "norm.weight"), "norm.bias")
    return specs


def _resnet_specs(config: ViTConfig) -> Specs:
    """A ResNet: its root, and its stages of units, which the official names count from 1."""
    F = config.resnet_width
    specs = _convolution("resnet.root", "", (7, 7, config.channels, F), "conv_root", "gn_root")
    inputs = F
    for i, units in enumerate(config.resnet or ()):
        F = config.resnet_width * 2**i
        for j in range(units):
            specs += _unit(f"resnet.{i}.{j}", inputs, F, f"block{i + 1}/unit{j + 1}", projects=j == 0)
            inputs = 4 * F
    return specs


def _unit(ours: str, inputs: int, F: int, theirs: str, projects: bool) -> Specs:
    """One bottleneck unit; the gain of its last norm is 0 at first."""
    kernels = {"1": (1, 1, inputs, F), "2": (3, 3, F, F), "3": (1, 1, F, 4 * F)}
    if projects:
        kernels = {"_proj": (1, 1, inputs, 4 * F)} | kernels
    specs: Specs = []
    for which, shape in kernels.items():
        gain = distributions.zeros if which == "3" else distributions.ones
        specs += _convolution(ours, which, shape, f"{theirs}/conv{which}", f"{theirs}/gn{which}", gain)
    return specs


def _convolution(
    part: str, which: str, shape: Shape, kernel: str, norm: str, gain: Initialiser = distributions.ones
) -> Specs:
    """A convolution without a bias, and the norm that follows it."""
    official = ((f"{kernel}/kernel", shape),)
    weight = ParamSpec(
        f"{part}.conv{which}.weight", shape, distributions.lecun_normal, decays=True, official=official
    )
    return [weight, *norm_specs(f"{part}.norm{which}", shape[-1], norm, gain)]


def _check(config: ViTConfig) -> None:
    if not config.has_transformer and (parts := config.later_parts):
        raise UserError(f"{next(iter(parts))} belongs to a Transformer, which a ResNet does not have.")


PART = Part({"resnet": None}, _stages, _specs, check=_check)
