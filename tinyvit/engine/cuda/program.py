"""A plan made ready to run: kernels compiled, buffers bound to memory, the whole perhaps one graph.

A launch costs the host some microseconds, more than a small kernel takes. A graph is the whole list, captured
once, which a single call starts. It remembers all addresses and numbers: what changes from step to step has
to be in device memory.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from tinyvit.backend import Array
from tinyvit.engine.cuda.compiled import Kernels
from tinyvit.engine.cuda.cublas import Cublas
from tinyvit.engine.cuda.launch import Argument, Buffer, Launch, Step
from tinyvit.engine.cuda.plan import Plan
from tinyvit.engine.cuda.workspace import Workspace, plan_workspace

NUMPY_NAMES = {"bfloat16": "uint16"}  # NumPy has no bfloat16: its bits are handed on
NULL = np.uint64(0)  # a null pointer; for None, CuPy would tell CUDA that the argument itself is nowhere
GRAPHS_OFF = "TINYVIT_CUDA_GRAPHS"  # set to 0, this variable switches graphs off


class Memory:
    """Arrays by name, and the block for the workspaces of all plans, which are used one at a time.

    version changes whenever an array moves: remembered addresses are then out of date.
    """

    def __init__(self, xp: ModuleType):
        self.xp, self.version = xp, 0
        self._kept: dict[str, Array] = {}
        self._block = xp.empty(0, dtype="uint8")

    def keep(self, name: str, array: Array) -> None:
        """Have this array, of adjacent numbers, serve under a name."""
        if array is not self._kept.get(name):
            self._kept[name] = array
            self.version += 1

    def reserve(self, workspace: Workspace) -> None:
        """Make the block large enough."""
        if self._block.nbytes < workspace.size:
            self.version += 1
            self._block = self.xp.empty(0, dtype="uint8")  # given back before the larger one is taken
            self._block = self.xp.empty(workspace.size, dtype="uint8")

    def room(self, buffer: Buffer) -> Array:
        """An array that stays, of the shape of this buffer; other shapes of that name share its memory."""
        held = self._kept.get(buffer.name)
        dtype = NUMPY_NAMES.get(buffer.dtype, buffer.dtype)
        if held is None or held.size < buffer.size or held.dtype != dtype:
            self.keep(buffer.name, self.xp.empty(buffer.size, dtype=dtype))
        return self._kept[buffer.name].reshape(-1)[: buffer.size].reshape(buffer.shape)

    def array(self, buffer: Buffer, workspace: Workspace) -> Array:
        """The part of memory that a buffer stands for."""
        if buffer.name in self._kept:
            flat = self._kept[buffer.name].reshape(-1)
        else:
            place = workspace.places[buffer.name]
            flat = self._block[place.start : place.stop].view(NUMPY_NAMES.get(buffer.dtype, buffer.dtype))
        return flat[buffer.start : buffer.start + buffer.size].reshape(buffer.shape)


def graphs_wanted() -> bool:
    """True if steps are to be captured; they are, unless the environment says otherwise."""
    return os.environ.get(GRAPHS_OFF, "1") != "0"


class Graphs:
    """The switch for capturing work, for all replays together: if one capture fails, no other is tried.

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


class Program:
    """A plan that can be carried out any number of times.

    All that it reads from outside must be in memory, under its name, before it runs. Its calls are made
    one by one or, once it is warm and if so wanted, captured and replayed. It is warm after a run: libraries
    load their kernels at first use, which a capture would refuse.
    """

    def __init__(self, plan: Plan, kernels: Kernels, cublas: Cublas, memory: Memory, graphs: Graphs):
        self.plan, self.workspace = plan, plan_workspace(plan)
        self._kernels, self._cublas, self._memory, self._graphs = kernels, cublas, memory, graphs
        self._constants = {name: memory.xp.asarray(values) for name, values in plan.constants.items()}
        self._calls: list[Callable[[], None]] = []
        self._graph: Any = None
        self._version: int | None = None  # of the memory that the calls and the graph know
        self._is_warm = False
        kernels.compile(plan.steps)

    def run(self) -> None:
        """Carry out all steps, on the current stream."""
        self._memory.reserve(self.workspace)
        if self._version != self._memory.version:
            self._calls, self._graph = [self._bound(step) for step in self.plan.steps], None
            self._version = self._memory.version
        if self._graph is None and self._graphs.wanted and self._is_warm:
            try:
                self._graph = self._capture()
            except RuntimeError as error:  # of CUDA or cuBLAS; nothing has been carried out
                self._graphs.give_up(error)
        if self._graph is None:
            self._cublas.use(self._memory.xp.cuda.get_current_stream().ptr)
            self._call_all()
            self._is_warm = True
        else:
            self._graph.launch()

    def _capture(self) -> Any:
        """The graph; nothing is carried out yet."""
        cuda = self._memory.xp.cuda
        current, stream = cuda.get_current_stream(), cuda.Stream(non_blocking=True)
        try:
            with stream:
                self._cublas.use(stream.ptr)
                stream.begin_capture()
                try:
                    self._call_all()
                except RuntimeError:
                    with suppress(RuntimeError):  # the capture must be ended, whatever has become of it
                        stream.end_capture()
                    raise
                return stream.end_capture()
        finally:
            self._cublas.use(current.ptr)  # the other stream is about to be deleted

    def _call_all(self) -> None:
        for call in self._calls:
            call()

    def calls(self) -> list[tuple[Step, Callable[[], None]]]:
        """Every step, and a function that sends it alone to the current stream: for measurements."""
        self._cublas.use(self._memory.xp.cuda.get_current_stream().ptr)
        return [(step, self._bound(step)) for step in self.plan.steps]

    def release(self) -> None:
        """Let go of the memory, which may have been replaced; the next run binds the buffers anew."""
        self._calls, self._graph, self._version = [], None, None

    def array(self, buffer: Buffer) -> Array:
        """The memory of a buffer; what another program has written there is lost when this one runs."""
        if buffer.name in self._constants:
            return self._constants[buffer.name]
        return self._memory.array(buffer, self.workspace)

    def _argument(self, argument: Argument) -> Argument | Array:
        """The value that CuPy takes for an argument of a launch."""
        if argument is None:
            return NULL
        return self.array(argument) if isinstance(argument, Buffer) else argument

    def _bound(self, step: Step) -> Callable[[], None]:
        """A function without arguments that carries out a step."""
        if isinstance(step, Launch):
            arguments = tuple(map(self._argument, step.args))
            kernel = self._kernels.kernel(step)
            return partial(kernel, step.grid, step.block, arguments, shared_mem=step.shared_bytes)
        addresses = (self.array(buffer).data.ptr for buffer in (step.a, step.b, step.c))
        return partial(self._cublas.multiply, step, *addresses)
