"""The sum of gradients over ranks: in pieces, in one order on all ranks, begun during the backward pass."""

import threading
import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.distributed.fake_mpi import together
from tests.helpers import distance, small_models, tiny_config
from tinyvit.checking import random_params
from tinyvit.data import plan_batch
from tinyvit.distributed import ALONE, Ranks
from tinyvit.engine import CpuEngine, ReferenceEngine, Training, exchange
from tinyvit.engine.cpu.blocks import Blocks
from tinyvit.model import initialise, preset
from tinyvit.model.layout import layout
from tinyvit.model.params import Params
from tinyvit.objectives import loss_and_grads, masked_patches
from tinyvit.optim import make_optimizer
from tinyvit.optim.sharded import Sharded

NOISY = {"drop_path": 0.3, "layers": 3}


@pytest.fixture
def small_pieces(monkeypatch):
    """So that each block of a small model is a piece."""
    monkeypatch.setattr(exchange, "_PIECE", 1)


class Twins(Ranks):
    """The first of two ranks whose images are the same; it notes where each sum begins, and its length."""

    size = 2

    def __init__(self, note=lambda flat: None):
        self.calls, self.note = [], note

    def all_reduce(self, flat):
        whole = flat if flat.base is None else flat.base
        self.calls.append(((flat.ctypes.data - whole.ctypes.data) // flat.itemsize, flat.size))
        self.note(flat)
        flat *= 2

    def reduce_scatter(self, flat):
        self.calls.append("reduce-scatter")
        flat *= 2

    def sum(self, number):
        return number + number


def make(
    config,
    ranks,
    threads=2,
    objective=loss_and_grads,
    accumulate=1,
    sharded=False,
    engine=CpuEngine,
    dtype="float32",
):
    """An engine with random parameters and a training set of 20 images."""
    rng = np.random.default_rng(1)
    params = random_params(config, rng, dtype)
    images = rng.integers(0, 256, (20, 8, 8, 3), dtype=np.uint8)
    optimizer = make_optimizer("adamw", params, weight_decay=0.1)
    if sharded:
        optimizer = Sharded(partial(make_optimizer, "adamw", weight_decay=0.1), params, ranks)
    labels = rng.integers(0, config.classes, 20)
    training = Training(images, labels, optimizer, 1.0, accumulate, ranks=ranks)
    more = {"threads": threads, "micro_batch": 2} if engine is CpuEngine else {}
    return engine(config, params, objective, training, **more)


def two_steps(engine, size=20):
    """Losses, norms and parameters after two steps."""
    found = []
    for step in (1, 2):
        plan = plan_batch(3, step, np.random.default_rng(step).permutation(20)[:size], padding=2, flip=True)
        found += [float(number) for number in engine.step(plan, 0.01)]
    return np.array(found), engine.params.flat.copy()


def all_at_the_end(monkeypatch):
    monkeypatch.setattr(exchange, "_pieces", lambda grads: [(-1, slice(None))])


@given(config=small_models(), piece=st.integers(1, 3000))
def test_every_gradient_is_in_one_piece_and_no_piece_is_complete_before_its_gradients(config, piece):
    final = Params.zeros(layout(config))  # filled with the block that a gradient is of; -1 outside of blocks
    for name in final:
        final[name][...] = int(name.split(".")[1]) if name.startswith("blocks.") else -1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "_PIECE", piece)
        pieces = exchange._pieces(final)
    times = np.zeros(final.count)
    for block, where in pieces:
        assert (final.flat[where] >= block).all()
        assert block == -1 or final.flat[where].size >= piece
        times[where] += 1
    assert (times == 1).all()
    assert [block for block, _ in pieces] == sorted((block for block, _ in pieces), reverse=True)


@pytest.mark.parametrize("name, early", [("nano/4", False), ("ti/4", True)])
def test_only_blocks_that_repay_an_exchange_of_their_own_are_summed_early(name, early):
    config = preset(name, 32, 10)
    params = initialise(config)
    training = Training(None, None, make_optimizer("sgd", params), ranks=Twins())
    assert exchange.Exchange(params, training).begins_early is early
    assert not exchange.Exchange(params, replace(training, ranks=ALONE)).begins_early


@pytest.mark.parametrize("predicts", ["image", "patches"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("accumulate", [1, 2])
def test_the_bits_are_those_of_a_sum_at_the_end(small_pieces, monkeypatch, predicts, threads, accumulate):
    config, objective = tiny_config(**NOISY), loss_and_grads
    if predicts == "patches":
        config = tiny_config(**NOISY, predicts="patches", classes=512)
        objective = masked_patches.loss_and_grads
    early, late = (make(config, Twins(), threads, objective, accumulate) for _ in range(2))
    found, weights = two_steps(early)
    all_at_the_end(monkeypatch)
    expected, right = two_steps(late)
    assert late.ranks.calls == [(0, late.grads.count)] * 2 and len(early.ranks.calls) == 2 * 5
    assert np.array_equal(found, expected) and np.array_equal(weights, right)
    assert not np.array_equal(weights, make(config, Twins(), objective=objective).params.flat)


@pytest.mark.parametrize(
    "size, accumulate, folded_from",
    [(2, 1, 0), (2, 2, 0), (3, 1, 0), (3, 2, 0), (3, 1, 7 * 5), (3, 1, 10**6)],
)
def test_the_steps_of_several_ranks_are_those_of_one(
    small_pieces, monkeypatch, size, accumulate, folded_from
):
    """Of 20 images on three ranks one has 6 and two have 7, of 5 tokens each: it may be the one that does not
    fold. The stand-in for MPI checks that all make the same calls."""
    config = tiny_config(**NOISY)
    monkeypatch.setattr(CpuEngine, "least_tokens_to_fold", folded_from)

    def work(ranks):
        return two_steps(make(config, ranks, accumulate=accumulate, dtype="float64"))

    expected, right = two_steps(make(config, ALONE, engine=ReferenceEngine, dtype="float64"))
    for found, weights in together(size, work):
        np.testing.assert_allclose(found, expected, rtol=1e-10)
        assert distance(weights, right) < 1e-9


def test_the_last_block_is_summed_while_the_first_is_still_computed(small_pieces, monkeypatch):
    """The backward pass of the first block waits until the sum of the last has begun."""
    config, begun, real = tiny_config(**NOISY), threading.Event(), Blocks._block_backward

    def waiting(self, i, *args):
        assert i or begun.wait(60), "nothing was summed before the backward pass reached the first block"
        return real(self, i, *args)

    monkeypatch.setattr(Blocks, "_block_backward", waiting)
    engine = make(config, Twins(lambda flat: begun.set()))
    two_steps(engine, size=4)  # one image for each worker, or the first piece of each would wait in vain
    starts = [start for start, _ in engine.ranks.calls[:4]]
    assert starts == sorted(starts, reverse=True)


def test_with_parts_nothing_is_summed_before_the_last(small_pieces, monkeypatch):
    events, real = [], Blocks._block_backward

    def noting(self, i, *args):
        events.append(i)
        return real(self, i, *args)

    monkeypatch.setattr(Blocks, "_block_backward", noting)
    engine = make(tiny_config(**NOISY), Twins(lambda flat: events.append("sum")), threads=1, accumulate=2)
    two_steps(engine)
    before = events[: events.index("sum")]
    assert before.count(2) == events.count(2) / 2 == 4  # of both parts in pieces, the last block is done
    assert events.count("sum") == 2 * 5


def test_the_order_does_not_depend_on_which_worker_is_late(small_pieces, monkeypatch):
    config, real, rng = tiny_config(**NOISY), Blocks._block_backward, np.random.default_rng(0)
    engines = [make(config, Twins(), threads=3) for _ in range(2)]
    results = [two_steps(engines[0])]

    def late(self, i, *args):
        time.sleep(rng.uniform(0, 0.01))
        return real(self, i, *args)

    monkeypatch.setattr(Blocks, "_block_backward", late)
    results.append(two_steps(engines[1]))
    assert engines[0].ranks.calls == engines[1].ranks.calls
    assert all(np.array_equal(*pair) for pair in zip(*results, strict=True))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_worker_that_fails_in_the_first_block_is_heard_of(small_pieces, monkeypatch, threads):
    real, lock, fails = Blocks._block_backward, threading.Lock(), [True]

    def failing(self, i, *args):
        with lock:
            if i == 0 and fails and fails.pop():
                raise MemoryError("no room")
        return real(self, i, *args)

    monkeypatch.setattr(Blocks, "_block_backward", failing)
    engine = make(tiny_config(**NOISY), Twins(), threads)
    with pytest.raises(MemoryError, match="no room"):
        two_steps(engine)
    assert len(engine.ranks.calls) <= 2  # not of the block that has failed


def test_a_sharded_optimiser_gets_its_part_at_the_end(small_pieces):
    engine = make(tiny_config(**NOISY), Twins(), sharded=True)
    two_steps(engine)
    assert engine.ranks.calls == ["reduce-scatter"] * 2
