"""Single operations in several ways, timed on one thread: what measure.py writes down for the roofline."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from tinyvit.bench.measure import matmul_rate
from tinyvit.engine.blas import one_blas_thread
from tinyvit.ops.layer_norm import row_means


def measure_operations(seconds: float) -> dict:
    """Single operations at the sizes of Ti/4, on one thread: for the picture of the roofline.

    `points` are (name, multiply-adds a byte, 1e9 multiply-adds a second): an addition counts as one of them.
    `ways` are several ways of doing the same, in milliseconds.
    """
    rng = np.random.default_rng(0)
    draw = lambda *shape: rng.standard_normal(shape, dtype=np.float32)
    N, D, M, H, K, few, many = 65, 192, 768, 3, 64, 8, 128
    timed = lambda run: median_time(run, seconds)
    with one_blas_thread():
        points = []
        for numbers, where in ((20_000_000, "memory"), (60_000, "cache")):
            arrays = draw(3, numbers)
            per_call = timed(lambda arrays=arrays: np.add(arrays[0], arrays[1], out=arrays[2]))
            points.append([f"x + y, in {where}", 1 / 12, numbers / per_call])
        tokens, weight = draw(few * N, D), draw(D, M)
        column, means = np.full((D, 1), 1 / D, np.float32), np.empty((few * N, 1), np.float32)
        points.append(point("row means", few * N, D, 1, timed(lambda: np.matmul(tokens, column, out=means))))
        q, k, S = draw(few * H, N, K), draw(few * H, K, N), draw(few * H, N, N)
        per_product = timed(lambda: np.matmul(q, k, out=S)) / (few * H)
        points.append(point("queries times keys", N, K, N, per_product))
        h = np.empty((few * N, M), np.float32)
        points.append(
            point("first layer of the MLP", few * N, D, M, timed(lambda: np.matmul(tokens, weight, out=h)))
        )

        wide, narrow = draw(many * N, M), draw(many * N, D)
        stacks = narrow.reshape(many, N, D), wide.reshape(many, N, M)
        wide_few = wide[: few * N]
        ways = {
            f"GELU, {many} images": (
                ("as in the formula", lambda: formula_gelu(wide)),
                ("in place, with exp", lambda: gelu_with_exp(wide)),
                ("in place, with tanh", lambda: gelu_with_tanh(wide)),
            ),
            f"GELU, {few} images": (
                ("as in the formula", lambda: formula_gelu(wide_few)),
                ("in place, with exp", lambda: gelu_with_exp(wide_few)),
                ("in place, with tanh", lambda: gelu_with_tanh(wide_few)),
            ),
            "row means": (
                ("x.mean", lambda: narrow.mean(axis=-1, keepdims=True)),
                ("product with a column", lambda: row_means(narrow)),
            ),
            "gradient of a weight": (
                ("a product for each image", lambda: (stacks[0].transpose(0, 2, 1) @ stacks[1]).sum(axis=0)),
                ("one product", lambda: narrow.T @ wide),
            ),
        }
        return {
            "points": [[name, round(x, 4), round(rate / 1e9, 3)] for name, x, rate in points],
            "peak": round(matmul_rate(1, seconds) / 1e9, 2),
            "ways": {
                name: [[label, round(1e3 * timed(run), 3)] for label, run in group]
                for name, group in ways.items()
            },
        }


def point(name: str, R: int, I: int, O: int, seconds: float) -> list:
    """A product (R, I) times (I, O) on the roofline (equation 2)."""
    return [name, 1 / (4 * (1 / R + 1 / I + 1 / O)), R * I * O / seconds]


def formula_gelu(x: np.ndarray) -> np.ndarray:
    """Equation gelu 2 of lesson 4, as it stands."""
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def gelu_with_exp(x: np.ndarray) -> np.ndarray:
    """Equation 3."""
    y = x * x
    y *= -2 * 0.7978845608 * 0.044715
    y -= 2 * 0.7978845608
    y *= x
    np.exp(y, out=y)
    y += 1
    return np.divide(x, y, out=y)


def gelu_with_tanh(x: np.ndarray) -> np.ndarray:
    """Equation gelu 2 in place: y = x (1 + tanh u) / 2."""
    y = x * x
    y *= 0.7978845608 * 0.044715
    y += 0.7978845608
    y *= x
    np.tanh(y, out=y)
    y += 1
    y *= x
    y *= 0.5
    return y


def median_time(run: Callable[[], object], seconds: float) -> float:
    """Median time of a call, of as many as go into `seconds`, and at least five."""
    run()
    times = []
    while len(times) < 5 or sum(times) < seconds:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return float(np.median(times))
