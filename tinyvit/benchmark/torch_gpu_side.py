"""PyTorch's side of a benchmark on a GPU, in the several ways of which one is its fastest.

Batches are taken from pixels on the card, the optimiser is fused, nothing waits for the card, and what
torch.compile is given includes normalising and the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import torch
import torch.nn.functional as F  # noqa: N812 - the convention in PyTorch
from torch import nn

from tinyvit.benchmark.case import Case
from tinyvit.benchmark.torch_side import ViT


def make_step(case: Case, variant: str) -> Callable[[], None]:
    """A function that carries out the case once; it does not wait for the GPU.

    variant is a way to run the model and a way to compute: 'eager', or a mode of torch.compile; then
    'autocast' (float32 parameters, bfloat16 products), 'pure' (all in bfloat16) or 'float32'. See
    benchmark.on_gpu, which lists them.
    """
    mode, numbers = variant.rsplit(" ", 1)
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high" if case.precision == "tf32" else "highest")
    dtype = torch.bfloat16 if numbers == "pure" else torch.float32
    model = ViT(case.config).to("cuda", dtype)
    pixels, labels = (torch.from_numpy(array).cuda() for array in case.data())

    def logits(chosen: torch.Tensor) -> torch.Tensor:
        images = ((chosen.float() - 127.5) / 127.5).to(dtype)
        with torch.autocast("cuda", torch.bfloat16, enabled=numbers == "autocast"):
            return model(images).float()

    def loss(chosen: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(logits(chosen), targets)

    if case.mode == "infer":
        model.eval()
        run = _compiled(logits, mode)

        def infer() -> None:
            torch.compiler.cudagraph_mark_step_begin()
            with torch.inference_mode():
                run(pixels)

        return infer

    run = _compiled(loss, mode)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05, fused=True)
    order = torch.arange(case.batch, device="cuda")

    def step() -> None:
        torch.compiler.cudagraph_mark_step_begin()
        optimizer.zero_grad(set_to_none=True)
        run(pixels[order], labels[order]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()

    return step


def time_steps(step: Callable[[], None], count: int) -> list[float]:
    """The seconds that each of `count` steps took, by the clock of the GPU, sent one after another."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        step()
        event.record()
    events[-1].synchronize()
    return [1e-3 * a.elapsed_time(b) for a, b in pairwise(events)]


def peak_bytes() -> int:
    """The most memory that PyTorch has had from the card so far."""
    return torch.cuda.max_memory_reserved()


def _compiled(function: Callable, mode: str) -> Callable:
    return function if mode == "eager" else torch.compile(function, mode=mode)
