"""Cards as their data sheets describe them, and the operations of a ViT's forward, counted.

Nothing here was measured. Data sheets state what a card can do at most, and count a multiply-add as two
floating-point operations (FLOP). How long a launch takes is not in any data sheet: it is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass

from tinyvit.model import ViTConfig


@dataclass(frozen=True)
class Card:
    """The limits of a card: bytes a second to and from its memory, FLOP a second in 16-bit products.

    launch_seconds is how long the host needs to launch an operation.
    """

    name: str
    bytes_a_second: float
    flop_a_second: float
    launch_seconds: float = 10e-6


CARDS = (
    Card("T4", 0.32e12, 65e12),
    Card("RTX 4090", 1.0e12, 165e12),
    Card("A100 80GB", 2.0e12, 312e12),
    Card("H200", 4.8e12, 989e12),
)


@dataclass(frozen=True)
class Operation:
    """One launch: what it has to compute, what it has to move, and whether the host then waits for it."""

    name: str
    multiply_adds: float
    bytes_moved: float
    host_waits: bool = False


def forward_operations(config: ViTConfig, batch: int) -> list[Operation]:
    """The blocks of a ViT's forward in bf16, two bytes a number, fused as far as this lesson goes."""
    N, D, M = config.tokens, config.width, config.mlp_width
    R = batch * N
    block = [
        Operation("sum, LayerNorm", 0, 2 * 4 * R * D),  # two read, their sum and its normalised rows written
        _product("queries, keys, values", R, D, 3 * D),
        Operation("attention", 2 * R * N * D, 2 * 4 * R * D),  # its scores never go to memory
        _product("output", R, D, D),
        Operation("sum, LayerNorm", 0, 2 * 4 * R * D),
        _product("MLP, first layer", R, D, M),
        Operation("GELU", 0, 2 * 2 * R * M),
        _product("MLP, second layer", R, M, D),
    ]
    return config.layers * block


def _product(name: str, R: int, I: int, O: int) -> Operation:
    """A product of (R, I) and (I, O)."""
    return Operation(name, R * I * O, 2 * (R * I + I * O + R * O))
