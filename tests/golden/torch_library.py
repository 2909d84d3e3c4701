"""Helpers to make the golden answers of timm and of Hugging Face. Needs torch."""

import numpy as np
import torch
from torch.nn import functional


def randomise(model, seed):
    """Give every parameter random values: none 0, no gain 1, every LayerScale different."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            values = torch.randn(parameter.shape, generator=generator)
            if parameter.ndim > 1 and name.endswith("weight"):
                parameter.copy_(values / parameter[0].numel() ** 0.5)
            elif "norm" in name and name.endswith("weight"):
                parameter.copy_(1 + 0.2 * values)
            elif name.endswith(("gamma", "lambda1")):
                parameter.copy_(0.5 + 0.1 * values)
            else:
                parameter.copy_(0.2 * values)
    return model.eval()


def answers(model, size, outputs, seed, state=None):
    """Two images (B, H, W, 3), labels, the outputs of the model for them, and perhaps its gradients.

    outputs(model, images (B, 3, H, W)) gives what is asked for, (B, C). The gradients are those of the mean
    cross-entropy, in float64, wanted if state is given: it gives a model's parameters under the names that
    they have in its file. The model is of no use afterwards.
    """
    rng = np.random.default_rng(seed)
    images = rng.standard_normal((2, *size, 3)).astype("float32")
    channels_first = torch.from_numpy(images).permute(0, 3, 1, 2)
    with torch.no_grad():
        found = {"images": images, "float32": outputs(model.float(), channels_first).numpy()}
    logits = outputs(model.double(), channels_first.double())
    found["float64"] = logits.detach().numpy()
    found["labels"] = rng.integers(0, logits.shape[1], 2)
    if state:
        functional.cross_entropy(logits, torch.from_numpy(found["labels"])).backward()
        for parameter in model.parameters():
            unused = parameter.grad is None  # such as a mask token
            parameter.data = torch.zeros_like(parameter) if unused else parameter.grad
        found |= {f"gradient/{name}": tensor.detach().numpy() for name, tensor in state(model).items()}
    return found


def store(path, cases, library):
    """Write the answers of several cases to one file."""
    arrays = {f"{case}/{key}": array for case, found in cases.items() for key, array in found.items()}
    np.savez_compressed(path, **arrays)
    print(f"{path.name}: {len(arrays)} arrays, {path.stat().st_size:,} bytes, {library}")
