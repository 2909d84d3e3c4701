"""The results of likely slips, as one formula over the whole row, so that a check can name the slip.

None of this works tile by tile: the scores are all there, and a slip is a different weight for each of them.
The right results come with the slips, without words: on some inputs a slip changes nothing, and is no slip.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from lessons.referee import Fault

CLOSE = 1e-5  # a slip is off by far more than float32 is


def whole(q, k, v):
    """o and log_sums from all scores at once, in the dtype of q."""
    S = q @ k.T * (1 / math.sqrt(q.shape[1]))
    largest = S.max(axis=1, keepdims=True)
    shares = np.exp(S - largest)
    total = shares.sum(axis=1, keepdims=True)
    return shares / total @ v, (largest + np.log(total))[:, 0]


class Rows:
    """The scores of q and k, and what is known of each row at the end, and at each of its tiles."""

    def __init__(self, q, k, tile: int):
        self.N, self.tile = len(k), tile
        self.S = q @ k.T / np.sqrt(q.shape[1])
        self.parts = [slice(start, start + tile) for start in range(0, self.N, tile)]
        own = [self.S[:, part].max(axis=1, keepdims=True) for part in self.parts]
        self.largest = self.S.max(axis=1, keepdims=True)
        self.own = self._spread(own)
        self.so_far = self._spread(list(np.maximum.accumulate(own)))
        self.shares = np.exp(self.S - self.largest)
        self.total = self.shares.sum(axis=1, keepdims=True)

    def _spread(self, columns: list) -> np.ndarray:
        """One column for each tile, as wide as the tile."""
        widths = [len(self.S[0, part]) for part in self.parts]
        return np.repeat(np.hstack(columns), widths, axis=1)

    def tile_sums(self, numbers) -> np.ndarray:
        """The sum of each row's numbers over its tile, as wide as the numbers."""
        return self._spread([numbers[:, part].sum(axis=1, keepdims=True) for part in self.parts])

    def only(self, part: slice) -> np.ndarray:
        """1 for the keys of a tile, 0 for the others."""
        chosen = np.zeros(self.N)
        chosen[part] = 1
        return chosen


