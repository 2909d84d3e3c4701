"""The CPU engine: the batch is split into micro-batches that fit in the caches and run on several threads.

NumPy releases Python's global lock inside matrix products and elementwise functions, so threads really do run
in parallel, and a thread that works on a few images at a time still finds its arrays in the cache. The first
worker adds its gradients to the result; every other worker has its own buffer, and these are added at the
end in a fixed order. Which worker takes which images is fixed too, so the same batch on the same number of
threads gives the same bits every time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from tinyvit import model
from tinyvit.engine.blas import blas_threads, keep_freed_memory
from tinyvit.engine.cores import available_cores, available_memory
from tinyvit.engine.cpu.blocks import Blocks
from tinyvit.engine.cpu.folding import fold, unfold_gradients
from tinyvit.engine.reference import ReferenceEngine, Training
from tinyvit.model import Params, ViTConfig
from tinyvit.model.cost import resnet_largest_array
from tinyvit.objectives import Objective, loss_and_grads
from tinyvit.ops import Noise
from tinyvit.optim import Adam, Muon
from tinyvit.optim.spread import Work

# Micro-batches are sized so that the largest array has about this many bytes.
_TARGET_BYTES = 2_000_000
_LEAST_ROWS = 300  # tokens in a micro-batch
_BUFFERS_SHARE = 0.25  # the largest share of memory for the gradient buffers of the other workers


class CpuEngine(ReferenceEngine):
    """The same interface and results as ReferenceEngine, for NumPy arrays only, on several threads.

    threads None uses all cores the process may use; micro_batch None derives the size from the model. If a
    gradient buffer for each thread would take too much memory, there are fewer workers, and each uses several
    threads for its matrix products.
    """

    least_tokens_to_fold = 1000  # fewer would not repay the passes over the matrices that folding takes

    def __init__(
        self,
        config: ViTConfig,
        params: Params,
        objective: Objective = loss_and_grads,
        training: Training | None = None,
        threads: int | None = None,
        micro_batch: int | None = None,
    ):
        super().__init__(config, params, objective, training)
        self.threads = threads or available_cores()
        self.workers = _workers(self.threads, params.flat.nbytes, available_memory())
        self.micro_batch = micro_batch or _fitting_micro_batch(config)
        self.label = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        self._pool = ThreadPoolExecutor(self.threads)
        self._other_grads: list[Params] = []
        if training and isinstance(training.optimizer, (Adam, Muon)):
            training.optimizer.spread_with(self._on_all_threads)
        keep_freed_memory()

    def loss_and_grads(
        self, images: np.ndarray, targets: np.ndarray, noise: Noise | None = None, share: float = 1.0
    ) -> np.ndarray:
        """See ReferenceEngine.loss_and_grads."""
        grads = self.grads
        if not self._other_grads:
            self._other_grads = [grads.zeros_like() for _ in range(self.workers - 1)]
        earlier = grads.flat.copy() if grads.flat.any() else None
        pieces = self._pieces(len(images), self.workers)
        more = self._own_blocks(len(images))

        def work(worker: int) -> np.ndarray:
            own = self._other_grads[worker - 1] if worker else grads  # the first worker needs no buffer
            own.flat.fill(0)
            loss = np.zeros((), dtype=grads.flat.dtype)
            for piece in pieces[worker :: self.workers]:
                part = share * len(images[piece]) / len(images)
                own_noise = noise and Noise(noise.seed, noise.step, noise.first + piece.start)
                loss = loss + self.objective(
                    self.config,
                    self.params,
                    images[piece],
                    targets[piece],
                    own,
                    noise=own_noise,
                    share=part,
                    **more,
                )
            return loss

        with blas_threads(max(1, self.threads // self.workers)):
            losses = list(self._pool.map(work, range(self.workers)))
        self._sum_and_unfold(folded="blocks" in more)
        if earlier is not None:
            grads.flat += earlier
        return sum(losses[1:], start=losses[0])

    def logits(self, images: np.ndarray) -> np.ndarray:
        """See ReferenceEngine.logits."""
        return self._spread(model.infer, images)

    def features(self, images: np.ndarray) -> np.ndarray:
        """See ReferenceEngine.features."""
        return self._spread(model.features, images)

    def _own_blocks(self, images: int) -> dict[str, Blocks]:
        """The argument `blocks` of the model's functions for so many images.

        There is none if it would not pay, or if Blocks cannot compute the model.
        """
        if images * self.config.tokens < self.least_tokens_to_fold or not Blocks.can_compute(self.config):
            return {}
        with blas_threads(1):
            folded = self._pool.map(lambda i: fold(self.config, self.params, i), range(self.config.layers))
            return {"blocks": Blocks(self.config, list(folded))}

    def _sum_and_unfold(self, folded: bool) -> None:
        """Add the gradients of the other workers to grads, in a fixed order; of each block, on one thread."""

        def finish(part: str) -> None:
            total = self.grads.group(part)
            for other in self._other_grads:
                for array, more in zip(total, other.group(part), strict=True):
                    array += more
            if folded and part.startswith("blocks."):
                unfold_gradients(self.config, self.params, int(part.removeprefix("blocks.")), self.grads)

        parts = dict.fromkeys(".".join(name.split(".")[:2]) for name in self.grads)  # blocks.0, norm.weight
        self._on_all_threads(finish, parts)

    def _on_all_threads(self, work: Work, pieces: Iterable) -> None:
        """work(piece) for all pieces, each on one thread."""
        with blas_threads(1):
            list(self._pool.map(work, pieces))

    def _spread(self, compute: Callable[..., np.ndarray], images: np.ndarray) -> np.ndarray:
        """compute(config, params, images) for micro-batches on all threads, concatenated in order."""
        pieces = self._pieces(len(images), self.threads)
        more = self._own_blocks(len(images))
        with blas_threads(1):
            parts = self._pool.map(
                lambda piece: compute(self.config, self.params, images[piece], **more), pieces
            )
            return np.concatenate(list(parts))

    def _pieces(self, count: int, workers: int) -> list[slice]:
        """Micro-batches of nearly equal size, the same number for each worker if there are enough images."""
        rounds = max(1, round(count / (self.micro_batch * workers)))
        number = min(count, rounds * workers)
        cuts = [count * i // number for i in range(number + 1)]
        return [slice(a, b) for a, b in pairwise(cuts)]


def _workers(threads: int, buffer_bytes: int, memory: int | None) -> int:
    """How many threads may have a gradient buffer: all, unless the buffers would take too much memory."""
    if memory is None:
        return threads
    return min(threads, 1 + int(_BUFFERS_SHARE * memory / buffer_bytes))


def _fitting_micro_batch(config: ViTConfig) -> int:
    """How many images keep the largest array near the target size: of a block (MLP, q k v or attention), of a
    ResNet (the windows that a convolution reads), or the logits of a model that predicts patches.

    Each micro-batch adds its gradient to every matrix, a pass over the matrix however few its images are. A
    minimum number of rows keeps that cost small in comparison.
    """
    N = config.tokens
    scores = 2 * N if config.position == "relative" else N  # of a query: one for each offset, or each key
    of_block = max(N * config.mlp_width, 3 * N * config.width, config.heads * N * scores)
    of_head = config.patches * config.classes if config.predicts_patches else config.classes
    numbers = max(of_block, of_head, resnet_largest_array(config))
    return max(round(_TARGET_BYTES / (4 * numbers)), math.ceil(_LEAST_ROWS / N))
