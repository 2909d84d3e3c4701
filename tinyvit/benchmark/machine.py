"""How fast this machine multiplies matrices: an upper bound for everything made of matrix products."""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tinyvit.engine.blas import one_blas_thread


def matmul_rate(threads: int, seconds: float = 1.0) -> float:
    """Multiply-adds per second of float32 products, `threads` of them in parallel, each on one core.

    Uses square matrices that stay in the cache, and the best of many rounds, since this is a bound.
    """
    side = 512

    def products(thread: int) -> None:
        a, b, c = triples[thread]
        for _ in range(20):
            np.matmul(a, b, out=c)

    rng = np.random.default_rng(0)
    triples = [tuple(rng.standard_normal((3, side, side), dtype=np.float32)) for _ in range(threads)]
    rates = []
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        list(pool.map(products, range(threads)))  # warm-up
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            start = time.perf_counter()
            list(pool.map(products, range(threads)))
            rates.append(threads * 20 * side**3 / (time.perf_counter() - start))
    return max(rates)
