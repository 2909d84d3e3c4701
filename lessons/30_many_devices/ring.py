"""Ranks on threads, around a ring: each sends to the next one and receives from the one before.

The threads are real, but their clocks are simulated: a message takes the time that it would take on a
network. So a ring of 64 ranks can be timed on a laptop, with the same result every time. Ranks that wait for
each other for ever are found at once.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module

import numpy as np

Network = import_module("lessons.30_many_devices.network").Network


FREE = Network(latency=0.0, bandwidth=float("inf"))


class Stuck(Exception):  # noqa: N818 - it says what is the matter
    """A rank waits for a message that nobody will send, or has left one unread."""


class Port:
    """The ring as one rank sees it: its number, the way to the next rank, and the way from the one before.

    rank is its number, size the number of ranks. seconds is its clock. messages and bytes count what it sent.
    """

    def __init__(self, ring: _Ring, rank: int):
        self._ring, self._free_at = ring, 0.0
        self.rank, self.size = rank, ring.size
        self.seconds, self.messages, self.bytes = 0.0, 0, 0

    def send(self, numbers: np.ndarray) -> None:
        """Send a copy of an array to the next rank; does not wait until it has arrived."""
        message = np.array(numbers)
        network = self._ring.network
        self._free_at = max(self.seconds, self._free_at) + message.nbytes / network.bandwidth
        self.messages, self.bytes = self.messages + 1, self.bytes + message.nbytes
        self._ring.put((self.rank + 1) % self.size, message, self._free_at + network.latency)

    def receive(self) -> np.ndarray:
        """The oldest array from the rank before that has not been received yet; waits until there is one."""
        message, arrival = self._ring.get(self.rank)
        self.seconds = max(self.seconds, arrival)
        return message


class _Ring:
    """The queues between the ranks, and who is waiting at which."""

    def __init__(self, size: int, network: Network):
        self.size, self.network = size, network
        self.queues: list[deque[tuple[np.ndarray, float]]] = [deque() for _ in range(size)]
        self._changed = threading.Condition()
        self._waiting: set[int] = set()
        self._running = size

    def put(self, rank: int, message: np.ndarray, arrival: float) -> None:
        with self._changed:
            self.queues[rank].append((message, arrival))
            self._changed.notify_all()

    def get(self, rank: int) -> tuple[np.ndarray, float]:
        with self._changed:
            self._waiting.add(rank)
            try:
                while not self.queues[rank]:
                    if self._nobody_can_send():
                        raise Stuck(f"rank {rank} waits for a message, and no rank is left to send one")
                    self._changed.wait()
            finally:
                self._waiting.remove(rank)
            return self.queues[rank].popleft()

    def _nobody_can_send(self) -> bool:
        """True if every rank that has not finished waits at an empty queue."""
        return len(self._waiting) == self._running and not any(self.queues[r] for r in self._waiting)

    def finished(self) -> None:
        with self._changed:
            self._running -= 1
            self._changed.notify_all()


def run(work: Callable[[Port], object], size: int, network: Network = FREE) -> list[Port]:
    """Call work(port) on `size` threads, one for each rank, and return their ports when all have finished.

    An error of any rank is raised here. Raises Stuck if ranks wait for each other, or do not receive
    everything that was sent to them.
    """
    ring = _Ring(size, network)
    ports = [Port(ring, rank) for rank in range(size)]

    def rank_of(port: Port) -> None:
        try:
            work(port)
        finally:
            ring.finished()

    with ThreadPoolExecutor(size) as pool:
        futures: list[Future] = [pool.submit(rank_of, port) for port in ports]
    errors = [error for future in futures if (error := future.exception())]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, Stuck))
    for rank, queue in enumerate(ring.queues):
        if queue:
            raise Stuck(f"rank {rank} was sent more messages than it received")
    return ports
