"""What is asked of NCCL: the right addresses, lengths, types and stream, by all ranks in the same order."""

import ctypes
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from tests.distributed.fake_mpi import World, together
from tinyvit.backend import nccl_module
from tinyvit.distributed import mpi
from tinyvit.distributed.nccl import Nccl
from tinyvit.distributed.ranks import parts
from tinyvit.errors import UserError

STREAM = 77


class OnDevice:
    """A flat array as CuPy has it: an address, a size, a dtype, and views."""

    def __init__(self, array):
        self.array, self.size, self.dtype = array, array.size, array.dtype
        self.data = SimpleNamespace(ptr=array.ctypes.data)

    def __getitem__(self, key):
        return OnDevice(self.array[key])


class FakeNccl:
    """The module cupy.cuda.nccl: it reads and writes the memory it is pointed to. Ranks are threads."""

    NCCL_FLOAT32, NCCL_FLOAT64, NCCL_SUM = ctypes.c_float, ctypes.c_double, "sum"
    available = True
    worlds: dict = {}  # noqa: RUF012

    def __init__(self):
        self.open = False

    def get_unique_id(self):
        return ("key", id(self))

    def groupStart(self):  # noqa: N802
        assert not self.open
        self.open = True

    def groupEnd(self):  # noqa: N802
        assert self.open
        self.open = False

    def NcclCommunicator(self, size, key, rank):  # noqa: N802
        world = self.worlds.setdefault(key, World(size))
        assert world.size == size
        return FakeCommunicator(self, world, rank)


class FakeCommunicator:
    def __init__(self, module, world, rank):
        self.module, self.world, self.rank = module, world, rank

    def allReduce(self, send, receive, count, kind, op, stream):  # noqa: N802
        assert op == "sum" and not self.module.open
        self._at(receive, count, kind)[...] = sum(self._exchange("allReduce", send, count, kind, stream))

    def reduce(self, send, receive, count, kind, op, root, stream):
        assert op == "sum" and self.module.open
        parts = self._exchange(f"reduce {root}", send, count, kind, stream)
        if self.rank == root:
            self._at(receive, count, kind)[...] = sum(parts)

    def broadcast(self, send, receive, count, kind, root, stream):
        assert self.module.open
        found = self._exchange(f"broadcast {root}", send, count, kind, stream)
        self._at(receive, count, kind)[...] = found[root]

    def _exchange(self, call, address, count, kind, stream):
        assert stream == STREAM
        return self.world.exchange(self.rank, (call, count, kind), self._at(address, count, kind).copy())

    @staticmethod
    def _at(address, count, kind):
        return np.ctypeslib.as_array((kind * count).from_address(address))


XP = SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=STREAM)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [2, 3])
def test_sums_and_parts(size, dtype):
    cuts = parts(11, size)
    given = [np.random.default_rng(rank).normal(size=11).astype(dtype) for rank in range(size)]

    def work(ranks):
        nccl = Nccl(FakeNccl(), XP, size, ranks.rank, ("key", size, dtype))
        summed, scattered = given[ranks.rank].copy(), given[ranks.rank].copy()
        nccl.all_reduce(OnDevice(summed))
        nccl.reduce_scatter(OnDevice(scattered), cuts)
        own = cuts[ranks.rank]
        np.testing.assert_array_equal(scattered[own], summed[own])
        gathered = np.full(11, np.nan, dtype)
        gathered[own] = scattered[own]
        nccl.all_gather(OnDevice(gathered), cuts)
        np.testing.assert_array_equal(gathered, summed)
        return summed

    for found in together(size, work):
        np.testing.assert_array_equal(found, sum(given))


def test_arrays_of_cupy_go_by_nccl_with_the_key_of_the_first_rank(monkeypatch):
    modules, own = [FakeNccl(), FakeNccl()], threading.local()
    monkeypatch.setattr(mpi, "array_module", lambda flat: XP)
    monkeypatch.setattr(mpi, "nccl_module", lambda: own.module)

    def work(ranks):
        own.module = modules[ranks.rank]
        flat = OnDevice(np.arange(5, dtype="float32") + ranks.rank)
        for collective in (ranks.all_reduce, ranks.reduce_scatter, ranks.all_gather):
            collective(flat)
        return flat.array

    first, second = together(2, work)
    np.testing.assert_array_equal(first, second)
    assert ("key", id(modules[0])) in FakeNccl.worlds and ("key", id(modules[1])) not in FakeNccl.worlds


def test_a_cupy_without_nccl_is_a_mistake_of_all(monkeypatch):
    monkeypatch.setattr(mpi, "array_module", lambda flat: XP)
    monkeypatch.setattr(mpi, "nccl_module", lambda: SimpleNamespace(available=False))
    with pytest.raises(UserError, match="needs NCCL, which CuPy does not find: run pip install"):
        together(2, lambda ranks: ranks.all_reduce(OnDevice(np.ones(3, "float32"))))


@pytest.mark.gpu
def test_the_real_library_takes_these_calls(real_gpu):
    """From a rank on its own, whose sums are what it has: no machine so far had a second GPU."""
    nccl, xp = nccl_module(), real_gpu.xp
    if not nccl.available:
        pytest.skip("CuPy finds no NCCL: pip install nvidia-nccl-cu12")
    alone = Nccl(nccl, xp, 1, 0, nccl.get_unique_id())
    for dtype in ("float32", "float64"):
        flat = xp.arange(1000, dtype=dtype)
        alone.all_reduce(flat)
        alone.reduce_scatter(flat, [slice(0, 1000)])
        alone.all_gather(flat, [slice(0, 1000)])
        np.testing.assert_array_equal(flat.get(), np.arange(1000))
