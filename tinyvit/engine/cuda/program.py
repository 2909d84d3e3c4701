"""A plan made ready to run: kernels compiled, buffers bound to memory, the whole perhaps one graph."""

from collections.abc import Callable
from functools import partial

import numpy as np

from tinyvit.backend import Array
from tinyvit.engine.cuda.compiled import Kernels
from tinyvit.engine.cuda.cublas import Cublas
from tinyvit.engine.cuda.graph import Graphs, Replay
from tinyvit.engine.cuda.launch import Argument, Buffer, Launch, Step
from tinyvit.engine.cuda.memory import Memory
from tinyvit.engine.cuda.plan import Plan
from tinyvit.engine.cuda.workspace import plan_workspace

NULL = np.uint64(0)  # a null pointer; for None, CuPy would tell CUDA that the argument itself is nowhere


class Program:
    """A plan that can be carried out any number of times.

    All that it reads from outside must be in memory, under its name, before it runs.
    """

    def __init__(self, plan: Plan, kernels: Kernels, cublas: Cublas, memory: Memory, graphs: Graphs):
        self.plan, self.workspace = plan, plan_workspace(plan)
        self._kernels, self._cublas, self._memory, self._graphs = kernels, cublas, memory, graphs
        self._constants = {name: memory.xp.asarray(values) for name, values in plan.constants.items()}
        self._replay: Replay | None = None
        self._version: int | None = None  # of the memory that the replay knows
        self._is_warm = False
        kernels.compile(plan.steps)

    def run(self) -> None:
        """Carry out all steps, on the current stream."""
        self._memory.reserve(self.workspace)
        if self._version != self._memory.version:
            calls = [self._bound(step) for step in self.plan.steps]
            self._replay = Replay(self._memory.xp, calls, self._cublas.use, self._graphs, self._is_warm)
            self._version = self._memory.version
        self._replay.run()
        self._is_warm = True

    def calls(self) -> list[tuple[Step, Callable[[], None]]]:
        """Every step, and a function that sends it alone to the current stream: for measurements."""
        self._cublas.use(self._memory.xp.cuda.get_current_stream().ptr)
        return [(step, self._bound(step)) for step in self.plan.steps]

    def release(self) -> None:
        """Let go of the memory, which may have been replaced; the next run binds the buffers anew."""
        self._replay = self._version = None

    def array(self, buffer: Buffer) -> Array:
        """The memory of a buffer; what another program has written there is lost when this one runs."""
        if buffer.name in self._constants:
            return self._constants[buffer.name]
        return self._memory.array(buffer, self.workspace)

    def _argument(self, argument: Argument) -> Argument | Array:
        """What CuPy is given for an argument of a launch."""
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
