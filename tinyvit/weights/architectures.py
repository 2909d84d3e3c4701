"""What timm's architecture names imply about a model, which its weights file does not show.

timm's config.json names an architecture and states only how the model differs from it. The number of heads
and the form of GELU are recorded only in timm's code, so they are listed here for every timm ViT that tinyvit
can compute. All of their LayerNorms have an epsilon of 1e-6. A name that is not in this table is refused,
because a model loaded by guesswork may silently give wrong answers.
"""

import re

# Heads, GELU, and the architectures that have them; {a,b} stands for either.
_TABLE = """
2 exact test_vit
3 exact {vit,deit}_tiny_patch16_224 vit_tiny_patch16_384 vit_tiny_r_s16_p8_{224,384}
6 exact vit_small_patch8_224 vit_small_patch{16,32}_{224,384} vit_small_patch16_36x1_224
6 exact vit_small_r26_s32_{224,384}
6 exact vit_small_patch14_dinov2 deit_small_patch16_224 deit3_small_patch16_{224,384} flexivit_small
8 exact vit_medium_patch16_gap_{240,256,384} deit3_medium_patch16_224
10 exact vit_betwixt_patch16_gap_256
12 exact vit_base_patch8_224 {vit,deit,deit3}_base_patch16_{224,384} vit_base_patch32_{224,384}
12 exact vit_base_r26_s32_224 vit_base_r50_s16_{224,384}
12 exact vit_base_patch16_224_miil vit_base_patch14_dinov2 flexivit_base
12 exact vit_base_patch16_siglip_gap_{224,256,384,512}
12 tanh vit_base_patch32_siglip_gap_256
14 exact vit_base_patch16_plus_240 vit_base_patch32_plus_256
16 exact vit_base_patch16_gap_224 vit_large_patch14_224 {vit,deit3}_large_patch16_{224,384}
16 exact vit_large_r50_s32_{224,384} vit_large_patch32_{224,384} vit_large_patch14_dinov2 flexivit_large
16 exact vit_large_patch16_siglip_gap_{256,384} vit_so400m_patch14_siglip_gap_{224,378,384,448,896}
16 exact {vit,deit3}_huge_patch14_224 vit_huge_patch14_gap_224 vit_huge_patch16_gap_448
16 exact vit_giant_patch14_224 vit_giant_patch16_gap_224 vit_gigantic_patch14_224
16 tanh vit_large_patch16_siglip_gap_512 vit_giantopt_patch16_siglip_gap_{256,384}
16 tanh vit_so400m_patch16_siglip_gap_{256,384,512}
"""
# Suffixes that older versions of timm added to say what the weights were trained on.
_TRAINED_ON = r"(_in21k|_in21ft1k|_sam|_dino)$"
# Why other architectures are not supported, by patterns in their names; the first match is reported.
_FOREIGN = {
    r"_resnet|_mci_": "has a convolutional network before the ViT that is not the paper's ResNet",
    r"distilled": "has a second token, for distillation",
    r"relpos": "has relative positions",
    r"_rope_|dinov3|_pe_(core|lang|spatial)_|lingbot|sapiens2|^eva02_|^eva_giant": "has rotary positions",
    r"_clip_|_xp_": "normalises the tokens before the first block (norm_pre), as CLIP does",
    r"_reg\d|_radio_|^test_vit[234]$": "has register tokens",
    r"_(siglip|map)_\d": "pools by attention",
    r"_rpn_": "normalises after each branch of a block, not before",
    r"_\d+x2_": "has parallel branches in each block",
    r"^beit|^samvit|^aimv2|^naflexvit|^vitamin": "differs from a plain ViT internally",
    r"^vit_giant_patch14_dinov2": "has a gated MLP (SwiGLU)",
    r"^eva_large": "averages the patch tokens although it has a class token, and normalises after that",
    r"_intern300m_": "has no final LayerNorm",
}


def described_architecture(name: str) -> dict[str, int | str | float]:
    """heads, gelu and eps of timm's architecture of that name; ValueError if tinyvit does not compute it.

    The error reads as the end of a sentence about the architecture, and says what to do.
    """
    plain = re.sub(_TRAINED_ON, "", name.split(".")[0])
    if plain in _KNOWN:
        heads, gelu = _KNOWN[plain]
        return {"heads": heads, "gelu": gelu, "eps": 1e-6}
    why = next((why for pattern, why in _FOREIGN.items() if re.search(pattern, plain)), None)
    if why:
        raise ValueError(f"which {why}: choose another checkpoint")
    raise ValueError(
        "which tinyvit does not know: choose another checkpoint; or, if you know it to be a plain ViT with "
        "exact GELU, move config.json elsewhere and give "
        "the number of heads, as heads=... or on the command line as --heads"
    )


def _expanded(name: str) -> list[str]:
    """Expand a_{b,c} into a_b and a_c."""
    braces = re.search(r"\{(.*?)\}", name)
    if not braces:
        return [name]
    before, after = name[: braces.start()], name[braces.end() :]
    return [full for choice in braces[1].split(",") for full in _expanded(before + choice + after)]


def _table() -> dict[str, tuple[int, str]]:
    known: dict[str, tuple[int, str]] = {}
    for heads, gelu, *names in map(str.split, _TABLE.split("\n")[1:-1]):
        known |= {full: (int(heads), gelu) for name in names for full in _expanded(name)}
    return known


_KNOWN = _table()
