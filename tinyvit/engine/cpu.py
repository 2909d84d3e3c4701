"""The CPU engine: the batch is cut into micro-batches that fit the caches, spread over threads.

NumPy gives up Python's lock inside matrix products and elementwise functions, so threads really run side by
side, and a thread that works on a few images at a time finds its arrays still in the cache. The first thread
adds its gradients to the result, each other one to a buffer of its own, and these are added at the end, in a
fixed order. Which thread takes which images is fixed too: the same batch on the same number of threads gives
the same bits every time.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from tinyvit import model
from tinyvit.engine.blas import keep_freed_memory, one_blas_thread
from tinyvit.model import Params, ViTConfig
from tinyvit.ops import Noise

# Micro-batches are chosen so that the largest array of a block has about this many bytes.
_TARGET_BYTES = 1_500_000
_LEAST_ROWS = 300  # tokens in a micro-batch


class CpuEngine:
    """Interface and results of ReferenceEngine, NumPy arrays only, on several threads.

    threads None takes all cores the process may use; micro_batch None is chosen from the model.
    """

    def __init__(
        self,
        config: ViTConfig,
        smoothing: float = 0.0,
        threads: int | None = None,
        micro_batch: int | None = None,
    ):
        self.config, self.smoothing = config, smoothing
        self.threads = threads or available_cores()
        self.micro_batch = micro_batch or _fitting_micro_batch(config)
        self.label = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        self._pool = ThreadPoolExecutor(self.threads)
        self._other_grads: list[Params] = []
        keep_freed_memory()

    def loss_and_grads(
        self,
        params: Params,
        images: np.ndarray,
        targets: np.ndarray,
        grads: Params,
        noise: Noise | None = None,
        share: float = 1.0,
    ) -> np.ndarray:
        """As ReferenceEngine.loss_and_grads."""
        if not self._other_grads or self._other_grads[0].flat.dtype != grads.flat.dtype:
            self._other_grads = [grads.zeros_like() for _ in range(self.threads - 1)]
        for other in self._other_grads:
            other.flat.fill(0)
        pieces = self._pieces(len(images))

        def work(thread: int) -> np.ndarray:
            own = self._other_grads[thread - 1] if thread else grads  # the first thread needs no buffer
            loss = np.zeros((), dtype=grads.flat.dtype)
            for piece in pieces[thread :: self.threads]:
                part = share * len(images[piece]) / len(images)
                own_noise = noise and Noise(noise.seed, noise.step, noise.first + piece.start)
                loss = loss + model.loss_and_grads(
                    params, self.config, images[piece], targets[piece], own, self.smoothing, own_noise, part
                )
            return loss

        with one_blas_thread():
            losses = list(self._pool.map(work, range(self.threads)))
        for other in self._other_grads:
            grads.flat += other.flat
        return sum(losses[1:], start=losses[0])

    def logits(self, params: Params, images: np.ndarray) -> np.ndarray:
        """As ReferenceEngine.logits."""
        pieces = self._pieces(len(images))
        with one_blas_thread():
            parts = self._pool.map(lambda piece: model.forward(params, self.config, images[piece])[0], pieces)
            return np.concatenate(list(parts))

    def _pieces(self, count: int) -> list[slice]:
        """Micro-batches of nearly equal size, as many for each thread where there are enough images."""
        rounds = max(1, round(count / (self.micro_batch * self.threads)))
        number = min(count, rounds * self.threads)
        cuts = [count * i // number for i in range(number + 1)]
        return [slice(a, b) for a, b in pairwise(cuts)]


def available_cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _fitting_micro_batch(config: ViTConfig) -> int:
    """Images whose largest array in a block (MLP, q k v, or attention) fits the target, but enough of them.

    Adding a matrix's gradient costs a pass over the matrix in each micro-batch, whatever its size: with too
    few rows to share that cost, it is felt.
    """
    N = config.tokens
    numbers = max(N * config.mlp_width, 3 * N * config.width, config.heads * N * N)
    return max(round(_TARGET_BYTES / (4 * numbers)), math.ceil(_LEAST_ROWS / N))
