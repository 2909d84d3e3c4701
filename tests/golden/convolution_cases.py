"""The cases of the answers in convolution_answers.npz: operations of convolutional networks, and models.

Each case is an operation of tinyvit.ops, its arguments, and the shapes of its inputs, which are drawn again
from a seed; or a hybrid or a ResNet, whose parameters and images are. The answers are the result and the
gradients of sum(dy * result), all in float64.
"""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tinyvit.gradcheck import random_params
from tinyvit.model import ViTConfig

ANSWERS = Path(__file__).with_name("convolution_answers.npz")


@dataclass(frozen=True)
class Case:
    """An operation's name, the shapes of its inputs, and its further arguments."""

    operation: str
    shapes: tuple[tuple[int, ...], ...]
    arguments: dict = field(default_factory=dict)


CASES = {
    f"convolution {k} x {k}, stride {stride}, {size[0]} x {size[1]} pixels, {padding}": Case(
        "convolution", ((2, *size, 3), (k, k, 3, 4)), {"stride": stride, "padding": padding}
    )
    for k in (1, 3, 7)
    for stride in (1, 2)
    for size in ((8, 10), (7, 9))
    for padding in ("SAME", "VALID")
}
CASES |= {
    f"max-pool, stride {stride}, {size[0]} x {size[1]} pixels, {padding}": Case(
        "max_pool", ((2, *size, 3),), {"stride": stride, "padding": padding}
    )
    for stride in (1, 2)
    for size in ((8, 10), (7, 9))
    for padding in ("SAME", "VALID")
}
CASES |= {
    "group norm": Case("group_norm", ((2, 5, 4, 12), (12,), (12,)), {"groups": 4}),
    "group norm, 32 groups": Case("group_norm", ((2, 2, 3, 64), (64,), (64,)), {"groups": 32}),
    "weight standardisation": Case("weight_standardisation", ((3, 3, 4, 5),)),
    "relu": Case("relu", ((2, 3, 4, 5),)),
}


_SMALL = {"width": 12, "mlp_width": 20, "heads": 3, "layers": 1, "classes": 5}
MODELS = {
    "root alone": ViTConfig((32, 48), 2, **_SMALL, resnet=(), resnet_width=8, resnet_groups=4),
    "two stages": ViTConfig(32, 1, **_SMALL, resnet=(2, 1), resnet_width=4, resnet_groups=2),
    "three stages, odd size": ViTConfig(
        (45, 33), 1, **_SMALL, resnet=(1, 1, 1), resnet_width=4, resnet_groups=4
    ),
    "ResNet": ViTConfig(
        (33, 26),
        1,
        32,
        0,
        0,
        0,
        5,
        pool="mean",
        position="none",
        resnet=(2, 1),
        resnet_width=4,
        resnet_groups=2,
    ),
}


def draw_model(name):
    """The parameters of a model, images for it, and the upstream gradient of its logits."""
    config, rng = MODELS[name], np.random.default_rng([6, *name.encode()])
    params = random_params(config, rng)
    return params, rng.standard_normal((2, *config.image_size, 3)), rng.standard_normal((2, config.classes))


def draw(name):
    """The inputs of a case, and a function that draws the upstream gradient for a result."""
    rng = np.random.default_rng([5, *name.encode()])
    inputs = [rng.standard_normal(shape) for shape in CASES[name].shapes]
    return inputs, lambda y: rng.standard_normal(y.shape)
