"""What a model that learned without labels makes of corrupted patches, as pictures."""

import numpy as np

from tinyvit import model, ops
from tinyvit.backend import Array, array_module
from tinyvit.engine import in_batches
from tinyvit.model import Params, ViTConfig
from tinyvit.model.stage import infer_through
from tinyvit.objectives import masked_patches, patch_targets

GREY = 0.75  # what corrupted patches are painted with, from -1 to 1


def filled_patches(
    config: ViTConfig, params: Params, images: np.ndarray, target: str, corrupt: float, seed: int
) -> np.ndarray:
    """Four versions of uint8 images (n, H, W, 3) at the model's size: uint8 (n, 4, height, width, 3).

    They are the image itself; with its corrupted patches painted grey; with what the model predicts in their
    place; and with what is true there, in the same form, such as one colour for each patch. The corruption is
    the one with which images are evaluated.
    """
    xp, P = array_module(params.flat), config.pixels_per_patch
    corruption = masked_patches.fixed_corruption(config, len(images), corrupt, seed, xp)

    def compute(batch: Array, *rows: Array) -> Array:
        chosen = rows[0]
        stages = model.stages(config, corruption=ops.Corruption(*rows))
        predicted = infer_through(stages, params, batch)  # (B, n, C)
        if target != "pixels":
            predicted = predicted.reshape(*chosen.shape, -1, patch_targets.colours(config)).argmax(axis=3)
        truth = patch_targets.true_patches(config, batch, chosen, target)
        whole, _ = ops.patchify(batch, P)  # (B, T, P*P*3)
        versions = [whole]
        for painted in (GREY, *(patch_targets.as_pixels(config, v, target) for v in (predicted, truth))):
            version = whole.copy()
            version[xp.arange(len(batch))[:, None], chosen] = painted
            versions.append(version)
        pictures = [ops.unpatchify(version, batch.shape, P) for version in versions]
        return xp.rint((xp.stack(pictures, axis=1).clip(-1, 1) + 1) * 127.5).astype(xp.uint8)

    return in_batches(compute, config, params, images, *corruption)
