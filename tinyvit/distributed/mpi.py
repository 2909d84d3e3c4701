"""Ranks that are processes of MPI, on one machine or several: NumPy arrays by MPI, those of CuPy by NCCL.

NCCL sums over GPUs, one for each rank. That is tested with a stand-in that checks every call, and with NCCL
itself by one rank on one GPU. It has never run on several GPUs, since none of the machines that tinyvit was
made on had two.
"""

import os
import socket
import time
from collections.abc import Callable, Hashable
from types import ModuleType
from typing import Any, TypeVar, cast

import numpy as np

from tinyvit.backend import Array, array_module, nccl_module
from tinyvit.distributed.ranks import Ranks
from tinyvit.errors import UserError

T = TypeVar("T")

_FAILING_SECONDS = 3.0  # within which an error that all ranks make reaches all of them


class MpiRanks(Ranks):
    """The processes of a communicator `comm`; mpi is the module mpi4py.MPI. See Ranks for the methods.

    The calls of one rank must come from one thread at a time. Each rank must have made its GPU, if it has
    one, the current one.
    """

    def __init__(self, mpi: ModuleType, comm: Any):
        self._mpi, self._comm = mpi, comm
        self._alarm = comm.Dup()  # the barrier of a failing rank must not be taken for a sum
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.host = socket.gethostname()
        local = comm.Split_type(mpi.COMM_TYPE_SHARED)
        self.local_rank = local.Get_rank()
        own = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        self.neighbours = tuple(local.allgather(own))
        self._nccl: Any = None  # the communicator between the GPUs

    def all_reduce(self, flat: Array) -> None:
        if array_module(flat) is np:
            self._comm.Allreduce(self._mpi.IN_PLACE, flat)
        else:
            self._sum_on_gpus(flat)

    def sum(self, number: Array) -> Array:
        total = array_module(number).array(number).reshape(1)  # a copy
        self.all_reduce(total)
        return total.reshape(())

    def max(self, number: int) -> int:
        return self._comm.allreduce(number, op=self._mpi.MAX)

    def gather_rows(self, rows: np.ndarray) -> np.ndarray:
        return np.concatenate(self._comm.allgather(rows))

    def first(self, function: Callable[..., T], *args: object) -> T:
        result, error = _tried(function, *args) if self.rank == 0 else (None, None)
        error = self._comm.bcast(error, root=0)
        if error:
            raise error
        copy = self._comm.bcast(result, root=0)
        return copy if self.rank else cast(T, result)

    def in_turn(self, function: Callable[..., T], *args: object) -> T:
        result, error = _tried(function, *args) if self.local_rank == 0 else (None, None)
        self._raise_any(error)
        if self.local_rank:
            result, error = _tried(function, *args)
        self._raise_any(error)
        return cast(T, result)

    def check_same(self, value: Hashable, what: str) -> None:
        same = value == self._comm.bcast(value, root=0)
        error = UserError(f"{what} are not those of rank 0: give all ranks the same ones.")
        self._raise_any(None if same else error)

    def all_failed(self) -> bool:
        arrived, until = self._alarm.Ibarrier(), time.monotonic() + _FAILING_SECONDS
        while not (done := arrived.Test()) and time.monotonic() < until:
            time.sleep(0.01)
        return done

    def abort(self, status: int) -> None:
        self._comm.Abort(status)

    def _raise_any(self, error: Exception | None) -> None:
        """Raise the error of the first rank that has one, on all of them; its message names the rank."""
        errors = self._comm.allgather((error, self.host))
        for rank, (found, host) in enumerate(errors):
            if found:
                raise UserError(f"rank {rank} on {host}: {found}") if rank else found

    def _sum_on_gpus(self, flat: Array) -> None:
        """all_reduce, queued on CuPy's current stream after the kernels that write the array: the host does
        not wait."""
        nccl = nccl_module()
        if self._nccl is None:
            key = self.first(_unique_id, nccl)
            self._nccl = nccl.NcclCommunicator(self.size, key, self.rank)
        kind = {"f": nccl.NCCL_FLOAT32, "d": nccl.NCCL_FLOAT64}[flat.dtype.char]
        stream = array_module(flat).cuda.get_current_stream().ptr
        self._nccl.allReduce(flat.data.ptr, flat.data.ptr, flat.size, kind, nccl.NCCL_SUM, stream)


def _unique_id(nccl: Any) -> tuple:
    if not nccl.available:
        raise UserError(
            "training on several GPUs needs NCCL, which CuPy does not find: run pip install "
            "nvidia-nccl-cu12, or train with --device cpu."
        )
    return nccl.get_unique_id()


def _tried(function: Callable[..., T], *args: object) -> tuple[T | None, Exception | None]:
    """The result of a function, and its error if that is one for the user."""
    try:
        return function(*args), None
    except (UserError, OSError) as error:
        return None, error
