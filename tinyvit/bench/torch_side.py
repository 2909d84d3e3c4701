"""PyTorch's side of a benchmark: the same model, written in the way that is fastest in PyTorch.

Batches are taken from pixels on the device, the optimiser is fused, nothing waits for a GPU, and what
torch.compile is given includes normalising and the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F  # noqa: N812 - the convention in PyTorch
from torch import nn

from tinyvit.bench.timing import Case, card_seconds, host_seconds, peak_resident_bytes
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


def make_step(case: Case, variant: str) -> Callable[[], None]:
    """A function that carries out the case once; it does not wait for a GPU.

    variant is 'eager' or 'compile' (torch.compile), and may go on with 'autocast' (products in bfloat16) or
    'pure' (all in bfloat16).
    """
    way, _, numbers = variant.partition(" ")
    device, dtype = ("cuda" if case.device == "gpu" else "cpu"), torch.float32
    torch.set_num_threads(case.threads)
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high" if case.precision == "tf32" else "highest")
    if numbers == "pure":
        dtype = torch.bfloat16
    model = ViT(case.config).to(device, dtype)
    pixels, labels = (torch.from_numpy(array).to(device) for array in case.data())

    def logits(pixels: torch.Tensor) -> torch.Tensor:
        images = pixels.float().sub_(127.5).div_(127.5).to(dtype)
        with torch.autocast(device, torch.bfloat16, enabled=numbers == "autocast"):
            return model(images).float()

    def loss(pixels: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(logits(pixels), labels)

    run: Callable[..., torch.Tensor] = loss if case.mode == "train" else logits
    if way == "compile":  # reduce-overhead is the mode that replays a graph on a GPU
        run = torch.compile(run, mode="reduce-overhead" if case.device == "gpu" else None)
    if case.mode == "infer":
        model.eval()

        def infer() -> None:
            torch.compiler.cudagraph_mark_step_begin()
            with torch.inference_mode():
                run(pixels)

        return infer

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05, fused=True)
    order = torch.arange(case.batch, device=device)

    def step() -> None:
        torch.compiler.cudagraph_mark_step_begin()
        optimizer.zero_grad(set_to_none=True)
        run(pixels[order], labels[order]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


def time_steps(case: Case, step: Callable[[], None], count: int) -> list[float]:
    """The seconds that each of `count` steps took."""
    if case.device == "cpu":
        return host_seconds(step, count)
    return card_seconds(
        step, count, partial(torch.cuda.Event, enable_timing=True), torch.cuda.Event.elapsed_time
    )


def peak_bytes(case: Case) -> int:
    """The peak memory of this process, or the most that PyTorch has had from the card so far."""
    return torch.cuda.max_memory_reserved() if case.device == "gpu" else peak_resident_bytes()
