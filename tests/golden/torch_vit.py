"""The Vision Transformer in PyTorch, by standard means, and its parameters beside tinyvit's. Needs torch.

The model shares nothing with tinyvit's but the names of the parameters: the patch embedding is a convolution,
q, k and v are three layers, attention is PyTorch's, gradients are autograd's.
"""

import torch
from torch import nn
from torch.nn import functional


class Block(nn.Module):
    """Pre-norm attention and MLP; both are skipped, in training, for a share drop_path of the images."""

    def __init__(self, config, drop_path):
        super().__init__()
        D, self.heads, self.drop_path = config.width, config.heads, drop_path
        self.norm1, self.norm2 = nn.LayerNorm(D, eps=1e-6), nn.LayerNorm(D, eps=1e-6)
        self.q, self.k, self.v, self.out = (nn.Linear(D, D) for _ in range(4))
        self.fc1, self.fc2 = nn.Linear(D, config.mlp_width), nn.Linear(config.mlp_width, D)
        self.approximate = "tanh" if config.gelu == "tanh" else "none"
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x):
        n = self.norm1(x)
        q, k, v = (
            layer(n).unflatten(-1, (self.heads, -1)).transpose(1, 2) for layer in (self.q, self.k, self.v)
        )
        o = functional.scaled_dot_product_attention(q, k, v)
        x = x + self.kept(x) * self.dropout(self.out(o.transpose(1, 2).flatten(2)))
        hidden = self.dropout(functional.gelu(self.fc1(self.norm2(x)), approximate=self.approximate))
        return x + self.kept(x) * self.dropout(self.fc2(hidden))

    def kept(self, x):
        """0 for images that skip the branch, 1 / (1 - drop_path) for the others, (B, 1, 1)."""
        return functional.dropout(x.new_ones(len(x), 1, 1), self.drop_path, self.training)


class ViT(nn.Module):
    """Images (B, H, W, 3) to logits (B, C)."""

    def __init__(self, config):
        super().__init__()
        D, P = config.width, config.patch_size
        self.patches, self.patch_dropout = config.patches, config.patch_dropout
        self.grid, self.merge_after = config.grid, config.merge_after
        self.patch = nn.Conv2d(3, D, kernel_size=P, stride=P)
        self.token = nn.Parameter(torch.zeros(D)) if config.has_token else None
        self.position = nn.Parameter(torch.zeros(config.tokens, D))
        self.dropout = nn.Dropout(config.dropout)
        rates = torch.linspace(0, config.drop_path, config.layers).tolist()
        self.blocks = nn.ModuleList(Block(config, rate) for rate in rates)
        self.norm = nn.LayerNorm(D, eps=1e-6)
        self.pre_logits = nn.Linear(D, config.pre_logits) if config.pre_logits else None
        self.head = nn.Linear(config.pre_logits or D, config.classes)

    def forward(self, images):
        x = self.patch(images.permute(0, 3, 1, 2)).flatten(2).transpose(1, 2)
        if self.token is not None:
            x = torch.cat([self.token.expand(len(x), 1, -1), x], dim=1)
        x = self.dropout(self.some_patches(x + self.position))
        for i, block in enumerate(self.blocks):
            x = block(self.merged(x) if 0 < i == self.merge_after else x)
        x = self.norm(x)
        x = x[:, 0] if self.token is not None else x.mean(dim=1)
        if self.pre_logits is not None:
            x = torch.tanh(self.pre_logits(x))
        return self.head(x)

    def some_patches(self, x):
        """In training, without a share of the patches, others of each image."""
        if not (self.training and self.patch_dropout):
            return x
        before = x.shape[1] - self.patches
        kept = self.patches - round(self.patch_dropout * self.patches)
        order = before + torch.rand(len(x), self.patches).argsort(dim=1)[:, :kept]
        rows = torch.cat([torch.arange(before).expand(len(x), before), order], dim=1)
        return x.gather(1, rows[:, :, None].expand(-1, -1, x.shape[2]))

    def merged(self, x):
        """With the mean of each square of 2 x 2 patches in their place."""
        before = x.shape[1] - self.patches
        grid = x[:, before:].transpose(1, 2).unflatten(2, self.grid)  # (B, D, gh, gw)
        return torch.cat([x[:, :before], functional.avg_pool2d(grid, 2).flatten(2).transpose(1, 2)], dim=1)


def places(model):
    """Name in tinyvit -> (PyTorch's parameters, how tinyvit's array is made of tensors like them)."""

    def same(a):
        return a

    def matrix(a):
        return a.T

    def convolution(a):  # (D, 3, P, P) to (P P 3, D)
        return a.permute(2, 3, 1, 0).reshape(-1, len(a))

    def layer(name, linear, weight=matrix):
        return {f"{name}.weight": ([linear.weight], weight), f"{name}.bias": ([linear.bias], same)}

    def beside(*parts):  # q, k, v: three (D, D) matrices to (D, 3D)
        return torch.cat([part.T for part in parts], dim=1)

    def behind(*parts):
        return torch.cat(parts)

    table = layer("patch", model.patch, convolution) | {"position": ([model.position], same)}
    if model.token is not None:
        table["class_token"] = [model.token], same
    for i, block in enumerate(model.blocks):
        thirds = block.q, block.k, block.v
        table |= layer(f"blocks.{i}.norm1", block.norm1, same) | layer(f"blocks.{i}.norm2", block.norm2, same)
        table[f"blocks.{i}.attn.qkv.weight"] = [third.weight for third in thirds], beside
        table[f"blocks.{i}.attn.qkv.bias"] = [third.bias for third in thirds], behind
        table |= layer(f"blocks.{i}.attn.out", block.out)
        table |= layer(f"blocks.{i}.mlp.fc1", block.fc1) | layer(f"blocks.{i}.mlp.fc2", block.fc2)
    table |= layer("norm", model.norm, same) | layer("head", model.head)
    if model.pre_logits is not None:
        table |= layer("pre_logits", model.pre_logits)
    return table


def load(model, params):
    """Write tinyvit's parameters into the model."""
    P = model.patch.kernel_size[0]
    for name, (tensors, _) in places(model).items():
        values = torch.from_numpy(params[name].copy())
        if name == "patch.weight":
            parts = [values.reshape(P, P, 3, -1).permute(3, 2, 0, 1)]
        elif name.endswith("qkv.weight"):
            parts = [part.T for part in values.chunk(3, dim=1)]
        elif name.endswith("qkv.bias"):
            parts = values.chunk(3)
        elif values.ndim == 2 and name != "position":
            parts = [values.T]
        else:
            parts = [values]
        with torch.no_grad():
            for tensor, part in zip(tensors, parts, strict=True):
                tensor.copy_(part)
