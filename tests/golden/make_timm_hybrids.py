"""Write timm_hybrids.npz: what timm makes of the HYBRIDS in timm_hybrids.py. Needs torch and timm.

python -m tests.golden.make_timm_hybrids

torchvision, which timm imports for image transforms, is not needed: see make_timm_golden.py.
"""

import importlib.util
import sys
from functools import partial

import numpy as np
import torch

from tests.golden.make_timm_golden import StandIn
from tests.golden.timm_hybrids import ANSWERS, HYBRIDS, draw


def timm_model(config):
    """timm's model of this shape."""
    from timm.layers import HybridEmbed
    from timm.models.vision_transformer import VisionTransformer
    from timm.models.vision_transformer_hybrid import _resnetv2

    return VisionTransformer(
        img_size=config.image_size,
        patch_size=config.patch_size,
        embed_dim=config.width,
        mlp_ratio=config.mlp_width / config.width,
        num_heads=config.heads,
        depth=config.layers,
        num_classes=config.classes,
        embed_layer=partial(HybridEmbed, backbone=_resnetv2(config.resnet)),
    ).eval()


def answers(name):
    """Logits in both precisions, and the derivative along each direction."""
    arrays, directions, images, upstream = draw(name)
    model, x = timm_model(HYBRIDS[name]), torch.from_numpy(images).permute(0, 3, 1, 2)
    model.load_state_dict({key: torch.from_numpy(array) for key, array in arrays.items()}, strict=True)
    with torch.no_grad():
        found = {"float32": model(x)}
    model = model.double()
    logits = model(x.double())
    parameters = dict(model.named_parameters())
    gradients = torch.autograd.grad(logits, list(parameters.values()), torch.from_numpy(upstream))
    for key, gradient in zip(parameters, gradients, strict=True):
        found[f"along {key}"] = (gradient * torch.from_numpy(directions[key])).sum()
    return found | {"float64": logits.detach()}


def main():
    """Write the file."""
    if importlib.util.find_spec("torchvision") is None:
        sys.meta_path.insert(0, StandIn())
    import timm

    arrays = {f"{name}/{key}": t.numpy() for name in HYBRIDS for key, t in answers(name).items()}
    np.savez_compressed(ANSWERS, **arrays)
    print(f"{len(arrays)} arrays, {ANSWERS.stat().st_size:,} bytes, timm {timm.__version__}")


if __name__ == "__main__":
    main()
