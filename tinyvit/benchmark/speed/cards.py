"""What the makers' data sheets promise of some cards.

Rates are those of dense matrices with sums in float32. Data sheets often state twice as much, for sparse
ones; and cards of the GeForce line have twice as much with sums in half precision, which serve no one here.

    H200            NVIDIA H200 Tensor Core GPU data sheet (SXM), 2024
    H100            NVIDIA H100 Tensor Core GPU data sheet (SXM5), 2023
    A100            NVIDIA A100 80GB Tensor Core GPU data sheet (SXM4), 2021
    RTX 4090        NVIDIA Ada GPU architecture whitepaper, appendix A, 2022
    RTX 3090        NVIDIA Ampere GA102 GPU architecture whitepaper, appendix A, 2020
    L4              NVIDIA L4 Tensor Core GPU data sheet, 2023
    T4              NVIDIA T4 Tensor Core GPU data sheet, 2019
"""

from __future__ import annotations

from dataclasses import dataclass

from tinyvit.errors import UserError


@dataclass(frozen=True)
class Card:
    """One card: its memory, and how fast it reads, writes and multiplies.

    capability is 90 for compute capability 9.0. gigabytes and gigabytes_per_second are those of its memory,
    in powers of ten. teraflops counts two operations for each multiply-add, by precision; 0: it has none.
    shared_bytes is the most shared memory that a block can ask for.
    """

    name: str
    capability: int
    multiprocessors: int
    gigabytes: float
    gigabytes_per_second: float
    fp32: float
    tf32: float
    bf16: float
    shared_bytes: int

    @property
    def bandwidth(self) -> float:
        """Bytes that can be read or written each second."""
        return 1e9 * self.gigabytes_per_second

    def rate(self, precision: str) -> float:
        """Multiply-adds each second, in fp32, tf32 or bf16. Raises UserError if the card has none."""
        teraflops = getattr(self, precision)
        if not teraflops:
            raise UserError(
                f"the card {self.name} cannot multiply in {precision}: choose another --precision."
            )
        return teraflops * 1e12 / 2


#        name        capability  SMs    GB    GB/s  fp32   tf32   bf16  shared memory of a block
CARDS = (
    Card("H200", 90, 132, 141, 4800, 66.9, 494.7, 989.4, 232_448),
    Card("H100", 90, 132, 80, 3350, 66.9, 494.7, 989.4, 232_448),
    Card("A100", 80, 108, 80, 2039, 19.5, 156, 312, 166_912),
    Card("RTX 4090", 89, 128, 24, 1008, 82.6, 82.6, 165.2, 101_376),
    Card("RTX 3090", 86, 82, 24, 936, 35.6, 35.6, 71, 101_376),
    Card("L4", 89, 58, 24, 300, 30.3, 60, 121, 101_376),
    Card("T4", 75, 40, 16, 320, 8.1, 0, 0, 65_536),
)

# Words by which a driver tells another card of nearly the same name: slower memory, fewer multiprocessors.
_OTHERS = {"pcie", "nvl", "40gb", "ti", "d", "laptop", "mig"}


def card_named(name: str) -> Card:
    """The card of this name; capitals, spaces and hyphens do not matter. Raises UserError for others."""
    wanted = _plain(name)
    for card in CARDS:
        if _plain(card.name) == wanted:
            return card
    raise UserError(f"there is no data sheet of a card {name!r}: expected one of {', '.join(names())}.")


def card_in(device: str) -> Card | None:
    """The card whose name is part of what a driver calls it, such as NVIDIA H200; None if it is unknown.

    So are cards that have more or less than the one on the data sheet, and parts of a card.
    """
    words = device.lower().replace("-", " ").split()
    if not _OTHERS.isdisjoint(words):
        return None
    return next((card for card in CARDS if f" {card.name.lower()} " in f" {' '.join(words)} "), None)


def names() -> list[str]:
    """The names of all cards."""
    return [card.name for card in CARDS]


def _plain(name: str) -> str:
    return name.lower().replace(" ", "").replace("-", "").replace("_", "")
