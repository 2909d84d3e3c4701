"""Write convolution_answers.npz: what PyTorch makes of the CASES in convolution_cases.py. Needs torch.

    python -m tests.golden.make_convolution_golden

PyTorch pads alike on all sides, so SAME padding is added beforehand, as TensorFlow documents it.
"""

import numpy as np
import torch
from torch.nn import functional

from tests.golden.convolution_cases import ANSWERS, CASES, draw


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


def main():
    """Write the file."""
    arrays = {f"{name}/{key}": t.numpy() for name in CASES for key, t in answers(name).items()}
    np.savez_compressed(ANSWERS, **arrays)
    print(
        f"{ANSWERS.name}: {len(arrays)} arrays, {ANSWERS.stat().st_size:,} bytes, torch {torch.__version__}"
    )


if __name__ == "__main__":
    main()
