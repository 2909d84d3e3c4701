"""Arrays of a checkpoint in one spelling, where libraries, and versions of one library, have several.

Layers that stand side by side in tinyvit are joined, and others cut:

    q, k and v; gate and rest of a gated MLP            become one layer, in this order
    query, key and value of an attention pooling        become q, and kv
    learned frequencies of all blocks, (2, L, H, K/2)   become those of each block
    vectors, and tables without an axis for images      get that axis, (1, 1, D) and (1, N, D)

A layer without a bias, as that of keys sometimes is, is joined without it: then queries and values have one.
"""

import re
from collections.abc import Iterable

import numpy as np

Arrays = dict[str, np.ndarray]

# Layers that are joined, and what they become.
_JOINED = {
    (".attn.q_proj", ".attn.k_proj", ".attn.v_proj"): ".attn.qkv",
    (".mlp.fc1_g", ".mlp.fc1_x"): ".mlp.fc1",
    (".mlp.gate_proj", ".mlp.up_proj"): ".mlp.fc1",
    (".mlp.w1", ".mlp.w2"): ".mlp.fc1",
}
_RENAMED = {
    # Hugging Face's attention pooling, and the one of Perception Encoder's own files
    r"^head\.probe$": "attn_pool.latent",
    r"^head\.attention\.(in_proj_|out_proj\.)": r"attn_pool.\1",
    r"^head\.layernorm\.": "attn_pool.norm.",
    r"^head\.mlp\.": "attn_pool.mlp.",
    r"^attn_pool\.probe$": "attn_pool.latent",
    r"^attn_pool\.attn\.(in_proj_|out_proj\.)": r"attn_pool.\1",
    r"^attn_pool\.layernorm\.": "attn_pool.norm.",
    r"^attn_pool\.out_proj\.": "attn_pool.proj.",
    # gated MLPs, which have the gate and the rest in one layer
    r"\.mlp\.weights_in\.": ".mlp.fc1.",
    r"\.mlp\.weights_out\.": ".mlp.fc2.",
    r"\.mlp\.w12\.": ".mlp.fc1.",
    r"\.mlp\.w3\.": ".mlp.fc2.",
    r"\.mlp\.ffn_ln\.": ".mlp.norm.",
    r"\.mlp\.down_proj\.": ".mlp.fc2.",
    # the rest of timm's Eva, of DINOv2 and of DeiT
    r"\.gamma_([12])$": r".ls\1.gamma",
    r"^((?:encoder\.layer|layers)\.\d+)\.lambda_([12])$": r"\1.layer_scale\2.lambda1",
    r"^(register|storage)_tokens$": "reg_token",
    r"^cls_classifier\.": "classifier.",
}


def in_one_spelling(arrays: Arrays) -> Arrays:
    """The same arrays, renamed, joined and cut as above."""
    arrays = _cut(arrays)
    for parts, whole in _JOINED.items():
        _join(arrays, parts, whole)
    _join_biases(arrays)
    return {name.replace(".mlp.up_proj.", ".mlp.fc1."): array for name, array in arrays.items()}


def image_side(names: Iterable[str]) -> dict[str, str]:
    """Names and their one spelling; of a model for images and texts, only those of the image side."""
    names = list(names)
    for prefix, others in (("vision_model.", ("visual_projection.", "classifier.")), ("visual.", ())):
        if any(name.startswith(prefix) for name in names):
            names = [name for name in names if name.startswith((prefix, *others))]
            return {name: respelled(name.removeprefix(prefix)) for name in names}
    return {name: respelled(name) for name in names}


def respelled(name: str) -> str:
    """The name in its one spelling."""
    for pattern, better in _RENAMED.items():
        name = re.sub(pattern, better, name)
    return name


def _join(arrays: Arrays, parts: tuple[str, ...], whole: str) -> None:
    """Join layers that exist as parts, in every block."""
    for first in [name for name in arrays if name.endswith(f"{parts[0]}.weight")]:
        prefix = first.removesuffix(f"{parts[0]}.weight")
        for kind in ("weight", "bias"):
            names = [f"{prefix}{part}.{kind}" for part in parts]
            found = [arrays.pop(name) for name in names if name in arrays]
            if found:
                arrays[f"{prefix}{whole}.{kind}"] = np.concatenate(found)


def _join_biases(arrays: Arrays) -> None:
    """Join the biases of queries and values that timm's Eva and Beit have apart from their matrix."""
    for first in [name for name in arrays if name.endswith("attn.q_bias")]:
        prefix = first.removesuffix("q_bias")
        found = [arrays.pop(name) for name in (first, f"{prefix}v_bias") if name in arrays]
        arrays[f"{prefix}qkv.bias"] = np.concatenate(found)


def _cut(arrays: Arrays) -> Arrays:
    """Cut what several layers, or all blocks, have in one array; give vectors and tables their first axes."""
    cut: Arrays = {}
    for name, array in arrays.items():
        if found := re.match(r"attn_pool\.in_proj_(weight|bias)$", name):
            D = len(array) // 3
            cut |= {f"attn_pool.q.{found[1]}": array[:D], f"attn_pool.kv.{found[1]}": array[D:]}
        elif name == "rope.freqs" and array.ndim == 4:
            cut |= {f"blocks.{i}.rotary": array[:, i] for i in range(array.shape[1])}
        elif name == "proj" and array.ndim == 2:  # OpenAI's projection, stored input-by-output
            cut["proj.weight"] = array.T
        elif name.endswith(("class_embedding", "position_embedding.weight", "positional_embedding")):
            cut[name] = array.reshape(1, -1, array.shape[-1])
        else:
            cut[name] = array
    return cut
