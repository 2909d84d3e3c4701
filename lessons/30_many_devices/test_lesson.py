"""Checks of lesson 30."""

import importlib
import math

import numpy as np
import pytest

from lessons.referee import Fault, assert_same, assert_trust
from tinyvit.support.distributed import parts

RING = importlib.import_module("lessons.30_many_devices.ring")
SUSPECTS = importlib.import_module("lessons.30_many_devices.suspects")

_network = importlib.import_module("lessons.30_many_devices.network")
Network, without_stragglers = _network.Network, _network.without_stragglers
LINE = Network(latency=3.0, bandwidth=16.0)  # seconds, and bytes a second: slow enough to count by hand


def ring(work, size, network=RING.FREE):
    """The ports after work on a ring; a ring that gets stuck is the learner's fault."""
    try:
        return RING.run(work, size, network)
    except RING.Stuck as error:
        raise Fault(f"with {size} ranks, {error}", "the ring", "stuck") from None


def arrays(size, n, dtype="float64", seed=0):
    return list(np.random.default_rng([seed, size, n]).normal(size=(size, n)).astype(dtype))


def gathered(impl, flats, network=RING.FREE):
    """all_gather, where each rank has only its own part and what it should not look at elsewhere."""
    n, size = len(flats[0]), len(flats)
    whole, cuts = sum(flats), parts(len(flats[0]), len(flats))
    own = [np.full(n, np.nan, whole.dtype) for _ in range(size)]
    for rank in range(size):
        own[rank][cuts[rank]] = whole[cuts[rank]]
    ports = ring(lambda port: impl.all_gather(own[port.rank], port), size, network)
    return own, whole, ports


every_ring = pytest.mark.parametrize(
    ("size", "n"), [(2, 6), (3, 9), (5, 20), (2, 7), (4, 11), (7, 3), (3, 0), (1, 4)]
)
STUCK = "every rank sends before it receives, and receives as often as it sends"


# ---- reduce_scatter


@pytest.mark.hint(
    "a part starts at the rank after its owner; at each rank it grows by that rank's own numbers; the last "
    "to add is the owner. Which part does rank r send first, and which in each later turn?",
    stuck=STUCK,
)
@every_ring
def test_each_rank_has_the_sum_of_its_part(impl, size, n):
    flats = arrays(size, n)
    expected, cuts = sum(flats), parts(n, size)
    ring(lambda port: impl.reduce_scatter(flats[port.rank], port), size)
    for rank, (flat, cut) in enumerate(zip(flats, cuts, strict=True)):
        name = f"the sum of part {rank}, of {n} numbers on {size} rank{'s' if size > 1 else ''},"
        if found := taken_for_the_sum(rank, flat, arrays(size, n)):
            raise Fault(f"rank {rank} should have {name} and has {found}", name)
        assert_same(flat[cut], expected[cut], name)


def taken_for_the_sum(rank, flat, given):
    """The sum a rank has instead of its own part's: that of another part, or one that lacks some ranks."""
    size, whole, cuts = len(given), sum(given), parts(len(flat), len(given))
    own = cuts[rank]
    if np.allclose(flat[own], whole[own]):
        return ""
    for p, cut in enumerate(cuts):
        if flat[cut].size and np.allclose(flat[cut], whole[cut]):
            return f"that of part {p}"
    for choice in range(1, 2**size):
        ranks = [r for r in range(size) if choice >> r & 1]
        if np.allclose(flat[own], sum(given[r][own] for r in ranks)):
            return f"only what came from rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"
    return ""


@pytest.mark.hint(
    "flat[part] += x leaves float32 as it is; so do messages that are slices of flat. Or are there too many "
    "messages?"
)
def test_float32_is_sent_as_float32(impl):
    flats = arrays(4, 12, "float32")
    expected, cuts = sum(flats), parts(12, 4)
    ports = ring(lambda port: impl.reduce_scatter(flats[port.rank], port), 4)
    assert_same(flats[2][cuts[2]], expected[cuts[2]], "the part of rank 2", 1e-6)
    assert_bytes(ports, 3 * 12 * 4, "reduce_scatter of 4 times 12 numbers in float32")


