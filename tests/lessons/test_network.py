"""Steps of many ranks, simulated: what can be known by counting, and what the command makes of it."""

import importlib

import numpy as np
import pytest

from tests.support.distributed.fake_mpi import together
from tests.tiny_runs import enter
from tinyvit.bench.timing import Case

network = importlib.import_module("lessons.30_many_devices.network")
speed = importlib.import_module("lessons.30_many_devices.speed")
Network, sent_bytes, simulate = network.Network, network.sent_bytes, network.simulate
without_stragglers = network.without_stragglers

MB = 1_000_000
CASE = Case("nano/8", 16, 4, "train", 1)
SMALL = ("--model", "nano/8", "--image-size", "16", "--batch-size", "4", "--steps", "1")


def test_two_ranks_exchange_half_of_the_gradient_twice():
    network = Network(1e-3, 1e9)
    assert sent_bytes(2, MB) == MB
    assert without_stragglers(2, MB, 0.1, network) == pytest.approx(0.1 + 2 * (1e-3 + 0.5e-3))


@pytest.mark.parametrize("ranks", [1, 2, 3, 16, 100])
def test_ranks_that_are_equally_fast_take_the_time_of_the_formula(ranks):
    network = Network(50e-6, 2e9)
    expected = without_stragglers(ranks, MB, 0.02, network)
    assert simulate(ranks, MB, 0.02, network, steps=3) == pytest.approx(expected)


def test_the_bytes_of_a_rank_hardly_grow_but_the_latencies_do():
    assert sent_bytes(1024, MB) < 2 * MB
    slow, fast = (without_stragglers(1024, MB, 0, Network(latency, 1e9)) for latency in (1e-3, 0))
    assert slow - fast == pytest.approx(2 * 1023 * 1e-3)


def test_a_ring_is_as_fast_as_its_slowest_rank():
    """Without any cost of messages, a step takes the longest of R computations, which grows with R."""
    rng = np.random.default_rng(0)
    sigma = np.sqrt(np.log1p(0.1**2))
    for ranks in (4, 64):
        longest = rng.lognormal(-(sigma**2) / 2, sigma, (20_000, ranks)).max(axis=1).mean()
        found = simulate(ranks, MB, 1.0, Network(0, 1e30, 0.1), steps=150)
        assert found == pytest.approx(longest, rel=0.02)
    assert simulate(1, MB, 1.0, Network(0, 1e30, 0.1), steps=1000) == pytest.approx(1, rel=0.02)


def test_under_mpiexec_it_measures(monkeypatch):
    results = together(2, lambda ranks: speed.measure(CASE, ranks, 2))
    for result in results:
        (row,) = result["ranks"]
        assert row["measured_ms"] > 0 and row["ranks"] == 2 and row["batch"] == 8
        assert Network(**result["network"]).bandwidth > 0
    assert "measured ms/step" in speed.table(results[0])


def test_the_network_is_found_from_two_sums():
    network = Network(20e-6, 3e9)
    short, long = (without_stragglers(4, size, 0, network) for size in (0, MB))
    found = speed._fitted(4, MB, short, long, 0.07)
    assert (found.latency, found.bandwidth, found.spread) == pytest.approx((20e-6, 3e9, 0.07))


def test_the_command_prints_a_line_for_each_number_of_ranks(capsys, monkeypatch):
    words = ("--latency", "10", "--bandwidth", "2", "--spread", "0")
    status, out, err = enter(speed, capsys, monkeypatch, *SMALL, "--ranks", "2", "8", *words)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[-2:]] == ["2", "8"] and "latency 10.0 us" in lines[1]
