"""Threads to share work among, as many as the system grants."""

import contextlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class Pool(ThreadPoolExecutor):
    """A pool that, where no more threads can be started, does with those it has, or with the calling one."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future:
        """As ThreadPoolExecutor.submit; without a single thread, the work is done before it returns."""
        future = super().submit(work, *args, **kwargs)
        if self._threads or not future.cancel():
            return future
        done: Future = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except Exception as error:
            done.set_exception(error)
        return done

    def _adjust_thread_count(self) -> None:
        with contextlib.suppress(RuntimeError, MemoryError):  # a limit on processes or on memory
            super()._adjust_thread_count()
