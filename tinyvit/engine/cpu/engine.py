"""The CPU engine: the batch is split into micro-batches that fit in the caches and run on several threads.

NumPy releases Python's global lock inside matrix products and elementwise functions, so threads really do run
in parallel, and a thread that works on a few images at a time still finds its arrays in the cache. The first
worker adds its gradients to the result; every other worker has its own buffer, and these are added at the
end in a fixed order. Which worker takes which images is fixed too, so the same batch on the same number of
threads gives the same bits every time. (A model whose gradients fill a large part of the memory has fewer
workers than threads; with less memory it may have fewer still, and other bits.)
"""

import contextlib
import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from tinyvit import model
from tinyvit.backend import Pool
from tinyvit.engine.blas import blas_threads, keep_freed_memory, one_blas_thread
from tinyvit.engine.cpu.blocks import Blocks, InferenceBlocks
from tinyvit.engine.cpu.folding import Folded, fold, unfold_gradients
from tinyvit.engine.reference import ReferenceEngine, Training
from tinyvit.model import Params, ViTConfig
from tinyvit.model.later.resnet import resnet_largest_array
from tinyvit.model.layout import depth
from tinyvit.model.passes import check_images
from tinyvit.model.stage import Stage, frozen_up_to, infer_through
from tinyvit.objectives import Objective, loss_and_grads
from tinyvit.ops import Corruption, Noise
from tinyvit.optim.spread import one_after_another
from tinyvit.support.cores import available_cores, available_memory

# Micro-batches are sized so that the largest array has about this many bytes.
_TARGET_BYTES = 2_000_000
_LEAST_ROWS = 300  # tokens in a micro-batch
_LEAST_ROWS_TO_INFER = 2000  # no caches are held, and every matrix is read from memory for each micro-batch
_BUFFERS_SHARE = 0.25  # the largest share of memory for the gradient buffers of the other workers


