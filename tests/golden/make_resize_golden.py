"""Write resize_answers.npz: small position embeddings resized by scipy, as the official code does it, and by
PyTorch, as Hugging Face does it, and timm, in one way for .npz files and another for its own. Needs scipy
and torch; run by hand:

    python -m tests.golden.make_resize_golden
"""

from pathlib import Path

import numpy as np
import torch
from scipy import ndimage
from torch.nn import functional

ANSWERS = Path(__file__).with_name("resize_answers.npz")
CASES = [
    ((4, 4), (7, 7)),
    ((5, 5), (3, 3)),
    ((3, 5), (6, 4)),
    ((2, 6), (5, 9)),
    ((1, 4), (3, 2)),
    ((6, 6), (1, 2)),
]


def resized(grid, size, method):
    """grid (h, w, D), float64, at another size."""
    if method == "corners":
        return ndimage.zoom(grid, (size[0] / grid.shape[0], size[1] / grid.shape[1], 1), order=1)
    tensor = torch.from_numpy(grid).permute(2, 0, 1)[None]
    mode = {"mode": "bicubic", "antialias": True} if method == "antialias" else {"mode": method}
    return functional.interpolate(tensor, size=size, align_corners=False, **mode)[0].permute(1, 2, 0)


def main():
    """Write the file."""
    rng, arrays = np.random.default_rng(0), {}
    for number, (old, new) in enumerate(CASES):
        arrays[f"{number}/grid"] = grid = rng.standard_normal((*old, 3))
        for method in ("corners", "bilinear", "bicubic", "antialias"):
            arrays[f"{number}/{method}"] = np.asarray(resized(grid, new, method))
    np.savez_compressed(ANSWERS, **arrays)
    print(f"{ANSWERS.name}: {len(arrays)} arrays, {ANSWERS.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
