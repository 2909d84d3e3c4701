"""What an engine passes to model.vit to compute the blocks in its own way."""

from typing import Any, Protocol

from tinyvit.backend import Array
from tinyvit.model.params import Params
from tinyvit.ops import Noise


class EngineBlocks(Protocol):
    """All blocks in training: see engine.cpu.blocks.

    Tokens x (B, N, D) may be overwritten, and so may their gradients. The first `frozen` blocks have no
    backward pass.
    """

    def forward(self, x: Array, noise: Noise | None, frozen: int = 0) -> tuple[Array, Any]: ...

    def backward(self, dx: Array, cache: Any, grads: Params) -> Array: ...


class EngineInference(Protocol):
    """All blocks without a backward pass: see engine.cpu.inference."""

    def infer(self, x: Array) -> Array: ...
