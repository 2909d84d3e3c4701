"""The ResNet of a model as nodes of an ONNX graph: see onnx_file.py, and model/resnet.py for the equations.

Maps are (B, C, H, W), as ONNX's convolutions read them. SAME_UPPER is TensorFlow's and tinyvit's SAME.
"""

import numpy as np

from tinyvit import ops
from tinyvit.model import Params, ViTConfig
from tinyvit.model.resnet import EPSILONS, unit_stride, units_of
from tinyvit.pretrained.onnx_graph import Graph


def resnet(config: ViTConfig, params: Params, g: Graph, x: str) -> str:
    """The feature map of images (B, channels, H, W)."""
    x = g.node("Relu", convolved(config, params, g, "resnet.root", "", x, stride=2))
    x = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")
    for i, j in units_of(config):
        x = unit(config, params, g, i, j, x)
    return x


def unit(config: ViTConfig, params: Params, g: Graph, i: int, j: int, x: str) -> str:
    """Unit j of stage i."""
    p, stride = f"resnet.{i}.{j}", unit_stride(i, j)
    skip = convolved(config, params, g, p, "_proj", x, stride) if j == 0 else x
    y = g.node("Relu", convolved(config, params, g, p, "1", x))
    y = g.node("Relu", convolved(config, params, g, p, "2", y, stride))
    y = convolved(config, params, g, p, "3", y)
    return g.node("Relu", g.node("Add", skip, y))


def convolved(
    config: ViTConfig, params: Params, g: Graph, part: str, which: str, x: str, stride: int = 1
) -> str:
    """A convolution, whose kernel is standardised here once and for all, and its group norm."""
    eps = EPSILONS[config.resnet_form]
    name = f"{part}.conv{which}.weight"
    standardised, _ = ops.weight_standardisation(params[name], eps.kernel, eps.in_root)
    weight = kernel(g, name, standardised)
    y = g.node("Conv", x, weight, strides=[stride, stride], auto_pad="SAME_UPPER")
    return group_norm(params, g, f"{part}.norm{which}", y, config.resnet_groups, eps.norm)


def group_norm(params: Params, g: Graph, part: str, x: str, groups: int, eps: float) -> str:
    """Normalise each group as if it were one channel, then apply gain and bias to each channel."""
    C = params[f"{part}.weight"].size
    ones = g.constant(f"ones.{groups}", np.ones(groups, "float32"))
    zeros = g.constant(f"zeros.{groups}", np.zeros(groups, "float32"))
    n = g.node("Reshape", x, [0, groups, -1])  # (B, G, C/G H W)
    n = g.node("InstanceNormalization", n, ones, zeros, epsilon=eps)
    n = g.node("Reshape", n, g.node("Shape", x))  # (B, C, H, W)
    weight, bias = g.weight_and_bias(params, part, (C, 1, 1))
    return g.node("Add", g.node("Mul", n, weight), bias)


def kernel(g: Graph, name: str, weight: np.ndarray) -> str:
    """A kernel (k, k, I, O) as ONNX has it: (O, I, k, k)."""
    return g.constant(name, weight.transpose(3, 2, 0, 1))
