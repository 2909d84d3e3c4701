"""The Vision Transformer (Dosovitskiy et al. 2020, section 3.1) as a list of stages.

Read it downwards: this is the forward pass. Read it upwards: this is the backward pass. What later models
add is in model.later; nothing here depends on it.
"""

from tinyvit import ops
from tinyvit.model.block import block, block_backward, last_block, last_block_backward
from tinyvit.model.paper_config import PaperConfig
from tinyvit.model.stage import Stage, block_stage, stage


def vit(config: PaperConfig, all_tokens: bool = False) -> list[Stage]:
    """From images (B, H, W, channels) to logits (B, C).

    The last block normally computes only the class token, since no other token reaches the logits. With
    all_tokens it computes every token, so that its attention can be examined.
    """
    blocks = [
        block_stage(i, block, block_backward, config.heads, config.gelu, config.eps)
        for i in range(config.layers)
    ]
    if not all_tokens:
        i = config.layers - 1
        blocks[i] = block_stage(i, last_block, last_block_backward, config.heads, config.gelu, config.eps)
    return [
        stage("patchify", ops.patchify, ops.patchify_backward, config.patch_size),  # (B, T, P*P*channels)
        stage("patch", ops.linear, ops.linear_backward),  # (B, T, D)
        stage("class_token", ops.class_token, ops.class_token_backward),  # (B, N, D)
        stage("position", ops.position_embedding, ops.position_embedding_backward),  #       ViT eq. 1
        *blocks,  # (B, N, D), or (B, 1, D) after the last                                   ViT eq. 2, 3
        stage("norm", ops.layer_norm, ops.layer_norm_backward, config.eps),
        stage("pool", ops.token_pool, ops.token_pool_backward),  # (B, D)                    ViT eq. 4
        stage("head", ops.linear, ops.linear_backward),  # (B, C)
    ]
