"""The stand-in for CuPy with what a CUDA engine needs: kernels, streams, graphs, and a cuBLAS of NumPy's.

Kernels are run by lessons.cuda_on_cpu. While a stream is captured, what is sent to it is not carried out: the
graph does that, each time that it is launched, with the addresses and numbers of the capture, as on a GPU. A
graph does not keep its memory alive, as on a GPU; here it says so when it is launched. Otherwise work is done
when it is sent: what happens side by side on a GPU is not shown.
"""

import functools
import weakref
from functools import partial
from types import SimpleNamespace

import numpy as np

from lessons import cuda_on_cpu
from tests.stand_in import DeviceArray, StandIn, refuse_while_capturing
from tests.stand_in_cublas import FakeCublas

__all__ = ["CudaStandIn", "FakeCublas", "Queue"]


class Queue:
    """The device's streams; count is how many kernels, products and graphs they were sent."""

    def __init__(self):
        self.count, self.captured = 0, {}  # the work of each stream that is captured, by its address
        self.streams = [0]  # those made current, the last one counts; 0 is the default stream

    def send(self, work, stream=None):
        """Carry out work on a stream, or keep it for the graph; without one, on the current stream."""
        stream = self.streams[-1] if stream is None else stream
        if stream in self.captured:
            self.captured[stream].append(work)
        else:
            self.count += 1
            work()


class Event:
    """A mark of what has happened on a stream so far, which is everything."""

    done = True

    def synchronize(self):
        """Wait for it."""
        refuse_while_capturing("the host waits for an event")
        DeviceArray.waits += 1


class Stream:
    """A stream of the queue, known by its address."""

    def __init__(self, queue, ptr):
        self.queue, self.ptr = queue, ptr

    def __enter__(self):
        self.queue.streams.append(self.ptr)
        return self

    def __exit__(self, *_):
        self.queue.streams.pop()

    def use(self):
        """Make it the current one."""
        self.queue.streams[-1] = self.ptr
        return self

    def record(self, event=None):
        """An event that has happened when the work sent so far is done."""
        return event or Event()

    def synchronize(self):
        """Wait until all work is done."""
        refuse_while_capturing("the host waits for a stream")
        DeviceArray.waits += 1

    def is_capturing(self):
        """True if a capture is under way."""
        return self.ptr in self.queue.captured

    def begin_capture(self, mode=None):
        """Keep what is sent from now on for a graph."""
        if self.ptr == 0:
            raise RuntimeError("cudaErrorStreamCaptureUnsupported: the default stream cannot be captured")
        if self.is_capturing():
            raise RuntimeError("cudaErrorIllegalState: the stream is being captured already")
        self.queue.captured[self.ptr] = []
        DeviceArray.capturing = True

    def end_capture(self):
        """The graph of what was sent since begin_capture."""
        if not self.is_capturing():
            raise RuntimeError("cudaErrorIllegalState: the stream is not being captured")
        work = self.queue.captured.pop(self.ptr)
        DeviceArray.capturing = bool(self.queue.captured)
        return Graph(self.queue, work)


class Graph:
    """Work that one call sends."""

    def __init__(self, queue, work):
        self.queue, self.work = queue, work

    def launch(self, stream=None):
        """Carry out all of it, on the current stream unless another is given."""
        self.queue.send(self._carry_out, None if stream is None else stream.ptr)

    def upload(self, stream=None):
        """Make the first launch quicker."""

    def _carry_out(self):
        for work in self.work:
            work()


class RawModule:
    """CuPy's, whose kernels are run on the CPU.

    instances are those that several tests need of each file: they are compiled together, once.
    """

    def __init__(self, queue, instances, name_expressions=(), **keywords):
        names = set(name_expressions)
        together = next((group for group in instances.values() if names and names <= group), names)
        self.queue = queue
        self.module = _compiled(tuple(sorted(together)), **keywords)

    def get_function(self, name):
        """A kernel. CuPy compiles it now; here that waits until it is used: many tests use none."""
        return Kernel(self.queue, functools.cache(partial(self.module.get_function, name)))


@functools.cache
def _compiled(names, **keywords):
    return cuda_on_cpu.RawModule(name_expressions=names, **keywords)


class Kernel:
    """A kernel that is sent to the current stream; compiled() gives the one of the CPU."""

    def __init__(self, queue, compiled):
        self.__dict__.update(queue=queue, compiled=compiled)  # past __setattr__

    def __getattr__(self, name):
        return getattr(self.compiled(), name)

    def __setattr__(self, name, value):
        setattr(self.compiled(), name, value)

    def __call__(self, grid, block, args, *, shared_mem=0):
        if any(isinstance(arg, np.ndarray) for arg in args):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        if any(arg is None for arg in args):
            raise RuntimeError("None is no null pointer to CuPy: pass np.uint64(0)")
        kept = [Lent(arg._array) if isinstance(arg, DeviceArray) else _pointer(arg) for arg in args]
        self.queue.send(partial(self._run, grid, block, kept, shared_mem))

    def _run(self, grid, block, kept, shared_mem):
        args = tuple(arg.lend() if isinstance(arg, Lent) else arg for arg in kept)
        self.compiled()(grid, block, args, shared_mem=shared_mem)


def _pointer(arg):
    """The emulator's null pointer for an address of 0; other arguments as they are."""
    return None if isinstance(arg, np.uint64) and arg == 0 else arg


class Lent:
    """An array that a graph knows by its address alone: it may be gone when the graph is launched."""

    def __init__(self, array):
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        self._owner = weakref.ref(owner)
        # not the array's own flags, which would keep it alive
        flags = SimpleNamespace(c_contiguous=array.flags.c_contiguous, f_contiguous=array.flags.f_contiguous)
        pointer = SimpleNamespace(ptr=array.ctypes.data)
        self._facts = SimpleNamespace(data=pointer, dtype=array.dtype, nbytes=array.nbytes, flags=flags)

    def lend(self):
        """The facts that a kernel is given. Raises RuntimeError if the array is gone."""
        if self._owner() is None:
            raise RuntimeError("a graph uses an array that has been deleted: keep it as long as the graph")
        return self._facts


class CudaStandIn(StandIn):
    """The module that `import cupy` gives on a machine with a card of this compute capability."""

    def __init__(self, compute_capability="90", shared_bytes=227 << 10):
        super().__init__()
        self.queue = Queue()
        DeviceArray.capturing = False  # whatever a test before this one has left
        card = SimpleNamespace(
            id=0,
            compute_capability=compute_capability,
            attributes={"MaxSharedMemoryPerBlockOptin": shared_bytes, "MultiProcessorCount": 132},
        )
        self._addresses = iter(range(1, 1 << 30))
        self.cuda = SimpleNamespace(
            **vars(StandIn.cuda) | {"Device": lambda: card},
            Stream=self._stream,
            Event=Event,
            Graph=Graph,
            get_current_stream=lambda: Stream(self.queue, self.queue.streams[-1]),
            alloc_pinned_memory=bytearray,
        )
        self.instances = {}

    def RawModule(self, **keywords):  # noqa: N802
        """See the class of that name."""
        return RawModule(self.queue, self.instances, **keywords)

    def _stream(self, null=False, non_blocking=False):
        return Stream(self.queue, 0 if null else next(self._addresses))
