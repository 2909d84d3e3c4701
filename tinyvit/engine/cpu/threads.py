"""Threads that share the pieces of a job, and are waited for."""

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from typing import Any

from tinyvit.backend import Pool
from tinyvit.engine.blas import blas_threads, one_blas_thread
from tinyvit.optim.spread import one_after_another


class Threads:
    """A number of threads that begin when they are first needed, and end when nobody refers to this any more.

    An optimiser that keeps `do` therefore keeps these threads, but not the engine that they belong to. Where
    the system refuses so many, there are fewer, or the calling thread does all the work.
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
