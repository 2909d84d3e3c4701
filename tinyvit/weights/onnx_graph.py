"""An ONNX graph in the making: constants, nodes that compute one value each, and the file that holds them.

Every value has a name, and a node names the values that it reads. The package onnx, which is needed only
here, makes the messages of the file.
"""

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from tinyvit import __version__, ops
from tinyvit.model import Params, ViTConfig
from tinyvit.model.later.resnet import EPSILONS, unit_stride, units_of
from tinyvit.support.errors import UserError

OPSET = 17  # the operators of 2022, the first with LayerNormalization
_IR_VERSION = 8  # the version of the file format that goes with them
_DTYPES = {"float32": 1, "uint8": 2}  # as onnx.TensorProto numbers them

FLOAT = _DTYPES["float32"]  # as a Cast node is told


class Graph:
    """The constants and nodes of a model so far. Nodes are added in the order in which they compute.

    Raises UserError if the package onnx is not installed.
    """

    def __init__(self, config: ViTConfig, params: Params) -> None:
        self.config, self.params = config, params
        try:
            self._onnx: Any = importlib.import_module("onnx")
        except ImportError:
            raise UserError("writing an .onnx file needs the package onnx: run pip install onnx.") from None
        self._constants: dict[str, Any] = {}
        self._nodes: list[Any] = []

    def constant(self, name: str, array: np.ndarray) -> str:
        """The name of a constant, which is stored once however often it is used."""
        if name not in self._constants:
            self._constants[name] = self._onnx.numpy_helper.from_array(array, name)
        elif tuple(self._constants[name].dims) != array.shape:
            raise ValueError(f"{name} is {tuple(self._constants[name].dims)} already, not {array.shape}")
        return name

    def weight_and_bias(self, part: str, shape: tuple[int, ...] | None = None) -> tuple[str, str]:
        """The parameters of a part as constants; vectors can be given another shape."""
        weight, bias = f"{part}.weight", f"{part}.bias"
        for name in (weight, bias):
            array = self.params[name]
            self.constant(name, array if shape is None else array.reshape(shape))
        return weight, bias

    def node(
        self,
        op: str,
        *inputs: str | float | list[int],
        called: str = "",
        **attributes: float | str | list[int],
    ) -> str:
        """Add a node; returns the name of the value that it computes, which is `called` or a new one.

        An input is the name of a value, or a constant: a float32, an int64 or a vector of these.
        """
        output = called or f"{op}_{len(self._nodes)}"
        names = [each if isinstance(each, str) else self._number(each) for each in inputs]
        self._nodes.append(self._onnx.helper.make_node(op, names, [output], name=output, **attributes))
        return output

    def port(self, name: str, dtype: str, shape: tuple[int | str, ...], meaning: str) -> Any:
        """An input or output of the graph. An axis of any length has a name in place of a number."""
        return self._onnx.helper.make_tensor_value_info(name, _DTYPES[dtype], shape, meaning)

    def file(self, inputs: list[Any], outputs: list[Any], meaning: str, metadata: Mapping[str, str]) -> bytes:
        """The contents of the .onnx file."""
        helper, constants = self._onnx.helper, list(self._constants.values())
        model = helper.make_model(
            helper.make_graph(self._nodes, "tinyvit", inputs, outputs, constants),
            ir_version=_IR_VERSION,
            opset_imports=[helper.make_opsetid("", OPSET)],
            producer_name="tinyvit",
            producer_version=__version__,
            doc_string=meaning,
        )
        helper.set_model_props(model, dict(metadata))
        return model.SerializeToString()

    def _number(self, value: float | list[int]) -> str:
        dtype = "float32" if isinstance(value, float) else "int64"
        return self.constant(str(value), np.array(value, dtype))


def resnet(g: Graph, x: str) -> str:
    """The feature map of images (B, channels, H, W)."""
    x = g.node("Relu", convolved(g, "resnet.root", "", x, stride=2))
    x = g.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")
    for i, j in units_of(g.config):
        x = unit(g, i, j, x)
    return x


def unit(g: Graph, i: int, j: int, x: str) -> str:
    """Unit j of stage i."""
    p, stride = f"resnet.{i}.{j}", unit_stride(i, j)
    skip = convolved(g, p, "_proj", x, stride) if j == 0 else x
    y = g.node("Relu", convolved(g, p, "1", x))
    y = g.node("Relu", convolved(g, p, "2", y, stride))
    y = convolved(g, p, "3", y)
    return g.node("Relu", g.node("Add", skip, y))


def convolved(g: Graph, part: str, which: str, x: str, stride: int = 1) -> str:
    """A convolution, whose kernel is standardised here once and for all, and its group norm."""
    eps = EPSILONS[g.config.resnet_form]
    name = f"{part}.conv{which}.weight"
    standardised, _ = ops.weight_standardisation(g.params[name], eps.kernel, eps.in_root)
    weight = kernel(g, name, standardised)
    y = g.node("Conv", x, weight, strides=[stride, stride], auto_pad="SAME_UPPER")
    return group_norm(g, f"{part}.norm{which}", y, g.config.resnet_groups, eps.norm)


def group_norm(g: Graph, part: str, x: str, groups: int, eps: float) -> str:
    """Normalise each group as if it were one channel, then apply gain and bias to each channel."""
    C = g.params[f"{part}.weight"].size
    ones = g.constant(f"ones.{groups}", np.ones(groups, "float32"))
    zeros = g.constant(f"zeros.{groups}", np.zeros(groups, "float32"))
    n = g.node("Reshape", x, [0, groups, -1])  # (B, G, C/G H W)
    n = g.node("InstanceNormalization", n, ones, zeros, epsilon=eps)
    n = g.node("Reshape", n, g.node("Shape", x))  # (B, C, H, W)
    weight, bias = g.weight_and_bias(part, (C, 1, 1))
    return g.node("Add", g.node("Mul", n, weight), bias)


def kernel(g: Graph, name: str, weight: np.ndarray) -> str:
    """A kernel (k, k, I, O) as ONNX has it: (O, I, k, k)."""
    return g.constant(name, weight.transpose(3, 2, 0, 1))