@pytest.mark.hint("in each of R - 1 turns, a rank sends one part of R, never the whole of flat")
@pytest.mark.parametrize(("size", "n"), [(4, 20), (5, 13), (3, 4)])
def test_no_rank_sends_more_than_the_parts_of_the_others(impl, size, n):
    flats = arrays(size, n)
    ports = ring(lambda port: impl.reduce_scatter(flats[port.rank], port), size)
    assert_bytes(ports, (size - 1) * 8 * n, f"reduce_scatter of {size} times {n} numbers")
    most, smallest = max(port.bytes for port in ports), 8 * (n // size)
    assert most <= 8 * n - smallest, (
        f"one rank sent {most} bytes of its {8 * n}, expected the parts of the others"
    )


def assert_bytes(ports, expected, what):
    total = sum(port.bytes for port in ports)
    assert total == expected, f"in {what}, the ranks sent {total} bytes together, expected {expected}"


@pytest.mark.hint(
    "all ranks send at the same time. Nobody may wait for a message before having sent one of its own, and "
    "each turn has one message of one part: more messages have more latencies"
)
@pytest.mark.parametrize("size", [2, 3, 6])
def test_reduce_scatter_is_as_fast_as_a_ring_can_be(impl, size):
    flats = arrays(size, 8 * size)
    ports = ring(lambda port: impl.reduce_scatter(flats[port.rank], port), size, LINE)
    assert_time(ports, (size - 1) * (3 + 64 / 16), "reduce_scatter")


def assert_time(ports, expected, what):
    turns = len(ports) - 1
    for port in ports:
        assert port.messages == turns, (
            f"in {what}, rank {port.rank} of {len(ports)} sent {port.messages} messages, expected {turns}"
        )
    seconds = max(port.seconds for port in ports)
    assert_same(float(seconds), float(expected), f"the time of {what} with {len(ports)} ranks")


# ---- all_gather


@pytest.mark.hint(
    "only its own part is right on a rank: that it sends first, and then what it has just received. nan "
    "marks what a rank has not been given yet",
    stuck=STUCK,
)
@every_ring
def test_all_ranks_have_all_parts(impl, size, n):
    own, whole, _ = gathered(impl, arrays(size, n))
    for rank in range(size):
        assert_same(own[rank], whole, f"what rank {rank} has, of {size} ranks and {n} numbers,")


@pytest.mark.hint("what is handed on is what was received, bit for bit: nothing is added up any more")
def test_all_ranks_have_the_same_bits(impl):
    flats = arrays(5, 23, "float32")

    def both(port):
        impl.reduce_scatter(flats[port.rank], port)
        impl.all_gather(flats[port.rank], port)

    ring(both, 5)
    assert_same(flats[0], sum(arrays(5, 23, "float32")), "the sum on rank 0", 1e-6)
    for rank in range(1, 5):
        differing = int((flats[rank] != flats[0]).sum())
        assert not differing, f"rank {rank} differs from rank 0 in {differing} of 23 numbers"


@pytest.mark.hint("R - 1 turns, a part in each; the rank before the owner need not hand its part on")
@pytest.mark.parametrize("size", [2, 3, 6])
def test_all_gather_is_as_fast_as_a_ring_can_be(impl, size):
    _, _, ports = gathered(impl, arrays(size, 8 * size), LINE)
    assert_bytes(ports, (size - 1) * 64 * size, f"all_gather of {size} times {8 * size} numbers")
    assert_time(ports, (size - 1) * (3 + 64 / 16), "all_gather")


# ---- fastest_ranks


def best(images, image_seconds, size, network, most):
    """The right result of fastest_ranks."""
    every = [
        without_stragglers(ranks, size, -(-images // ranks) * image_seconds, network)
        for ranks in range(1, most + 1)
    ]
    return 1 + int(np.argmin(every)), min(every)


def assert_fastest(impl, images, image_seconds, size, network, most):
    found = impl.fastest_ranks(images, image_seconds, size, network, most)
    assert isinstance(found, tuple | list) and len(found) == 2, (
        "fastest_ranks returns two numbers: ranks, seconds"
    )
    ranks, seconds = best(images, image_seconds, size, network, most)
    case = f"of {images} images, {image_seconds:g} s each, {size} bytes, {told(network)}, up to {most} ranks"
    assert found[0] == ranks, f"the fastest number of ranks {case}: expected {ranks}, got {found[0]}"
    assert_same(float(found[1]), float(seconds), f"the time {case}")


@pytest.mark.hint(
    "one rank sends nothing; with R ranks, the slowest has images / R of them, rounded up; then "
    "2 (R - 1) messages, each of size / R bytes"
)
@pytest.mark.parametrize(
    ("images", "image_seconds", "size", "network", "most"),
    [
        (64, 0.5, 1000, Network(0.0, 1000.0), 8),  # bandwidth only: as many as there are
        (64, 0.02, 1000, Network(0.0, 1000.0), 8),  # sending takes longer than computing: one
        (64, 0.02, 1000, Network(0.0, 1700.0), 8),
        (100, 0.3, 1000, Network(0.2, 2000.0), 50),  # latency: somewhere in between
        (37, 0.3, 50, Network(0.05, 2000.0), 64),
        (5, 1.0, 0, Network(0.01, 1.0), 9),  # no more ranks than images
        (1, 1.0, 10, Network(0.1, 1.0), 1),
    ],
)
def test_the_fastest_number_of_ranks(impl, images, image_seconds, size, network, most):
    assert_fastest(impl, images, image_seconds, size, network, most)


@pytest.mark.hint("the smaller of two that are equally fast")
def test_no_rank_is_idle_for_nothing(impl):
    assert_fastest(impl, 12, 1.0, 0, Network(0.0, 1.0), 11)  # 6 images, 4, 3, 3, 2, 2, ...: 6 to 11 have 2
    assert_fastest(impl, 3, 2.0, 6, Network(0.0, 1.0), 3)


# ---- bucket_times


def expected_times(layers, limit, ranks, network):
    """The right result of bucket_times: first the layers are put into buckets, then the times follow."""
    buckets, held = [], []
    for i in reversed(range(len(layers))):
        held.append(i)
        if sum(layers[k][1] for k in held) >= limit or i == 0:
            buckets.append(held)
            held = []
    found, end = [], 0.0
    for bucket in buckets:
        size = sum(layers[k][1] for k in bucket)
        if size:
            ready = sum(seconds for seconds, _ in layers[min(bucket) :])
            begin = max(ready, end)
            end = begin + without_stragglers(ranks, size, 0.0, network)
            found.append((begin, end))
    return np.array(found).reshape(-1, 2)


def assert_times(impl, layers, limit, ranks, network):
    before = list(layers)
    found = impl.bucket_times(layers, limit, ranks, network)
    assert layers == before, "bucket_times changed the list of layers"
    expected = expected_times(layers, limit, ranks, network)
    case = f"of layers {layers}, limit {limit:g}, {ranks} ranks, {told(network)}"
    assert isinstance(found, np.ndarray), f"bucket_times returned a {type(found).__name__}, expected an array"
    assert_same(found if found.size else found.reshape(-1, 2), expected, f"the times {case}")


def told(network):
    return f"latency {network.latency:g} s, {network.bandwidth:g} bytes a second"


HINT = (
    "the backward goes from the last layer to the first; a bucket is handed over after the layer that fills "
    "it, or, if none does, after the first layer of the model; it begins when the bucket before is through"
)


@pytest.mark.hint(HINT)
@pytest.mark.parametrize(
    ("layers", "limit"),
    [
        ([(1.0, 160)], 100),
        ([(5.0, 32), (20.0, 32), (30.0, 32)], 1),  # the network waits for the backward
        ([(1.0, 320), (2.0, 320), (3.0, 640)], 1),  # the backward waits for nobody, the network is busy
        ([(4.0, 32), (7.0, 48), (9.0, 16), (2.0, 80)], 96),
        ([(4.0, 32), (7.0, 48), (9.0, 16), (2.0, 80)], 97),
        ([(4.0, 32), (7.0, 48), (9.0, 16), (2.0, 80)], math.inf),  # no overlap
    ],
)
def test_buckets_by_hand(impl, layers, limit):
    assert_times(impl, layers, limit, 2, LINE)


@pytest.mark.hint(HINT)
def test_buckets_of_random_layers(impl):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        count = int(rng.integers(1, 9))
        layers = [(float(rng.integers(0, 9)), int(rng.integers(1, 90))) for _ in range(count)]
        network = Network(float(rng.integers(0, 3)), float(rng.integers(5, 40)))
        assert_times(impl, layers, int(rng.integers(1, 200)), int(rng.integers(1, 6)), network)


@pytest.mark.hint(
    "a layer without parameters takes time and has no bytes; a bucket without bytes is not sent"
)
def test_layers_without_parameters(impl):
    assert_times(impl, [(3.0, 0), (2.0, 32), (1.0, 0), (4.0, 64)], 32, 3, LINE)
    assert_times(impl, [(3.0, 0), (2.0, 16)], 32, 3, LINE)  # handed over when there are no more layers
    assert_times(impl, [(3.0, 0), (2.0, 0)], 32, 3, LINE)


# ---- trust_step


@pytest.mark.hint(
    "try a batch that the ranks cannot share evenly, one smaller than the number of ranks, a norm above "
    "`largest` and one below; look at the weights of every rank, and at what you handed over",
    right="compare with a tolerance: the order of a sum changes its last digits",
)
def test_trust_step(impl):
    assert_trust(impl.trust_step, SUSPECTS.RIGHT, SUSPECTS.WRONG, "step")


# ---- sharded_step


class Momentum:
    """An optimiser whose state tells which numbers it has seen; it refuses any others."""

    def __init__(self):
        self.m = None
        self.calls = 0

    def __call__(self, w, g):
        self.calls += 1
        for name, array in (("w", w), ("g", g)):
            assert isinstance(array, np.ndarray) and array.ndim == 1, (
                f"update was given a {name} that is not flat"
            )
        assert w.shape == g.shape, f"update was given w {w.shape} and g {g.shape}, expected equal lengths"
        assert w.dtype == g.dtype, f"update was given a {w.dtype} w and a {g.dtype} g, expected both as w"
        if self.m is None:
            self.m = np.zeros_like(w)
        assert self.m.shape == w.shape, (
            f"update was given {w.size} numbers, and {self.m.size} the time before"
        )
        self.m *= 0.7
        self.m += g
        w -= 0.1 * self.m / (0.3 + np.abs(self.m))


def steps(impl, size, n, largest, count=3, dtype="float64", network=RING.FREE):
    """The weights of every rank and the ports of the last step, those of one process, and the optimisers."""
    rng = np.random.default_rng([size, n])
    start = rng.normal(size=n).astype(dtype)
    weights, alone = [start.copy() for _ in range(size)], start.copy()
    optimisers, one = [Momentum() for _ in range(size)], Momentum()
    ports = []
    for _ in range(count):
        grads = list(rng.normal(size=(size, n)).astype(dtype))
        whole = sum(grads)
        norm = float(np.linalg.norm(whole))
        one(alone, whole * (largest / norm) if norm > largest else whole)

        def work(port, grads=grads):
            rank = port.rank
            impl.sharded_step(weights[rank], grads[rank], largest, optimisers[rank], port)

        ports = ring(work, size, network)
    return weights, alone, optimisers, ports


@pytest.mark.puzzle
@pytest.mark.hint(
    "what is shortened is the sum over ranks, and its norm is that of all parts together", stuck=STUCK
)
@pytest.mark.parametrize(("size", "n"), [(1, 5), (2, 8), (3, 10), (4, 3)])
@pytest.mark.parametrize("largest", [0.5, 100.0])
def test_sharded_steps_are_those_of_one_process(impl, size, n, largest):
    weights, alone, _, _ = steps(impl, size, n, largest)
    for rank, w in enumerate(weights):
        assert_same(w, alone, f"the weights of rank {rank} of {size} after three steps")


@pytest.mark.puzzle
@pytest.mark.hint("update gets this rank's part of w and of g, once a step, and nothing else")
def test_each_rank_has_the_state_of_its_part(impl):
    _, _, optimisers, _ = steps(impl, 4, 22, 1.0)
    sizes = [0 if each.m is None else each.m.size for each in optimisers]
    assert [each.calls for each in optimisers] == [3] * 4, (
        "update was not called once in each step on each rank"
    )
    assert sum(sizes) == 22, f"the ranks keep states of {sizes} numbers, {sum(sizes)} together, expected 22"
    assert max(sizes) <= 6, f"one rank keeps the state of {max(sizes)} numbers, expected a quarter of 22"


@pytest.mark.puzzle
@pytest.mark.hint("which half of an all-reduce do the gradients need, and which half the weights?")
def test_a_sharded_step_sends_no_more_than_an_all_reduce(impl):
    _, _, _, ports = steps(impl, 4, 400, 1.0, count=1)
    for port in ports:
        assert port.bytes <= 2 * 3 * 100 * 8 + 200, (
            f"rank {port.rank} sent {port.bytes} bytes, expected {2 * 3 * 100 * 8} and a few numbers more"
        )


@pytest.mark.puzzle
@pytest.mark.hint("a sum of zeros has the norm 0: do not divide by it")
def test_a_sharded_step_without_a_gradient(impl):
    w = [np.arange(4.0) for _ in range(2)]
    ring(lambda port: impl.sharded_step(w[port.rank], np.zeros(4), 1.0, Momentum(), port), 2)
    for rank in range(2):
        assert_same(w[rank], np.arange(4.0), f"the weights of rank {rank} after a step without a gradient")


@pytest.mark.puzzle
@pytest.mark.hint("the norm as a Python float leaves float32 as it is")
def test_a_sharded_step_in_float32(impl):
    weights, alone, _, _ = steps(impl, 3, 10, 0.5, dtype="float32")
    assert_same(weights[1], alone, "the weights of rank 1", 1e-5)
