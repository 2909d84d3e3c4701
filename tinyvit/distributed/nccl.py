"""Sums over GPUs by NCCL, through cupy.cuda.nccl: one GPU for each rank.

This is tested with a stand-in that checks every call, and with NCCL itself by one rank on one GPU. It has
never run on several GPUs, since none of the machines that tinyvit was made on had two.

Everything is queued on CuPy's current stream, after the kernels that write the array and before those that
read it: the host does not wait. NCCL's own reduceScatter and allGather need parts of equal length. Ours may
differ by one number, so each part has its own reduce or broadcast, all of them in one group, which NCCL
carries out together.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from tinyvit.backend import Array


class Nccl:
    """A communicator between the GPUs of `size` ranks.

    nccl is the module cupy.cuda.nccl, xp is cupy, key is what nccl.get_unique_id() gave rank 0. Each rank
    must have made its GPU the current one.
    """

    def __init__(self, nccl: ModuleType, xp: ModuleType, size: int, rank: int, key: tuple):
        self._nccl, self._xp = nccl, xp
        self._comm = nccl.NcclCommunicator(size, key, rank)

    def all_reduce(self, flat: Array) -> None:
        """Replace a flat array, in place, by the sum over all ranks."""
        at, count, kind, stream = self._described(flat)
        self._comm.allReduce(at, at, count, kind, self._nccl.NCCL_SUM, stream)

    def reduce_scatter(self, flat: Array, cuts: Sequence[slice]) -> None:
        """Replace each rank's part, cuts[rank], on that rank, by the sum over all ranks."""
        with self._together():
            for root, cut in enumerate(cuts):
                at, count, kind, stream = self._described(flat[cut])
                self._comm.reduce(at, at, count, kind, self._nccl.NCCL_SUM, root, stream)

    def all_gather(self, flat: Array, cuts: Sequence[slice]) -> None:
        """Fill in, on all ranks, the part of each rank, cuts[rank], which that rank has written."""
        with self._together():
            for root, cut in enumerate(cuts):
                at, count, kind, stream = self._described(flat[cut])
                self._comm.broadcast(at, at, count, kind, root, stream)

    @contextmanager
    def _together(self) -> Iterator[None]:
        self._nccl.groupStart()
        yield
        self._nccl.groupEnd()

    def _described(self, flat: Array) -> tuple[int, int, Any, int]:
        """Address, length and type of a flat array, and the stream, as NCCL wants them."""
        kind = {"f": self._nccl.NCCL_FLOAT32, "d": self._nccl.NCCL_FLOAT64}[flat.dtype.char]
        return flat.data.ptr, flat.size, kind, self._xp.cuda.get_current_stream().ptr
