"""Write official_flax_hybrids.npz: the logits of the official code for the HYBRIDS in official_weights.py.

It needs jax, flax and ml_collections, and google-research/vision_transformer on the path:

    PYTHONPATH=.:VISION_TRANSFORMER python -m tests.golden.make_official_hybrids
"""

import flax
import jax
import numpy as np
from ml_collections import ConfigDict
from vit_jax.models_vit import VisionTransformer

from tests.golden.official_weights import HYBRID_ANSWERS, HYBRIDS, official
from tinyvit.weights.official import to_official

# The names that flax gives to parts without one have changed since the files were released.
NEWER = {
    "MultiHeadDotProductAttention_1": "MultiHeadDotProductAttention_0",
    "LayerNorm_2": "LayerNorm_1",
    "MlpBlock_3": "MlpBlock_0",
}


def official_model(config):
    """The official model of this shape."""
    return VisionTransformer(
        num_classes=config.classes,
        patches=ConfigDict({"size": (config.patch_size, config.patch_size)}),
        hidden_size=config.width,
        transformer={
            "mlp_dim": config.mlp_width,
            "num_heads": config.heads,
            "num_layers": config.layers,
            "dropout_rate": 0.0,
            "attention_dropout_rate": 0.0,
        },
        resnet=ConfigDict({"num_layers": config.resnet, "width_factor": config.resnet_width / 64}),
        representation_size=config.pre_logits or None,
        classifier="token" if config.has_token else "gap",
    )


def answers(config):
    """The logits of the two images, (2, classes)."""
    params, images = official(config)
    arrays = to_official(config, params)
    for old, new in NEWER.items():
        arrays = {name.replace(old, new): array for name, array in arrays.items()}
    tree = flax.traverse_util.unflatten_dict(arrays, sep="/")
    model = official_model(config)
    expected = jax.eval_shape(lambda: model.init(jax.random.PRNGKey(0), images, train=False))["params"]
    assert jax.tree.map(np.shape, tree) == jax.tree.map(np.shape, expected)
    return np.asarray(model.apply({"params": tree}, images, train=False))


def main():
    """Write the file."""
    arrays = {name: answers(config) for name, config in HYBRIDS.items()}
    np.savez_compressed(HYBRID_ANSWERS, **arrays)
    print(f"{HYBRID_ANSWERS.name}: {HYBRID_ANSWERS.stat().st_size:,} bytes, flax {flax.__version__}")


if __name__ == "__main__":
    main()
