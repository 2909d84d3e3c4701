"""What each rank updates and keeps when the state is shared out; whole runs are in tests/training."""

import numpy as np
import pytest

from tinyvit.distributed import Ranks
from tinyvit.model import Params, specs_from_shapes
from tinyvit.optim import AdamW
from tinyvit.optim.sharded import Sharded

ROWS = specs_from_shapes(
    {"a.weight": (2, 5), "b.weight": (3, 4), "a.bias": (5,), "b.bias": (4,)}
)  # 31 numbers


class Rank(Ranks):
    """One of several ranks. What the others write is never gathered."""

    def __init__(self, rank, size):
        self.rank, self.size = rank, size


@pytest.mark.parametrize("size", [2, 3, 7, 40])
def test_the_parts_of_all_ranks_decay_what_the_whole_decays(size):
    params, decays = Params.zeros(ROWS, "float64"), []
    params.flat[...] = np.arange(params.count)
    for rank in range(size):
        piece = Sharded(AdamW, params, Rank(rank, size)).select_grads(params)
        assert 0 <= piece.decayed <= piece.count
        decays += [(number, place < piece.decayed) for place, number in enumerate(piece.flat)]
    assert decays == [(place, place < params.decayed) for place in range(params.count)]


@pytest.mark.parametrize("rank", range(3))
def test_a_rank_takes_the_same_step_for_its_part_as_one_process_does(rank):
    rng = np.random.default_rng(1)
    params, grads = (Params(rng.standard_normal(31), ROWS) for _ in range(2))
    whole = Params(params.flat.copy(), ROWS)
    sharded = Sharded(lambda own: AdamW(own, weight_decay=0.1), params, Rank(rank, 3))
    sharded.step(grads, 0.01, 1)
    AdamW(whole, weight_decay=0.1).step(grads, 0.01, 1)
    np.testing.assert_array_equal(params.flat[sharded.own], whole.flat[sharded.own])


def test_the_summary_says_what_is_kept_and_what_one_process_would_keep():
    params = Params.zeros(specs_from_shapes({"a.weight": (1500, 1000), "a.bias": (3,)}), "float32")
    assert Sharded(AdamW, params, Rank(1, 3)).summary() == (
        "the optimiser's state is shared out: 4.0 MB in this process instead of 12.0 MB"
    )


def test_an_array_that_is_not_one_of_the_parameters_stays_whole():
    sharded = Sharded(AdamW, Params.zeros(ROWS, "float64"), Rank(1, 2))
    own = sharded.own_state({"m": np.arange(31), "other": np.arange(4)})
    assert [own["m"].tolist(), own["other"].tolist()] == [list(range(16, 31)), [0, 1, 2, 3]]