def forward_slips(q, k, v, tile: int) -> Iterator[tuple[str, str, np.ndarray]]:
    """The result's name, the slip in words, and what comes out."""
    with np.errstate(all="ignore"):
        r = Rows(q, k, tile)
        stale = np.exp(r.S - r.so_far)  # relative to the largest at that time
        stale_total = stale.sum(axis=1, keepdims=True)
        local = np.exp(r.S - r.own)
        local /= r.tile_sums(local)
        missing = -r.N % tile
        spare = missing * np.exp(-r.largest)  # as much as that many scores of 0 add
        complete = r.shares * r.only(slice(0, r.N // tile * tile))
        complete_total = complete.sum(axis=1, keepdims=True)
        mix_stale = "the outputs so far are not made smaller when a larger score comes"
        sum_stale = "the sum so far is not made smaller when a larger score comes"
        weights = {
            mix_stale: stale / r.total,
            sum_stale: r.shares / stale_total,
            "neither the sum nor the outputs so far are made smaller when a larger score comes": (
                stale / stale_total
            ),
            "each tile has a softmax of its own, and the outputs are added": local,
            "each tile has a softmax of its own, and the mean of the outputs is taken": local / len(r.parts),
            "only the last tile counts": local * r.only(r.parts[-1]),
            "only the first tile counts": local * r.only(r.parts[0]),
            "the outputs are not divided by the sum": r.shares,
            "the last tile, which is smaller, is left out": complete / complete_total,
            f"{missing} keys that do not exist count with a score of 0": r.shares / (r.total + spare),
            "the scores are not divided by the root of K": _softmax(r.S * np.sqrt(q.shape[1])),
            "the scores are divided by K instead of its root": _softmax(r.S / np.sqrt(q.shape[1])),
        }
        right = whole(q, k, v)
        yield "o", "", right[0]
        yield "log_sums", "", right[1]
        for words, A in weights.items():
            yield "o", words, A @ v
        sums = {
            "the largest score is not added to the log of the sum": np.log(r.total),
            "it is the sum itself, without its log": r.total,
            "it is the largest score alone": r.largest,
            "it is the largest score plus the sum, without its log": r.largest + r.total,
            sum_stale: r.largest + np.log(stale_total),
            f"{missing} keys that do not exist count with a score of 0": r.largest + np.log(r.total + spare),
            "the last tile, which is smaller, is left out": r.largest + np.log(complete_total),
        }
        for words, wrong in sums.items():
            yield "log_sums", words, wrong[:, 0]


def backward_slips(dO, q, k, v, tile: int) -> Iterator[tuple[str, str, np.ndarray]]:
    """The gradient's name, the slip in words, and what comes out."""
    r, scale = Rows(q, k, tile), 1 / np.sqrt(q.shape[1])
    A, dA = r.shares / r.total, dO @ v.T
    D = (A * dA).sum(axis=1, keepdims=True)
    local = np.exp(r.S - r.own)
    local /= r.tile_sums(local)
    last = r.only(r.parts[-1])
    without = "D is left out: the row sum of dA * A is not subtracted"
    of_tile = "D is the row sum of dA * A over this tile alone"
    softmax_of_tile = "each tile of A is divided by its own sum, and not by that of the whole row"
    scores = {
        without: A * dA,
        of_tile: A * (dA - r.tile_sums(A * dA)),
        softmax_of_tile: local * (dA - D),
        "A is missing: dS is A * (dA - D)": dA - D,
        "D is a mean over the K numbers, and not their sum": A * (dA - D / q.shape[1]),
        "D is divided by K and by the root of K": A * (dA - D * scale),
    }
    if len(r.parts) > 1:
        scores[f"{softmax_of_tile}, and D is left out"] = local * dA
    right = A * (dA - D)
    yield "dq", "", right @ k * scale
    yield "dk", "", right.T @ q * scale
    yield "dv", "", A.T @ dO
    yield "dq", "every tile of keys writes over dq, and does not add to it", (right * last) @ k * scale
    yield "dk", "every tile of queries writes over dk, and does not add to it", (right.T * last) @ q * scale
    yield "dv", "every tile of queries writes over dv, and does not add to it", (A.T * last) @ dO
    yield "dv", softmax_of_tile, local.T @ dO
    yield "dv", "the log_sums are not subtracted from the scores", np.exp(r.S).T @ dO
    yield "dv", "the largest is subtracted, but A is not divided by the sum", r.shares.T @ dO
    for words, dS in scores.items():
        yield "dq", words, dS @ k * scale
        yield "dk", words, dS.T @ q * scale


def merging_slips(parts) -> Iterator[tuple[str, str, np.ndarray]]:
    """The result's name, the slip in words, and what comes out."""
    outputs, sums = (np.array(each) for each in zip(*parts, strict=True))
    total = np.logaddexp.reduce(sums)
    yield "o", "", (np.exp(sums - total)[..., None] * outputs).sum(axis=0)
    yield "log_sums", "", total
    yield "o", "the mean of the parts is taken, whatever their sums are", outputs.mean(axis=0)
    yield "o", "the parts are added, whatever their sums are", outputs.sum(axis=0)
    by_log = (sums / sums.sum(axis=0))[..., None] * outputs
    yield "o", "a part counts as much as the log of its sum, and not as the sum", by_log.sum(axis=0)
    yield "log_sums", "they are added, as sums are and their logs are not", sums.sum(axis=0)
    yield "log_sums", "they are the largest of the parts'", sums.max(axis=0)


def naming(check: Callable[[], None], slips: Callable[[], Iterator[tuple[str, str, np.ndarray]]]) -> None:
    """Run a check; if it finds wrong values that come out of one of the slips, say which, first of all."""
    try:
        check()
    except Fault as fault:
        got = fault.got.get(fault.name)
        if fault.kind != "values" or got is None:
            raise
        found = {words for name, words, wrong in slips() if name == fault.name and _same(got, wrong)}
        if len(found) != 1 or "" in found:
            raise
        said, *rest = str(fault).split("\n")
        detail = rest or [f"    {said}"]
        verb = "are" if fault.name.endswith("s") else "is"
        first = f"{fault.name} {verb} what comes out if {found.pop()}"
        raise Fault("\n".join([first, *detail]), fault.name, fault.kind, fault.got, fault.wrong) from None


def _softmax(S) -> np.ndarray:
    shares = np.exp(S - S.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def _same(got, wrong) -> bool:
    with np.errstate(all="ignore"):
        got, wrong = np.asarray(got, float), np.asarray(wrong, float)
        return bool(np.linalg.norm(got - wrong) <= CLOSE * np.linalg.norm(wrong))
