"""The ring of lesson 30: what its ranks are told when something goes wrong, and what its clocks say."""

import importlib

import numpy as np
import pytest

ring = importlib.import_module("lessons.30_many_devices.ring")
solution = importlib.import_module("lessons.30_many_devices.solution")


def test_ranks_that_wait_for_each_other_are_stopped():
    with pytest.raises(ring.Stuck, match="rank 0 waits for a message, and no rank is left to send one"):
        ring.run(lambda port: port.receive(), 4)


def test_a_rank_that_waits_for_one_that_has_finished_is_stopped():
    def work(port):
        port.send(np.ones(2))
        for _ in range(1 + (port.rank == 2)):
            port.receive()

    with pytest.raises(ring.Stuck, match="rank 2 waits"):
        ring.run(work, 3)


def test_a_message_that_nobody_receives_is_told():
    def work(port):
        if port.rank == 1:
            port.send(np.ones(2))

    with pytest.raises(ring.Stuck, match="rank 2 was sent more messages than it received"):
        ring.run(work, 3)


def test_the_error_of_one_rank_comes_before_those_of_the_ranks_that_waited_for_it():
    def work(port):
        if port.rank == 1:
            raise KeyError("of rank 1")
        port.receive()

    with pytest.raises(KeyError, match="of rank 1"):
        ring.run(work, 3)


def test_what_was_sent_does_not_change_with_the_sender_s_array():
    found = {}

    def work(port):
        numbers = np.full(3, float(port.rank))
        port.send(numbers)
        numbers += 100
        found[port.rank] = port.receive()

    ring.run(work, 2)
    assert found[0].tolist() == [1.0] * 3 and found[1].tolist() == [0.0] * 3


def test_clocks_two_messages_share_a_cable_and_a_late_rank_delays_the_next():
    def work(port):
        if port.rank == 0:
            port.seconds = 10.0
            port.send(np.zeros(2))  # 16 bytes: 4 seconds on the cable, and 3 until they arrive
            port.send(np.zeros(1))  # 2 more on the cable
        else:
            port.receive()
            clocks.append(port.seconds)
            port.receive()

    clocks = []
    ports = ring.run(work, 2, ring.Network(latency=3.0, bandwidth=4.0))
    assert clocks == [17.0] and [port.seconds for port in ports] == [10.0, 19.0]
    assert (ports[0].messages, ports[0].bytes) == (2, 24)


def test_many_ranks_that_get_stuck_at_different_times_all_end():
    def work(port):
        for _ in range(port.rank % 3):
            port.send(np.zeros(1))
        port.receive()
        port.receive()

    for size in range(1, 9):
        with pytest.raises(ring.Stuck):
            ring.run(work, size)


def test_an_all_reduce_of_many_ranks_takes_what_its_equation_says():
    flats = np.arange(24 * 48, dtype="float64").reshape(24, 48)
    expected = flats.sum(axis=0)

    def work(port):
        solution.reduce_scatter(flats[port.rank], port)
        solution.all_gather(flats[port.rank], port)

    ports = ring.run(work, 24, ring.Network(latency=2.0, bandwidth=8.0))
    assert (flats == expected).all()
    assert {port.seconds for port in ports} == {2 * 23 * (2.0 + 2.0)}
