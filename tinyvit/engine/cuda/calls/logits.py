"""The launch of kernels/logits.cu: logits for predictions."""

from __future__ import annotations

import numpy as np

from tinyvit.engine.cuda.calls.shapes import THREADS, blocks
from tinyvit.engine.cuda.launch import Buffer, Launch


def add_bias(logits: Buffer, bias: Buffer, out: Buffer) -> Launch:
    """out = logits + bias: logits (B, C), bias (C,), out float32 (B, C)."""
    B, C = logits.shape
    return Launch(
        file="logits",
        function=f"add_bias<{logits.c_type}>",
        grid=(blocks(logits.size),),
        block=(THREADS,),
        args=(logits, bias, out, np.int32(B), np.int32(C)),
        reads=(logits, bias),
        writes=(out,),
    )
