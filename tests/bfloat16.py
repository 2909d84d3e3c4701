"""bfloat16 numbers in NumPy, which has no such type: arrays of their bits, uint16."""

import numpy as np


def to_bf16(x):
    """The bits of the nearest bfloat16 numbers, ties to even: uint16, for finite x."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    """bfloat16 numbers, given as bits, as float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)
