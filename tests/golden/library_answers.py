"""The answers of timm and Hugging Face, and the comparison of tinyvit with them."""

from pathlib import Path

import numpy as np

from tinyvit import model
from tinyvit.objectives import loss_and_grads
from tinyvit.weights.description import read_description
from tinyvit.weights.read import read_arrays
from tinyvit.weights.safetensors import read_safetensors
from tinyvit.weights.save import save_safetensors
from tinyvit.weights.torch_names import from_torch_names

HERE = Path(__file__).parent
TOLERANCE = {"float32": 1e-5, "float64": 1e-10}


def answers_to(library, name):
    """The answers of the library for model `name`: images, labels, float32, float64, gradient/..."""
    with np.load(HERE / f"{library}_answers.npz", allow_pickle=False) as file:
        return {key.split("/", 1)[1]: file[key] for key in file.files if key.startswith(f"{name}/")}


def error(found, expected):
    """Largest difference, relative to the largest number expected."""
    assert found.shape == expected.shape
    return np.abs(found - expected).max() / np.abs(expected).max()


def weights_of(path, dtype="float32", **given):
    """The model in a file, for pixels on its own scale, as its library is given them here."""
    description = path.with_name("config.json")
    known = read_description(description) | given
    return from_torch_names(read_arrays(path), str(path), known, dtype, described=description.is_file())


def logits_of_file(path, images, dtype, features=False, **given):
    """Logits, or the features before the head, of the model in a file."""
    config, params = weights_of(path, dtype, **given)
    found = (model.features if features else model.infer)(config, params, images.astype(dtype))
    assert found.dtype == dtype
    return found


def assert_written_back_to_the_bit(path, folder, **given):
    """A file of the library's, once loaded and saved, has the same names and the same values."""
    save_safetensors(folder / "written.safetensors", *weights_of(path, **given))
    theirs, ours = read_safetensors(path), read_safetensors(folder / "written.safetensors")
    assert ours.keys() == theirs.keys()
    for name, array in theirs.items():
        np.testing.assert_array_equal(ours[name], array, strict=True)


def gradients_of_file(path, found, dtype, **given):
    """Model and gradients of the mean cross-entropy."""
    config, params = weights_of(path, dtype, **given)
    grads = params.zeros_like()
    loss_and_grads(config, params, found["images"].astype(dtype), found["labels"], grads)
    return config, grads


def assert_gradients_agree(ours, found, tolerance):
    """ours, under the library's names, are all of its gradients, each to the tolerance.

    An array whose gradient vanishes (softmax cannot see a key's bias) is measured against the others.
    """
    theirs = {key.split("/")[1]: array for key, array in found.items() if key.startswith("gradient/")}
    assert ours.keys() == theirs.keys()
    floor = 1e-2 * max(np.linalg.norm(array) for array in theirs.values())
    for name, expected in theirs.items():
        assert ours[name].shape == expected.shape
        difference = np.linalg.norm(ours[name] - expected)
        assert difference < tolerance * max(np.linalg.norm(expected), floor), name
