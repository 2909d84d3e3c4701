"""The properties of a model that timm's architecture names imply, and its weights file does not show.

timm's config.json names an architecture and states only how the model differs from it. The number of heads,
the form of GELU, the epsilon of LayerNorm, rotary positions and the heads of attention pooling are recorded
only in timm's code, so they are listed here for every timm ViT that tinyvit can compute. A name that is not
in this table is refused, because a model loaded by guesswork may silently give wrong answers.
"""

import re
from typing import Any

from tinyvit.model.later.rotary import DINOV3, Rotary

_ROTARY = {
    "dinov3": DINOV3,
    "eva16": Rotary(1e4, 16),
    "pe14": Rotary(1e4, 14, 1, columns_first=True),
    "pe24": Rotary(1e4, 24, 1, columns_first=True),
    "pe32": Rotary(1e4, 32, 1, columns_first=True),
    "peg32": Rotary(1e4, 32, columns_first=True),
    "axial": Rotary(columns_first=True),
    "mixed": Rotary(learned=True),
}
# Heads; GELU, and then whatever is not usual: an epsilon other than 1e-6, rotary positions, attention pooling
# with another number of heads than the blocks', "prefix" if it reads the tokens before the patches too; then
# the architectures. {a,b} stands for either.
_TABLE = """
2 exact test_{vit,vit2}
3 exact deit_tiny_distilled_patch16_224 deit_tiny_patch16_224 vit_tiny_patch16_{224,384}
3 exact vit_tiny_r_s16_p8_{224,384}
3 exact,1e-5,dinov3 vit_tiny_patch16_dinov3_qkvb
3 exact,1e-5,pe24,pool8 vit_pe_core_tiny_patch16_384
3 exact,1e-5,pe32 vit_pe_spatial_tiny_patch16_512
3 exact,prefix test_vit3
3 silu,eva16 eva02_tiny_patch14_{224,336}
4 exact vit_wee_patch16_reg1_gap_256
4 exact,1e-5 vit_xsmall_patch16_clip_224
5 exact vit_little_patch16_reg1_gap_256 vit_little_patch16_reg4_gap_256
6 exact deit3_small_patch16_{224,384} deit_small_distilled_patch16_224 deit_small_patch16_224 flexivit_small
6 exact vit_small_patch14_dinov2 vit_small_patch14_reg4_dinov2 vit_small_patch16_{224,384}
6 exact vit_small_patch16_36x1_224 vit_small_patch32_{224,384} vit_small_patch8_224
6 exact vit_small_r26_s32_{224,384}
6 exact,1e-5,dinov3 vit_small_patch16_{dinov3,lingbot} vit_small_patch16_dinov3_qkvb
6 exact,1e-5,pe24,pool8 vit_pe_core_small_patch16_384
6 exact,1e-5,pe32 vit_pe_spatial_small_patch16_512
6 exact,axial vit_small_patch16_rope_224 vit_small_patch16_rope_ape_224
6 exact,mixed vit_small_patch16_rope_mixed_224 vit_small_patch16_rope_mixed_ape_224
6 silu,1e-5,dinov3 vit_small_plus_patch16_dinov3 vit_small_plus_patch16_dinov3_qkvb
6 silu,eva16 eva02_small_patch14_{224,336}
8 exact deit3_medium_patch16_224 vit_medium_patch16_gap_{240,256,384} vit_medium_patch16_reg1_gap_256
8 exact vit_medium_patch16_reg4_gap_256 vit_mediumd_patch16_reg4_gap_{256,384}
8 exact,1e-5 vit_medium_patch16_clip_224 vit_medium_patch32_clip_224
8 exact,eva16 vit_medium_patch16_rope_reg1_gap_256 vit_mediumd_patch16_rope_reg1_gap_256
10 exact vit_betwixt_patch16_gap_256 vit_betwixt_patch16_reg1_gap_256 vit_betwixt_patch16_reg4_gap_{256,384}
10 exact,1e-5 vit_betwixt_patch32_clip_224
10 exact,eva16 vit_betwixt_patch16_rope_reg4_gap_256
12 exact deit3_base_patch16_{224,384} deit_base_distilled_patch16_{224,384} deit_base_patch16_{224,384}
12 exact flexivit_base vit_base_patch14_dinov2 vit_base_patch14_reg1_tipsv2 vit_base_patch14_reg4_dinov2
12 exact vit_base_patch16_{224,384} vit_base_patch16_224_miil vit_base_patch16_radio_v3
12 exact vit_base_patch16_reg4_gap_256 vit_base_patch16_siglip_{224,256,384,512}
12 exact vit_base_patch16_siglip_gap_{224,256,384,512} vit_base_patch32_{224,384} vit_base_patch8_224
12 exact vit_base_r26_s32_224 vit_base_r50_s16_{224,384}
12 exact,1e-5 beit3_base_patch16_224 vit_base_patch16_clip_{224,384} vit_base_patch32_clip_{224,256,384,448}
12 exact,1e-5,dinov3 vit_base_patch16_{dinov3,lingbot} vit_base_patch16_dinov3_qkvb
12 exact,1e-5,pe14,pool8 vit_pe_core_base_patch16_224
12 exact,1e-5,pe32 vit_pe_spatial_base_patch16_512
12 exact,axial vit_base_patch16_rope_224 vit_base_patch16_rope_ape_224
12 exact,eva16 vit_base_patch16_rope_reg1_gap_256
12 exact,mixed vit_base_patch16_rope_mixed_224 vit_base_patch16_rope_mixed_ape_224
12 quick,1e-5 vit_base_patch16_clip_quickgelu_224 vit_base_patch32_clip_quickgelu_224
12 silu,eva16 eva02_base_patch14_{224,448} eva02_base_patch16_clip_224
12 tanh vit_base_patch32_siglip_256 vit_base_patch32_siglip_gap_256
13 exact vit_so150m2_patch16_reg1_gap_{256,384,448}
14 exact vit_base_patch16_plus_240 vit_base_patch32_plus_256 vit_so150m_patch16_reg4_gap_{256,384}
14 exact vit_so150m_patch16_reg4_map_256
14 exact,1e-5 vit_base_patch16_plus_clip_240
16 exact deit3_huge_patch14_224 deit3_large_patch16_{224,384} eva_giant_patch14_{224,336,560}
16 exact eva_giant_patch14_clip_224 eva_large_patch14_{196,336} flexivit_large vit_base_patch16_gap_224
16 exact vit_giant_patch14_224 vit_giant_patch16_gap_224 vit_gigantic_patch14_224 vit_huge_patch14_224
16 exact vit_huge_patch14_gap_224 vit_huge_patch16_gap_448 vit_huge_patch16_radio_{v3,v4}
16 exact vit_intern300m_patch14_448 vit_large_patch14_{224,dinov2} vit_large_patch14_reg1_tipsv2
16 exact vit_large_patch14_reg4_dinov2 vit_large_patch16_{224,384} vit_large_patch16_radio_v3
16 exact vit_large_patch16_siglip_{256,384} vit_large_patch16_siglip_gap_{256,384}
16 exact vit_large_patch32_{224,384} vit_large_r50_s32_{224,384} vit_so400m_patch14_reg1_tipsv2
16 exact vit_so400m_patch14_siglip_{224,378,384} vit_so400m_patch14_siglip_gap_{224,378,384,448,896}
16 exact vit_so400m_patch16_radio_v4
16 exact,1e-5 beit3_giant_patch14_{224,336} beit3_large_patch16_224 vit_giant_patch14_clip_224
16 exact,1e-5 vit_gigantic_patch14_clip_{224,378} vit_huge_patch14_clip_{224,336,378}
16 exact,1e-5 vit_large_patch14_clip_{224,336}
16 exact,1e-5,dinov3 vit_large_patch16_{dinov3,lingbot} vit_large_patch16_dinov3_qkvb
16 exact,1e-5,pe24,pool8 vit_pe_core_large_patch14_336
16 exact,1e-5,pe32 vit_pe_lang_large_patch14_448 vit_pe_spatial_large_patch14_448
16 exact,1e-5,peg32 vit_pe_lang_gigantic_patch14_448 vit_pe_spatial_gigantic_patch14_448
16 exact,1e-5,peg32,pool8 vit_pe_core_gigantic_patch14_448
16 exact,axial vit_large_patch16_rope_224 vit_large_patch16_rope_ape_224
16 exact,mixed vit_large_patch16_rope_mixed_224 vit_large_patch16_rope_mixed_ape_224
16 quick,1e-5 vit_gigantic_patch14_clip_quickgelu_224 vit_huge_patch14_clip_quickgelu_{224,378}
16 quick,1e-5 vit_large_patch14_clip_quickgelu_{224,336}
16 silu,eva16 eva02_large_patch14_{224,448} eva02_large_patch14_clip_{224,336}
16 tanh vit_giantopt_patch16_siglip_{256,384} vit_giantopt_patch16_siglip_gap_{256,384}
16 tanh vit_large_patch16_siglip_512 vit_large_patch16_siglip_gap_512
16 tanh vit_so400m_patch16_siglip_{256,384,512} vit_so400m_patch16_siglip_gap_{256,384,512}
20 silu,1e-5,dinov3 vit_huge_plus_patch16_dinov3 vit_huge_plus_patch16_dinov3_qkvb
24 exact vit_giant_patch16_radio_v3
24 silu vit_giant_patch14_dinov2 vit_giant_patch14_reg1_tipsv2 vit_giant_patch14_reg4_dinov2
24 silu,1e-5,dinov3 vit_giant_patch16_lingbot
32 silu,1e-5,dinov3 vit_7b_patch16_dinov3
12 exact beit_base_patch16_{224,384} beitv2_base_patch16_224
16 exact beit_large_patch16_{224,384,512} beitv2_large_patch16_224
"""
# Suffixes that older versions of timm added to say what the weights were trained on.
_TRAINED_ON = r"(_in21k|_in21ft1k|_sam|_dino)$"
# Why other architectures are not supported, by patterns in their names; the first match is reported.
_FOREIGN = {
    r"_resnet|_mci_": "has a convolutional network before the ViT that is not the paper's ResNet",
    r"relpos": "has relative positions that an MLP computes",
    r"_xp_|_\d+x2_|^vit_d?p?wee|^vit_dlittle|^test_vit4": "has parallel branches, or another attention",
    r"_rpn_|^eva02_enormous": "normalises after each branch of a block, not before",
    r"^aimv2|sapiens2": "has another norm than LayerNorm",
    r"^samvit|^naflexvit|^vitamin": "differs from a plain ViT internally",
}


def described_architecture(name: str) -> dict[str, Any]:
    """The fields of ViTConfig that timm's architecture of that name implies.

    Raises ValueError if tinyvit does not compute it; the error reads as the end of a sentence about the
    architecture, and says what to do.
    """
    plain = re.sub(_TRAINED_ON, "", name.split(".")[0])
    if plain in _KNOWN:
        return dict(_KNOWN[plain])
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


def _fields(heads: str, spec: str) -> dict[str, Any]:
    gelu, *others = spec.split(",")
    fields: dict[str, Any] = {"heads": int(heads), "gelu": gelu, "eps": 1e-6}
    for word in others:
        if word in _ROTARY:
            fields["rotary"] = _ROTARY[word]
        elif word.startswith("pool"):
            fields["pool_heads"] = int(word.removeprefix("pool"))
        elif word == "prefix":
            fields["pool_all"] = True
        else:
            fields["eps"] = float(word)
    return fields


_KNOWN = {
    name: _fields(heads, spec)
    for heads, spec, *names in map(str.split, _TABLE.split("\n")[1:-1])
    for each in names
    for name in _expanded(each)
}