class CpuEngine(ReferenceEngine):
    """The same interface and results as ReferenceEngine, for NumPy arrays only, on several threads.

    threads None uses all cores the process may use; micro_batch None derives the size from the model. If a
    gradient buffer for each thread would take too much memory, there are fewer workers, and each uses several
    threads for its matrix products.
    """

    # Fewer tokens would not repay the passes over the matrices that folding takes.
    least_tokens_to_fold = 1000
    least_tokens_to_infer_folded = 20  # times the width: inference saves less
    # The calling thread alone folds a smaller model, and sums and clips its gradients: it has finished before
    # another thread would have woken up. An optimiser has more to do.
    least_bytes_to_spread = 4_000_000  # of the gradients of all workers

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
        self.micro_batch = micro_batch or _fitting_micro_batch(config, _LEAST_ROWS)
        least_rows = _LEAST_ROWS if config.has_resnet else _LEAST_ROWS_TO_INFER  # a ResNet's rows are long
        self.micro_batch_to_infer = micro_batch or _fitting_micro_batch(config, least_rows)
        self.label = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        unsupported = Blocks.unsupported_fields(config)
        if training and (slow := [name for name in config.later_parts if name in unsupported]):
            parts = ", ".join(slow)
            self.note = f"training is slower than usual: the CPU engine has no fast path for {parts}."
        self._threads = Threads(self.threads)
        small = self.workers * params.flat.nbytes < self.least_bytes_to_spread
        self._spread = on_this_thread if small else self._threads.do
        self._other_grads: list[Params] = []
        self._frozen_blocks: dict[int, Folded] = {}
        if training:
            training.optimizer.set_parallel_map(self._threads.do)
        keep_freed_memory()

    def loss_and_grads(
        self,
        images: np.ndarray,
        targets: np.ndarray,
        noise: Noise | None = None,
        share: float = 1.0,
        fresh: bool = False,
    ) -> np.ndarray:
        """See ReferenceEngine.loss_and_grads; nothing may have been drawn from the noise before."""
        images = self._checked(images)
        if len(targets) != len(images):
            raise ValueError(
                f"there are {len(targets)} targets for {len(images)} images: expected one for each"
            )
        grads = self.grads
        if not self._other_grads:
            self._other_grads = [grads.zeros_like() for _ in range(self.workers - 1)]
        frozen = self.frozen
        earlier = None if fresh or not grads.flat.any() else grads.astype(grads.flat.dtype)
        pieces = self._pieces(len(images), self.workers, self.micro_batch)
        workers = min(self.workers, len(pieces))
        blocks = self._blocks(len(images))
        names = [name for name in grads if frozen is None or depth(name) > frozen]
        parts = dict.fromkeys(".".join(name.split(".")[:2]) for name in names)  # blocks.0, norm.weight

        def finish(part: str) -> None:
            self._sum_and_unfold(part, self._other_grads[: workers - 1], blocks is not None, earlier)

        def learn(worker: int) -> np.ndarray:
            own = self._other_grads[worker - 1] if worker else grads  # the first worker needs no buffer
            own.clear(frozen)
            loss = np.zeros((), dtype=grads.flat.dtype)
            for piece in pieces[worker::workers]:
                part = share * len(images[piece]) / len(images)
                own_noise = noise and Noise(noise.seed, noise.step, noise.first + piece.start)
                arrange = partial(blocks.arrange, own_noise) if blocks else frozen_up_to
                loss = loss + self.objective(
                    self.config,
                    self.params,
                    images[piece],
                    targets[piece],
                    own,
                    noise=own_noise,
                    share=part,
                    arrange=partial(arrange, frozen),
                )
            return loss

        with (
            blas_threads(max(1, self.threads // workers)),
            self._threads.at_work(learn, range(workers)) as working,
        ):
            losses = [worker.result() for worker in working]
        self._spread(finish, parts)
        return sum(losses[1:], start=losses[0])

    def logits(self, images: np.ndarray, corruption: Corruption | None = None) -> np.ndarray:
        """See ReferenceEngine.logits."""
        if corruption:
            return super().logits(images, corruption)
        return self._compute(model.stages(self.config), images)

    def features(self, images: np.ndarray) -> np.ndarray:
        """See ReferenceEngine.features."""
        return self._compute(model.feature_stages(self.config), images)

    def _blocks(self, images: int) -> Blocks | None:
        """The blocks for training on this number of images.

        None if folding would not pay, or if Blocks cannot compute the model.
        """
        few = images * self.config.tokens < self.least_tokens_to_fold
        if few or Blocks.unsupported_fields(self.config):
            return None
        learning = range(self.frozen or 0, self.config.layers)
        for i in range(learning.start):
            if i not in self._frozen_blocks:
                self._frozen_blocks[i] = fold(self.config, self.params, i)
        folded = list(self._frozen_blocks.values())
        folded += self._spread(lambda i: fold(self.config, self.params, i), learning)
        return Blocks(self.config, self.params, folded)

    def _sum_and_unfold(self, part: str, others: list[Params], folded: bool, earlier: Params | None) -> None:
        """Add to a part of grads those of the other workers, in a fixed order, then what was there before."""
        total = self.grads.group(part)
        for other in others:
            for array, more in zip(total, other.group(part), strict=True):
                array += more
        if folded and part.startswith("blocks."):
            unfold_gradients(self.config, self.params, int(part.removeprefix("blocks.")), self.grads)
        if earlier is not None:
            for array, more in zip(total, earlier.group(part), strict=True):
                array += more

    def _compute(self, stages: list[Stage], images: np.ndarray) -> np.ndarray:
        """The output of the stages for micro-batches on all threads, concatenated in order."""
        images = self._checked(images)
        pieces = self._pieces(len(images), self.threads, self.micro_batch_to_infer)
        if blocks := self._blocks_to_infer(len(images)):
            stages = blocks.arrange(stages)
        return np.concatenate(
            self._threads.do(lambda piece: infer_through(stages, self.params, images[piece]), pieces)
        )

    def _blocks_to_infer(self, images: int) -> InferenceBlocks | None:
        """The blocks for inference on this number of images; None if they cannot compute the model."""
        config, params = self.config, self.params
        if Blocks.unsupported_fields(config):
            return None
        folded = None
        has_more = config.layer_scale or config.qkv_bias != "all"  # which only folding makes a plain block
        if has_more or images * config.tokens >= self.least_tokens_to_infer_folded * config.width:
            folded = self._spread(lambda i: fold(config, params, i), range(config.layers))
        return InferenceBlocks(config, params, folded)

    def _checked(self, images: np.ndarray) -> np.ndarray:
        """The images in the dtype of the parameters, once they are known to be images of the model's size."""
        check_images(self.config, images)
        return images.astype(self.params.flat.dtype, copy=False)

    @staticmethod
    def _pieces(count: int, workers: int, micro_batch: int) -> list[slice]:
        """Micro-batches of nearly equal size, the same number for each worker if there are enough images."""
        rounds = max(1, round(count / (micro_batch * workers)))
        number = min(count, rounds * workers)
        cuts = [count * i // number for i in range(number + 1)]
        return [slice(a, b) for a, b in pairwise(cuts)]


def _workers(threads: int, buffer_bytes: int, memory: int | None) -> int:
    """Number of threads that may have a gradient buffer: all, unless these would take too much memory."""
    if memory is None:
        return threads
    return min(threads, 1 + int(_BUFFERS_SHARE * memory / buffer_bytes))


def _fitting_micro_batch(config: ViTConfig, least_rows: int) -> int:
    """Number of images that keep the largest array near the target size: of a block (MLP, q k v, attention),
    of a ResNet (the windows that a convolution reads), or the logits of a model that predicts patches.

    Each micro-batch adds its gradient to every matrix, a pass over the matrix however few its images are. A
    minimum number of rows keeps that cost small in comparison.
    """
    N = config.tokens
    scores = 2 * N if config.position == "relative" else N  # of a query: one for each offset, or each key
    of_block = max(N * config.mlp_width, 3 * N * config.width, config.heads * N * scores)
    of_head = config.patches * config.classes if config.predicts_patches else config.classes
    numbers = max(of_block, of_head, resnet_largest_array(config))
    return max(round(_TARGET_BYTES / (4 * numbers)), math.ceil(least_rows / N))


class Threads:
    """Threads that begin when they are first needed, and end when nothing refers to this object any more.

    An optimiser that keeps `do` therefore keeps these threads, but not the engine that they belong to. Where
    the system refuses this many, there are fewer, or the calling thread does all the work.
    """

    def __init__(self, number: int):
        self._number = number
        self._pool, self._process = Pool(number), os.getpid()

    def do(self, work: Callable[[Any], Any], pieces: Iterable) -> list:
        """work(piece) for all pieces, each on one thread; the results in the order of the pieces.

        A thread that is done with a piece takes the next one itself. To hand over each piece separately would
        cost more than the work on a small one.
        """
        left = deque(enumerate(pieces))  # threads can share it: no two get the same piece
        results = [None] * len(left)

        def next_piece() -> tuple[int, Any] | None:
            with contextlib.suppress(IndexError):
                return left.popleft()
            return None

        def take(_: int) -> None:
            try:
                for i, piece in iter(next_piece, None):
                    results[i] = work(piece)
            finally:  # after an error the others are left
                left.clear()

        with blas_threads(1), self.at_work(take, range(min(self._number, len(left)))) as working:
            try:
                for thread in working:
                    thread.result()
            finally:  # and when the user interrupts
                left.clear()
        return results

    @contextlib.contextmanager
    def at_work(self, work: Callable[[Any], Any], pieces: Iterable) -> Iterator[list[Future]]:
        """Within this context, the threads do work(piece) for all pieces.

        No thread is at work on them any more when it is left, not even if one of them has failed: it would
        write into gradients that the caller may use again, with another number of BLAS threads.
        """
        if self._process != os.getpid():  # forked: the threads have stayed behind
            self._pool, self._process = Pool(self._number), os.getpid()
        futures = [self._pool.submit(work, piece) for piece in pieces]
        try:
            yield futures
        finally:
            for future in futures:
                future.cancel()
            wait(futures)


def on_this_thread(work: Callable[[Any], Any], pieces: Iterable) -> list:
    """As Threads.do, but on the calling thread alone: for work that is done before another would wake up."""
    with one_blas_thread():
        return one_after_another(work, pieces)
