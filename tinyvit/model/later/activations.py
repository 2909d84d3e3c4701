"""Other activations than the two forms of GELU: see ops.gelu. They change no list of stages."""

from tinyvit.model.later.part import Part

PART = Part({"gelu": "tanh"}, known_to={"gelu": "cpu onnx timm"})
