"""A stand-in for mpi4py.MPI whose ranks are threads: what MpiRanks calls, with MPI's rules checked.

All ranks must call the same collective, with buffers of the same length and type, or none of them goes on.
What mpi4py would pickle is pickled here too.
"""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

from tinyvit.support.distributed import acting_as
from tinyvit.support.distributed.mpi import MpiRanks

IN_PLACE, COMM_TYPE_SHARED = "in place", "shared"
PATIENCE = 60  # seconds until a rank that the others do not join gives up


class World:
    """The state that the ranks of a communicator share."""

    def __init__(self, size):
        self.size, self.barrier = size, threading.Barrier(size, timeout=PATIENCE)
        self.slots, self.children, self.lock = [None] * size, {}, threading.Lock()
        self.failed, self.aborted = 0, []

    def exchange(self, rank, call, value):
        """The values of all ranks, which must all have made the same call."""
        self.slots[rank] = call, value
        self.barrier.wait()
        found = list(self.slots)
        self.barrier.wait()
        assert len({call for call, _ in found}) == 1, [call for call, _ in found]
        return [value for _, value in found]

    def child(self, name, size):
        """A communicator made from this one, the same object for all its ranks."""
        with self.lock:
            return self.children.setdefault(name, World(size))


class Comm:
    """The communicator as one rank has it; machines[r] is the machine on which rank r runs."""

    def __init__(self, world, rank, machines):
        self._world, self._rank, self._machines = world, rank, machines
        self._dups = 0

    def Get_rank(self):  # noqa: N802
        return self._rank

    def Get_size(self):  # noqa: N802
        return self._world.size

    def Dup(self):  # noqa: N802
        self._dups += 1
        world = self._world.child(f"dup {self._dups}", self._world.size)
        return Comm(world, self._rank, self._machines)

    def Split_type(self, kind):  # noqa: N802
        assert kind == COMM_TYPE_SHARED
        mine = self._machines[self._rank]
        ranks = [rank for rank, machine in enumerate(self._machines) if machine == mine]
        return Comm(self._world.child(mine, len(ranks)), ranks.index(self._rank), [mine] * len(ranks))

    def Allreduce(self, send, buffer):  # noqa: N802
        assert send is IN_PLACE and buffer.ndim == 1 and buffer.flags.c_contiguous
        call = "allreduce", buffer.size, buffer.dtype.str
        buffer[...] = sum(self._world.exchange(self._rank, call, buffer.copy()))

    def Ibarrier(self):  # noqa: N802
        with self._world.lock:
            self._world.failed += 1
        return self

    def Test(self):  # noqa: N802
        return self._world.failed >= self._world.size

    def Abort(self, status):  # noqa: N802
        self._world.aborted.append((self._rank, status))
        self._world.barrier.abort()

    def allgather(self, value):
        call = "allgather of an object"
        return [pickle.loads(v) for v in self._world.exchange(self._rank, call, pickle.dumps(value))]


def together(size, function, machines=None):
    """The results of function(ranks) on `size` ranks, in order. Raises the first error of a rank."""
    import tests.support.distributed.fake_mpi as mpi

    world = World(size)

    def run(rank):
        try:
            with acting_as(MpiRanks(mpi, Comm(world, rank, machines or ["here"] * size))) as ranks:
                return function(ranks)
        except BaseException:
            for each in (world, *world.children.values()):
                each.barrier.abort()  # the others need not wait
            raise

    with ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(run, rank) for rank in range(size)]
    errors = [error for future in futures if (error := future.exception())]
    for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
        raise error
    return [future.result() for future in futures]


def errors_of(size, function, machines=None):
    """The messages of the errors that function(ranks) raises on each rank."""

    def caught(ranks):
        try:
            function(ranks)
        except Exception as error:
            return str(error)
        return None

    return together(size, caught, machines)
