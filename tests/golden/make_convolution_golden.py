"""Write convolution_answers.npz: what PyTorch makes of the CASES and MODELS in convolution_cases.py.

    python -m tests.golden.make_convolution_golden

It needs torch, which pads alike on all sides: SAME padding is added beforehand, as TensorFlow documents it.
"""

import numpy as np
import torch
from torch.nn import functional

from tests.golden.convolution_cases import ANSWERS, CASES, MODELS, draw, draw_model


def first(x):
    """Channels first: (B, H, W, C) to (B, C, H, W)."""
    return x.permute(0, 3, 1, 2)


def last(x):
    """Channels last: (B, C, H, W) to (B, H, W, C)."""
    return x.permute(0, 2, 3, 1)


def same(x, k, stride, value=0.0):
    """x (B, C, H, W) with SAME padding for windows of k x k."""
    total = [max((-(-n // stride) - 1) * stride + k - n, 0) for n in x.shape[2:]]
    (rows, columns) = total
    return functional.pad(x, (columns // 2, columns - columns // 2, rows // 2, rows - rows // 2), value=value)


def convolution(x, kernel, stride, padding):
    x = same(first(x), len(kernel), stride) if padding == "SAME" else first(x)
    return last(functional.conv2d(x, kernel.permute(3, 2, 0, 1), stride=stride))


def max_pool(x, stride, padding):
    x = same(first(x), 3, stride, -torch.inf) if padding == "SAME" else first(x)
    return last(functional.max_pool2d(x, 3, stride))


def group_norm(x, weight, bias, groups):
    return last(functional.group_norm(first(x), groups, weight, bias, eps=1e-6))


def weight_standardisation(w):
    deviation, mean = torch.std_mean(w, dim=(0, 1, 2), correction=0)
    return (w - mean) / (deviation + 1e-5)


OPERATIONS = {
    "convolution": convolution,
    "max_pool": max_pool,
    "group_norm": group_norm,
    "weight_standardisation": weight_standardisation,
    "relu": torch.relu,
}


def answers(name):
    """The result of a case, and the gradient of each input."""
    case = CASES[name]
    arrays, upstream = draw(name)
    inputs = [torch.from_numpy(array).requires_grad_() for array in arrays]
    y = OPERATIONS[case.operation](*inputs, **case.arguments)
    gradients = torch.autograd.grad(y, inputs, torch.from_numpy(upstream(y)))
    return {"y": y.detach()} | {f"gradient {i}": gradient for i, gradient in enumerate(gradients)}


def standardised(p, part, which, x, groups, stride=1):
    """Convolution `which` of a part, and the norm after it."""
    x = convolution(x, weight_standardisation(p[f"{part}.conv{which}.weight"]), stride, "SAME")
    return group_norm(x, p[f"{part}.norm{which}.weight"], p[f"{part}.norm{which}.bias"], groups)


def residual_network(config, p, x):
    """Root, stages, units."""
    groups = config.resnet_groups
    x = max_pool(torch.relu(standardised(p, "resnet.root", "", x, groups, 2)), 2, "SAME")
    for i, units in enumerate(config.resnet):
        for j in range(units):
            part, stride = f"resnet.{i}.{j}", 2 if i > 0 and j == 0 else 1
            y = torch.relu(standardised(p, part, "1", x, groups))
            y = torch.relu(standardised(p, part, "2", y, groups, stride))
            y = standardised(p, part, "3", y, groups)
            if x.shape != y.shape:
                x = standardised(p, part, "_proj", x, groups, stride)
            x = torch.relu(x + y)
    return x


def linear(p, name, x):
    return x @ p[f"{name}.weight"] + p[f"{name}.bias"]


def layer_norm(p, name, x):
    return functional.layer_norm(x, x.shape[-1:], p[f"{name}.weight"], p[f"{name}.bias"], eps=1e-6)


def logits_of(config, p, images):
    """Logits of a hybrid with a class token, or of a ResNet."""
    x = residual_network(config, p, images)
    if not config.layers:
        return linear(p, "head", x.mean(dim=(1, 2)))
    P, D, H = config.patch_size, config.width, config.heads
    kernel = p["patch.weight"].reshape(P, P, -1, D)
    x = last(functional.conv2d(first(x), kernel.permute(3, 2, 0, 1), p["patch.bias"], stride=P))
    x = torch.cat([p["class_token"].expand(len(x), 1, D), x.flatten(1, 2)], dim=1) + p["position"]
    for i in range(config.layers):
        block = f"blocks.{i}"
        qkv = linear(p, f"{block}.attn.qkv", layer_norm(p, f"{block}.norm1", x))
        q, k, v = (part.unflatten(2, (H, -1)).transpose(1, 2) for part in qkv.chunk(3, dim=2))
        o = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = x + linear(p, f"{block}.attn.out", o)
        h = linear(p, f"{block}.mlp.fc1", layer_norm(p, f"{block}.norm2", x))
        x = x + linear(p, f"{block}.mlp.fc2", functional.gelu(h, approximate="tanh"))
    return linear(p, "head", layer_norm(p, "norm", x)[:, 0])


def model_answers(name):
    """The logits of a model, and the gradient of each parameter."""
    params, images, upstream = draw_model(name)
    tensors = {key: torch.from_numpy(array.copy()).requires_grad_() for key, array in params.items()}
    logits = logits_of(MODELS[name], tensors, torch.from_numpy(images))
    gradients = torch.autograd.grad(logits, list(tensors.values()), torch.from_numpy(upstream))
    found = {f"gradient {key}": gradient for key, gradient in zip(tensors, gradients, strict=True)}
    return {"y": logits.detach()} | found


def main():
    """Write the file."""
    arrays = {f"{name}/{key}": t.numpy() for name in CASES for key, t in answers(name).items()}
    arrays |= {f"{name}/{key}": t.numpy() for name in MODELS for key, t in model_answers(name).items()}
    np.savez_compressed(ANSWERS, **arrays)
    print(
        f"{ANSWERS.name}: {len(arrays)} arrays, {ANSWERS.stat().st_size:,} bytes, torch {torch.__version__}"
    )


if __name__ == "__main__":
    main()
