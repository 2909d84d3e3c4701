"""PyTorch's side of a benchmark: the same model, written in the way that is fastest in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812 - the convention in PyTorch
from torch import nn

from tinyvit.benchmark.case import Case
from tinyvit.model import ViTConfig
from tinyvit.model.later.resnet import unit_stride, units_of
from tinyvit.ops.windows import placement


class Block(nn.Module):
    """A pre-norm block with one product for q, k and v, and PyTorch's fused attention."""

    def __init__(self, config: ViTConfig):
        super().__init__()
        D = config.width
        self.heads = config.heads
        self.norm1, self.norm2 = nn.LayerNorm(D, eps=config.eps), nn.LayerNorm(D, eps=config.eps)
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.fc1, self.fc2 = nn.Linear(D, config.mlp_width), nn.Linear(config.mlp_width, D)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, N, D = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(B, N, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, D)
        x = x + self.out(attended)
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x)), approximate="tanh"))


class Convolution(nn.Conv2d):
    """A convolution with a standardised kernel and SAME padding, and its group norm."""

    def __init__(self, inputs: int, outputs: int, size: int, stride: int, groups: int):
        super().__init__(inputs, outputs, size, stride, bias=False)
        self.norm = nn.GroupNorm(groups, outputs, eps=1e-6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        deviation, mean = torch.std_mean(self.weight, dim=(1, 2, 3), correction=0, keepdim=True)
        kernel = (self.weight - mean) / (deviation + 1e-5)
        x = same(x, self.kernel_size[0], self.stride[0])
        return self.norm(F.conv2d(x, kernel, stride=self.stride))


class Unit(nn.Module):
    """A bottleneck unit."""

    def __init__(self, inputs: int, width: int, stride: int, groups: int, projects: bool):
        super().__init__()
        self.skip_proj = Convolution(inputs, 4 * width, 1, stride, groups) if projects else nn.Identity()
        self.conv1 = Convolution(inputs, width, 1, 1, groups)
        self.conv2 = Convolution(width, width, 3, stride, groups)
        self.conv3 = Convolution(width, 4 * width, 1, 1, groups)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv3(F.relu(self.conv2(F.relu(self.conv1(x)))))
        return F.relu(self.skip_proj(x) + y)


class ResNet(nn.Module):
    """A ResNet: images (B, H, W, 3) to its feature map (B, h, w, channels)."""

    def __init__(self, config: ViTConfig):
        super().__init__()
        W, groups = config.resnet_width, config.resnet_groups
        self.root = Convolution(config.channels, W, 7, 2, groups)
        units, inputs = [], W
        for i, j in units_of(config):
            units.append(Unit(inputs, W * 2**i, unit_stride(i, j), groups, projects=j == 0))
            inputs = 4 * W * 2**i
        self.units = nn.Sequential(*units)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.root(images.permute(0, 3, 1, 2)))  # a view: in memory, the channels stay last
        x = F.max_pool2d(same(x, 3, 2, -torch.inf), 3, 2)
        return self.units(x).permute(0, 2, 3, 1)


def same(x: torch.Tensor, size: int, stride: int, value: float = 0.0) -> torch.Tensor:
    """x (B, C, H, W), padded for windows of size x size as TensorFlow does it."""
    (_, top, bottom), (_, left, right) = (placement(n, size, stride, "SAME") for n in x.shape[2:])
    return F.pad(x, (left, right, top, bottom), value=value) if top + bottom + left + right else x


class ViT(nn.Module):
    """The Vision Transformer with a class token, a hybrid, or a ResNet on its own."""

    def __init__(self, config: ViTConfig):
        super().__init__()
        D, P = config.width, config.patch_size
        self.patch, self.has_transformer = P, config.has_transformer
        self.resnet = ResNet(config) if config.has_resnet else nn.Identity()
        self.head = nn.Linear(D, config.classes)
        if not config.has_transformer:
            return
        self.embed = nn.Linear(config.feature_map[2] * P * P, D)
        self.token = nn.Parameter(torch.zeros(1, 1, D))
        self.position = nn.Parameter(0.02 * torch.randn(1, config.tokens, D))
        self.blocks = nn.Sequential(*(Block(config) for _ in range(config.layers)))
        self.norm = nn.LayerNorm(D, eps=config.eps)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        x = self.resnet(images)
        if not self.has_transformer:
            return self.head(x.mean(dim=(1, 2)))
        B, H, W, C = x.shape
        P = self.patch
        x = x.reshape(B, H // P, P, W // P, P, C).transpose(2, 3).reshape(B, -1, P * P * C)
        x = torch.cat([self.token.expand(B, -1, -1), self.embed(x)], dim=1) + self.position
        return self.head(self.norm(self.blocks(x)[:, 0]))


def normalised(pixels: torch.Tensor) -> torch.Tensor:
    """Bytes 0..255 to -1..1."""
    return pixels.float().sub_(127.5).div_(127.5)


def make_step(case: Case, variant: str) -> Callable[[], None]:
    """A function that carries out the case once; variant 'eager' or 'compile' (torch.compile)."""
    torch.set_num_threads(case.threads)
    torch.manual_seed(0)
    model = ViT(case.config)
    pixels, labels = (torch.from_numpy(array) for array in case.data())
    run = torch.compile(model) if variant == "compile" else model
    if case.mode == "infer":
        model.eval()
        images = normalised(pixels)

        def infer() -> None:
            with torch.inference_mode():
                run(images)

        return infer

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05, fused=True)

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        chosen = torch.arange(case.batch)
        loss = F.cross_entropy(run(normalised(pixels[chosen])), labels[chosen])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        loss.item()

    return step
