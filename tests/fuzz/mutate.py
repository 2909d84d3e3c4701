"""Damaging bytes at random, as a bad disk, a broken download or an attacker would."""

import random
from collections.abc import Sequence

_SIZES = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0xFFFF, 0x10000, 2**24, 2**31 - 1, 2**31, 2**32 - 1)
_SIZES += (2**40, 2**63 - 1, 2**63, 2**64 - 1)
MOST_BYTES = 60_000  # of an input: longer ones are cut, so that thousands fit into a second


def damaged(rng: random.Random, content: bytes, others: Sequence[bytes]) -> bytes:
    """A copy with one to five changes; others lend pieces."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        rng.choice(_CHANGES)(rng, data, others)
    return bytes(data[:MOST_BYTES])


def _flip(rng, data, others):
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _set(rng, data, others):
    if data:
        data[rng.randrange(len(data))] = rng.randrange(256)


def _size(rng, data, others):
    """A number that may be a size becomes an extreme one."""
    width = rng.choice((1, 2, 4, 8))
    place = rng.randrange(len(data) + 1)
    number = rng.choice(_SIZES) % 256**width
    data[place : place + width] = number.to_bytes(width, rng.choice(("little", "big")))


def _cut(rng, data, others):
    del data[rng.randrange(len(data) + 1) :]


def _remove(rng, data, others):
    start = rng.randrange(len(data) + 1)
    del data[start : start + rng.choice((1, 2, 8, 100))]


def _insert(rng, data, others):
    place = rng.randrange(len(data) + 1)
    data[place:place] = rng.randbytes(rng.choice((1, 2, 8, 100)))


def _repeat(rng, data, others):
    start = rng.randrange(len(data) + 1)
    piece = bytes(data[start : start + rng.choice((1, 4, 30, 500))])
    data[start:start] = piece * min(rng.choice((1, 3, 50, 1000)), 1 + MOST_BYTES // max(1, len(piece)))


def _lend(rng, data, others):
    """A piece of another file takes the place of one."""
    other = rng.choice(others)
    start, length = rng.randrange(len(other) + 1), rng.choice((4, 30, 500))
    place = rng.randrange(len(data) + 1)
    data[place : place + length] = other[start : start + length]


_CHANGES = (_flip, _flip, _flip, _set, _set, _size, _size, _cut, _remove, _insert, _repeat, _lend)
