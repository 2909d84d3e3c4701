"""Random weights for hybrids under timm's names, drawn from a seed.

timm_hybrids.npz beside this file holds what timm makes of them: the logits in float32 and in float64, and in
float64, for every array, the derivative of sum(upstream * logits) along a random direction of that array. The
draws are part of the contract: one standard_normal for each array, in the order of the sorted names.
"""

from pathlib import Path

import numpy as np

from tinyvit.model import Params, ViTConfig, layout
from tinyvit.weights.torch_names import to_torch_names

ANSWERS = Path(__file__).with_name("timm_hybrids.npz")

_TIMM = {"gelu": "exact", "resnet_form": "timm"}
# image size, patch size, width, MLP width, heads, layers, classes
HYBRIDS = {
    "root alone": ViTConfig((40, 24), 2, 24, 48, 3, 2, 5, resnet=(), **_TIMM),
    "two stages, odd size": ViTConfig((45, 33), 1, 24, 48, 3, 1, 5, resnet=(2, 1), **_TIMM),
}


def draw(name):
    """The arrays of a hybrid, a direction for each, images, and the upstream gradient of the logits."""
    config, rng = HYBRIDS[name], np.random.default_rng([7, *name.encode()])
    arrays, directions = {}, {}
    for key, empty in sorted(to_torch_names(config, Params.zeros(layout(config), "float64")).items()):
        values = rng.standard_normal(empty.shape)
        is_gain = key.endswith("weight") and empty.ndim == 1
        spread = 0.02 if empty.ndim == 4 else 0.2 if empty.ndim == 1 else empty[0].size ** -0.5
        arrays[key] = (values * spread + is_gain).astype("float32")
        directions[key] = rng.standard_normal(empty.shape)
    images = rng.standard_normal((2, *config.image_size, 3)).astype("float32")
    return arrays, directions, images, rng.standard_normal((2, config.classes))
