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
from tinyvit.model import distributions
from tinyvit.model.config import ViTConfig, resnet_scale
from tinyvit.model.later.part import Part, Place, Specs, Stages, Step, instead
from tinyvit.model.layout import ParamSpec, Shape, norm_specs
from tinyvit.model.params import Params
from tinyvit.model.stage import Stage, stage
from tinyvit.support.errors import UserError


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


def resnet_stages(config: ViTConfig) -> Stages:
    """From images (B, H, W, channels) to the feature map (B, *config.feature_map)."""
    rectified = stage("relu", ops.relu, ops.relu_backward)
    pooled = stage("max_pool", ops.max_pool, ops.max_pool_backward)  #                       eq. 2
    return [root_stage(config), rectified, pooled, *(_unit_stage(config, i, j) for i, j in units_of(config))]


def root_stage(config: ViTConfig, inputs: bool = False) -> Stage:
    """The convolution of the root. Its backward returns the gradient of the images with `inputs`, or None."""
    return Stage(
        "resnet.root",
        lambda params, x: convolved(config, params, "resnet.root", "", x, stride=2),
        lambda dy, cache, grads: convolved_backward("resnet.root", "", dy, cache, grads, inputs),
    )


def _unit_stage(config: ViTConfig, i: int, j: int) -> Stage:
    return Stage(
        f"resnet.{i}.{j}",
        lambda params, x: unit(config, params, i, j, x),
        lambda dy, cache, grads: unit_backward(i, j, dy, cache, grads),
    )


def unit(config: ViTConfig, params: Params, i: int, j: int, x: Array) -> tuple[Array, tuple]:
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
    return y, (proj, conv1, relu1, conv2, relu2, conv3, relu3)


def unit_backward(i: int, j: int, dy: Array, cache: tuple, grads: Params) -> Array:
    """Gradient of unit j of stage i: dy (B, h, w, 4 F) to dx (B, H, W, C); adds those of its parameters."""
    p, (proj, conv1, relu1, conv2, relu2, conv3, relu3) = f"resnet.{i}.{j}", cache
    dz = ops.relu_backward(dy, relu3)  # (B, h, w, 4 F)
    dx = convolved_backward(p, "3", dz, conv3, grads)
    dx = ops.relu_backward(dx, relu2)
    dx = convolved_backward(p, "2", dx, conv2, grads)
    dx = ops.relu_backward(dx, relu1)
    dx = convolved_backward(p, "1", dx, conv1, grads)  # (B, H, W, C)
    if proj:
        dz = convolved_backward(p, "_proj", dz, proj, grads)
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


class Convolution(NamedTuple):
    """Convolution `which` of a part, k x k, from `inputs` channels to a map (h, w, outputs)."""

    part: str
    which: str
    k: int
    inputs: int
    h: int
    w: int
    outputs: int

    @property
    def size(self) -> int:
        """Number of values of its result."""
        return self.h * self.w * self.outputs


