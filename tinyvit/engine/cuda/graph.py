"""Carrying out the same list of calls again and again: launch by launch, or as one CUDA graph.

A launch costs the host some microseconds, more than a small kernel takes. A graph is the whole list, captured
once, which a single call starts. It remembers all addresses and numbers: what changes from step to step has
to be in device memory.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any

GRAPHS_OFF = "TINYVIT_CUDA_GRAPHS"  # set to 0, this variable switches graphs off


def graphs_wanted() -> bool:
    """Whether steps are to be captured; they are, unless the environment says otherwise."""
    return os.environ.get(GRAPHS_OFF, "1") != "0"


class Graphs:
    """Whether work is captured, for all replays together: if one capture fails, no other is tried.

    tell is then called with one line that says so.
    """

    def __init__(self, wanted: bool, tell: Callable[[str], None]):
        self.wanted, self._tell = wanted, tell

    def give_up(self, error: Exception) -> None:
        """Capture nothing any more."""
        self.wanted = False
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        self._tell(
            f"steps could not be captured as a CUDA graph ({reason}): kernels are launched one by one, which "
            "takes longer for small batches."
        )


class Replay:
    """A list of calls, carried out one by one or, once it is warm and if so wanted, captured and replayed.

    It is warm after a run: libraries load their kernels at first use, which a capture would refuse.
    use_stream is told the address of the stream that the calls are about to send their work to.
    """

    def __init__(
        self,
        xp: ModuleType,
        calls: Sequence[Callable[[], None]],
        use_stream: Callable[[int], None],
        graphs: Graphs,
        is_warm: bool,
    ):
        self._xp, self._calls, self._use_stream, self._graphs = xp, calls, use_stream, graphs
        self._is_warm = is_warm
        self._graph = None

    def run(self) -> None:
        """Send the work to the current stream."""
        if self._graph is None and self._graphs.wanted and self._is_warm:
            try:
                self._graph = self._capture()
            except RuntimeError as error:  # of CUDA or cuBLAS; nothing has been carried out
                self._graphs.give_up(error)
        if self._graph is None:
            self._use_stream(self._xp.cuda.get_current_stream().ptr)
            self._call_all()
            self._is_warm = True
        else:
            self._graph.launch()

    def _capture(self) -> Any:
        """The graph; nothing is carried out yet."""
        current, stream = self._xp.cuda.get_current_stream(), self._xp.cuda.Stream(non_blocking=True)
        try:
            with stream:
                self._use_stream(stream.ptr)
                stream.begin_capture()
                try:
                    self._call_all()
                except RuntimeError:
                    with suppress(RuntimeError):  # the capture must be ended, whatever has become of it
                        stream.end_capture()
                    raise
                return stream.end_capture()
        finally:
            self._use_stream(current.ptr)  # the other stream is about to be deleted

    def _call_all(self) -> None:
        for call in self._calls:
            call()
