"""The calls of NCCL: the right addresses, lengths, types and stream, by all ranks in the same order."""

import ctypes
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.distributed.fake_mpi import World, together
from tinyvit.backend import nccl_module
from tinyvit.support.distributed import current, mpi
from tinyvit.support.errors import UserError

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

    def get_unique_id(self):
        return ("key", id(self))

    def NcclCommunicator(self, size, key, rank):  # noqa: N802
        world = self.worlds.setdefault(key, World(size))
        assert world.size == size
        return FakeCommunicator(self, world, rank)


class FakeCommunicator:
    def __init__(self, module, world, rank):
        self.module, self.world, self.rank = module, world, rank

    def allReduce(self, send, receive, count, kind, op, stream):  # noqa: N802
        assert op == "sum"
        self._at(receive, count, kind)[...] = sum(self._exchange("allReduce", send, count, kind, stream))

    def _exchange(self, call, address, count, kind, stream):
        assert stream == STREAM
        return self.world.exchange(self.rank, (call, count, kind), self._at(address, count, kind).copy())

    @staticmethod
    def _at(address, count, kind):
        return np.ctypeslib.as_array((kind * count).from_address(address))


XP = SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=STREAM)))


@pytest.fixture
def modules(monkeypatch):
    """The module of each of up to three ranks."""
    made, own = [FakeNccl() for _ in range(3)], threading.local()
    monkeypatch.setattr(FakeNccl, "worlds", {})
    monkeypatch.setattr(mpi, "array_module", lambda flat: XP)

    def module_of_this_rank():
        own.module = getattr(own, "module", None) or made[current().rank]
        return own.module

    monkeypatch.setattr(mpi, "nccl_module", module_of_this_rank)
    return made


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [2, 3])
def test_arrays_of_cupy_are_summed_by_nccl_with_the_key_of_the_first_rank(modules, size, dtype):
    given = [np.random.default_rng(rank).normal(size=11).astype(dtype) for rank in range(size)]

    def work(ranks):
        flat = given[ranks.rank].copy()
        for _ in range(2):
            ranks.all_reduce(OnDevice(flat))
        return flat

    for found in together(size, work):
        np.testing.assert_allclose(found, size * sum(given), rtol=1e-6)
    assert ("key", id(modules[0])) in FakeNccl.worlds and ("key", id(modules[1])) not in FakeNccl.worlds


def test_a_cupy_without_nccl_is_a_mistake_of_all(monkeypatch):
    monkeypatch.setattr(mpi, "array_module", lambda flat: XP)
    monkeypatch.setattr(mpi, "nccl_module", lambda: SimpleNamespace(available=False))
    with pytest.raises(UserError, match="needs NCCL, which CuPy does not find: run pip install"):
        together(2, lambda ranks: ranks.all_reduce(OnDevice(np.ones(3, "float32"))))


@pytest.mark.gpu
def test_the_real_library_takes_these_calls(real_gpu):
    """From a rank on its own, whose sums are what it has: no machine so far had a second GPU."""
    if not nccl_module().available:
        pytest.skip("CuPy finds no NCCL: pip install nvidia-nccl-cu12")
    flat = {dtype: real_gpu.xp.arange(1000, dtype=dtype) for dtype in ("float32", "float64")}
    together(1, lambda ranks: [ranks.all_reduce(array) for array in flat.values()])
    for array in flat.values():
        np.testing.assert_array_equal(array.get(), np.arange(1000))