def convolutions_of(config: ViTConfig) -> list[list[Convolution]]:
    """The convolutions of the root and of each unit, in the order of the forward pass."""
    if not config.has_resnet:
        return []
    (H, W), inputs = config.image_size, config.resnet_width
    parts = [[Convolution("resnet.root", "", 7, config.channels, -(-H // 2), -(-W // 2), inputs)]]
    for i, j in units_of(config):
        F, (before, after) = config.resnet_width * 2**i, (_map_after(config, stages) for stages in (i, i + 1))
        shapes = {
            "_proj": (1, inputs, *after, 4 * F),
            "1": (1, inputs, *(after if j else before), F),
            "2": (3, F, *after, F),
            "3": (1, F, *after, 4 * F),
        }
        if j:
            del shapes["_proj"]
        parts.append([Convolution(f"resnet.{i}.{j}", which, *shape) for which, shape in shapes.items()])
        inputs = 4 * F
    return parts


def _map_after(config: ViTConfig, stages: int) -> tuple[int, int]:
    """Height and width of the feature map after the root and this number of stages."""
    (H, W), scale = config.image_size, resnet_scale((1,) * stages)
    return -(-H // scale), -(-W // scale)


def resnet_multiply_adds(config: ViTConfig) -> int:
    """Multiply-adds of the convolutions on one image: k k inputs for each value of their results."""
    return sum(one.k**2 * one.inputs * one.size for part in convolutions_of(config) for one in part)


def resnet_largest_array(config: ViTConfig) -> int:
    """Size of the largest array for one image: k k inputs in each of h w windows."""
    every = [one for part in convolutions_of(config) for one in part]
    return max((one.k**2 * one.inputs * one.h * one.w for one in every), default=0)


def resnet_activation_bytes(config: ViTConfig, bytes_each: int = 4) -> int:
    """Bytes that the caches hold for one image. With h w values in a channel:

        inputs        h w inputs         values          of the root, of each unit, and of its 3 x 3 and last
        GroupNorm     h w outputs        values          n, for every convolution, and one r per channel
        ReLU          h w outputs        single bytes    where x > 0, for all but the projections
        max-pool      h w outputs        2 bytes each    which pixel was the largest

    The standardised kernels are not counted: they are held once, not for each image.
    """
    if not config.has_resnet:
        return 0
    (H, W), (h, w) = config.image_size, _map_after(config, 0)  # h, w: the result of the max-pool
    values, single_bytes = H * W * config.channels, 2 * h * w * config.resnet_width
    for part in convolutions_of(config):
        values += sum(one.size + one.outputs for one in part)
        single_bytes += sum(one.size for one in part if one.which != "_proj")
        if len(part) > 1:
            *_, one, two, _ = part
            values += one.h * one.w * one.inputs + one.size + two.size
    return values * bytes_each + single_bytes


def _flatten(x: Array) -> tuple[Array, Shape]:
    """The positions of a feature map (B, h, w, D) as tokens (B, h w, D), and the cache."""
    return x.reshape(len(x), -1, x.shape[-1]), x.shape


def _flatten_backward(dy: Array, cache: Shape) -> Array:
    return dy.reshape(cache)


def _stem(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    alone = [stage("flatten", _flatten, _flatten_backward)]
    return [*resnet_stages(config), *(stages if config.has_transformer else alone)]


def _readout(config: ViTConfig, place: Place, stages: Stages, step: Step) -> Stages:
    return stages if config.has_transformer else instead(stages, "norm")


def _stem_specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    """Convolutions without biases, and their norms; the gain of the last norm of a unit is 0 at first."""
    new: Specs = []
    for one in (one for part in convolutions_of(config) for one in part):
        _, *unit = one.part.split(".")
        if len(unit) == 2:  # counted from 1 in the official names
            block, number = (int(each) + 1 for each in unit)
            kernel, norm = (f"block{block}/unit{number}/{kind}{one.which}" for kind in ("conv", "gn"))
        else:
            kernel, norm = "conv_root", "gn_root"
        name, shape = f"{one.part}.conv{one.which}.weight", (one.k, one.k, one.inputs, one.outputs)
        official = ((f"{kernel}/kernel", shape),)
        new.append(ParamSpec(name, shape, distributions.lecun_normal, decays=True, official=official))
        gain = distributions.zeros if one.which == "3" else distributions.ones
        new += norm_specs(f"{one.part}.norm{one.which}", one.outputs, norm, gain)
    return [*new, *(specs if config.has_transformer else [])]


def _readout_specs(config: ViTConfig, place: Place, specs: Specs) -> Specs:
    return specs if config.has_transformer else instead(instead(specs, "norm.weight"), "norm.bias")


def _check(config: ViTConfig) -> None:
    if not config.has_transformer and (parts := config.later_parts):
        raise UserError(f"{next(iter(parts))} belongs to a Transformer, which a ResNet does not have.")


PART = Part(
    {"resnet": None},
    {"stem": _stem, "readout": _readout},
    {"stem": _stem_specs, "readout": _readout_specs},
    resnet_multiply_adds,
    _check,
)
