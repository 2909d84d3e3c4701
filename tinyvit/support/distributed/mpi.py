"""Ranks that are processes of MPI, on one machine or several: NumPy arrays by MPI, those of CuPy by NCCL.

NCCL sums over GPUs, one for each rank. That is tested with a stand-in that checks every call, and with NCCL
itself by one rank on one GPU. It has never run on several GPUs, since none of the machines that tinyvit was
made on had two.
"""

import os
import socket
import time
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from tinyvit.backend import Array, array_module, nccl_module
from tinyvit.support.distributed import Ranks
from tinyvit.support.errors import UserError

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
        self._all_failed: bool | None = None
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.host = socket.gethostname()
        local = comm.Split_type(mpi.COMM_TYPE_SHARED)
        self.local_rank = local.Get_rank()
        own = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        self.neighbours = tuple(local.allgather(own))
        self._nccl: Any = None  # the communicator between the GPUs

    def gather(self, value: T) -> list[T]:
        return self._comm.allgather(value)

    def gather_rows(self, rows: np.ndarray) -> np.ndarray:
        return np.concatenate(self.gather(rows))

    def all_reduce(self, flat: Array) -> None:
        if array_module(flat) is np:
            self._comm.Allreduce(self._mpi.IN_PLACE, flat)
        else:
            self._sum_on_gpus(flat)

    def sum(self, number: Array) -> Array:
        total = array_module(number).array(number).reshape(1)  # a copy
        self.all_reduce(total)
        return total.reshape(())

    def all_failed(self) -> bool:
        if self._all_failed is None:
            arrived, until = self._alarm.Ibarrier(), time.monotonic() + _FAILING_SECONDS
            while not (done := arrived.Test()) and time.monotonic() < until:
                time.sleep(0.01)
            self._all_failed = done
        return self._all_failed

    def abort(self, status: int) -> None:
        self._comm.Abort(status)

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
