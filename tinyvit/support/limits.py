"""The largest numbers that flags, settings and models may have, and rules for values, in words."""

import sys
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

LARGEST = 2**31 - 1  # a count or a size: beyond all use, but safe to compute with
LARGEST_SEED = 2**64 - 1
MOST_LAYERS = 10_000  # of blocks, or units of a ResNet
MOST_EPOCHS = 20_000  # of a run: the records of all must fit into files.LARGEST_TEXT
MOST_PIXELS = 16_384  # on a side of an image: data.operations counts 65,536ths of one in 32 bits
MOST_THREADS = 256


class Rule(NamedTuple):
    """The values that a setting or a flag may have, beyond their type; metavar stands for them in --help."""

    fits: Callable[[Any], bool]
    words: str
    metavar: str | None = None
    choices: tuple[str, ...] = ()  # all values, if they are names


def one_of(names: Collection[str]) -> Rule:
    """One of these names."""
    return Rule(lambda value: value in names, f"one of {', '.join(names)}", choices=tuple(names))


def counted_to(most: int) -> Rule:
    """A whole number from 1 to most."""
    return Rule(lambda value: 1 <= value <= most, f"a whole number from 1 to {most:,}", "N")


def up_to(most: float) -> Rule:
    """A number from 0 to most."""
    return Rule(lambda value: 0 <= value <= most, f"a number from 0 to {most:g}", "X")


COUNT = Rule(lambda value: 1 <= value <= LARGEST, "a whole number, 1 or more, and below 2^31", "N")
NATURAL = Rule(lambda value: 0 <= value <= LARGEST, "a whole number, 0 or more, and below 2^31", "N")
SEED = Rule(lambda value: 0 <= value <= LARGEST_SEED, "a whole number, 0 or more, and below 2^64", "N")
LAYERS, PIXELS, THREADS = counted_to(MOST_LAYERS), counted_to(MOST_PIXELS), counted_to(MOST_THREADS)
COUNT_OR_SHARE = Rule(
    lambda value: 0 <= value < 1 or (1 <= value <= LARGEST and value == int(value)),
    "a whole number, 0 or more, and below 2^31, or a fraction below 1",
    "N",
)
DURATION = Rule(lambda value: 0 <= value <= LARGEST, "a number, 0 or more, and below 2^31", "X")
AMOUNT = Rule(lambda value: 0 <= value <= sys.float_info.max, "a number, 0 or more", "X")
POSITIVE = Rule(lambda value: 0 < value <= sys.float_info.max, "a number above 0", "X")
SHARE = Rule(lambda value: 0 < value <= 1, "a number above 0 and at most 1", "R")
RATE = Rule(lambda value: 0 <= value < 1, "a number from 0 to below 1", "R")
TEXT = Rule(lambda value: True, "a string", "NAME")
PATH = Rule(lambda value: True, "a string", "PATH")
SWITCH = Rule(lambda value: True, "true or false")
