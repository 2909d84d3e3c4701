"""Ranks that are processes of MPI, on one machine or several: NumPy arrays by MPI, those of CuPy by NCCL.

A long array is sent in buckets, all under way at once: a library may then sum one while it sends another,
and no message is longer than a library can count.
"""

import os
import socket
import time
from collections.abc import Callable, Hashable
from types import ModuleType
from typing import Any, TypeVar, cast

import numpy as np

from tinyvit.backend import Array, array_module, nccl_module
from tinyvit.distributed.nccl import Nccl
from tinyvit.distributed.ranks import Ranks, parts
from tinyvit.errors import UserError

T = TypeVar("T")

BUCKET = 1 << 20  # numbers: 4 MiB of float32
_FAILING_SECONDS = 3.0  # within which an error that all ranks make reaches all of them


class MpiRanks(Ranks):
    """The processes of a communicator `comm`; mpi is the module mpi4py.MPI.

    The calls of one rank must come from one thread at a time.
    """

    def __init__(self, mpi: ModuleType, comm: Any):
        self._mpi, self._comm = mpi, comm
        self._alarm = comm.Dup()  # the barrier of a failing rank must not be taken for a sum
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.host = socket.gethostname()
        self._local = comm.Split_type(mpi.COMM_TYPE_SHARED)
        self.local_rank = self._local.Get_rank()
        own = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        self.neighbours = tuple(self._local.allgather(own))
        self._nccl: Nccl | None = None

    def all_reduce(self, flat: Array) -> None:
        """See Ranks.all_reduce."""
        if array_module(flat) is not np:
            self._device(flat).all_reduce(flat)
            return
        in_place = self._mpi.IN_PLACE
        self._wait([self._comm.Iallreduce(in_place, bucket) for bucket in _buckets(flat)])

    def reduce_scatter(self, flat: Array) -> None:
        """See Ranks.reduce_scatter."""
        cuts = parts(flat.size, self.size)
        if array_module(flat) is not np:
            self._device(flat).reduce_scatter(flat, cuts)
            return
        requests = []
        for root, cut in enumerate(cuts):
            for bucket in _buckets(flat[cut]):
                send, receive = (self._mpi.IN_PLACE, bucket) if root == self.rank else (bucket, None)
                requests.append(self._comm.Ireduce(send, receive, root=root))
        self._wait(requests)

    def all_gather(self, flat: Array) -> None:
        """See Ranks.all_gather."""
        cuts = parts(flat.size, self.size)
        if array_module(flat) is not np:
            self._device(flat).all_gather(flat, cuts)
            return
        owned = [(root, bucket) for root, cut in enumerate(cuts) for bucket in _buckets(flat[cut])]
        self._wait([self._comm.Ibcast(bucket, root=root) for root, bucket in owned])

    def sum(self, number: Array) -> Array:
        """See Ranks.sum."""
        xp = array_module(number)
        total = xp.array(number).reshape(1)  # a copy
        self.all_reduce(total)
        return total.reshape(())

    def max(self, number: int) -> int:
        """See Ranks.max."""
        return self._comm.allreduce(number, op=self._mpi.MAX)

    def gather_rows(self, rows: np.ndarray) -> np.ndarray:
        """See Ranks.gather_rows."""
        return np.concatenate(self._comm.allgather(rows))

    def first(self, function: Callable[..., T], *args: object) -> T:
        """See Ranks.first."""
        result, error = _tried(function, *args) if self.rank == 0 else (None, None)
        error = self._comm.bcast(error, root=0)
        if error:
            raise error
        copy = self._comm.bcast(result, root=0)
        return copy if self.rank else cast(T, result)

    def in_turn(self, function: Callable[..., T], *args: object) -> T:
        """See Ranks.in_turn."""
        result, error = _tried(function, *args) if self.local_rank == 0 else (None, None)
        self._raise_any(error)
        if self.local_rank:
            result, error = _tried(function, *args)
        self._raise_any(error)
        return cast(T, result)

    def check_same(self, value: Hashable, what: str) -> None:
        """See Ranks.check_same."""
        same = value == self._comm.bcast(value, root=0)
        error = UserError(f"{what} are not those of rank 0: give all ranks the same ones.")
        self._raise_any(None if same else error)

    def all_failed(self) -> bool:
        """See Ranks.all_failed."""
        arrived, until = self._alarm.Ibarrier(), time.monotonic() + _FAILING_SECONDS
        while not (done := arrived.Test()) and time.monotonic() < until:
            time.sleep(0.01)
        return done

    def abort(self, status: int) -> None:
        """See Ranks.abort."""
        self._comm.Abort(status)

    def _raise_any(self, error: Exception | None) -> None:
        """Raise the error of the first rank that has one, on all of them; its message names the rank."""
        errors = self._comm.allgather((error, self.host))
        for rank, (found, host) in enumerate(errors):
            if found and rank == 0:
                raise found
            if found:
                raise UserError(f"rank {rank} on {host}: {found}")

    def _wait(self, requests: list[Any]) -> None:
        self._mpi.Request.Waitall(requests)

    def _device(self, flat: Array) -> Nccl:
        """The communicator between the GPUs of the ranks, made on first use."""
        if self._nccl is None:
            nccl = nccl_module()
            key = self.first(_unique_id, nccl)
            self._nccl = Nccl(nccl, array_module(flat), self.size, self.rank, key)
        return self._nccl


def _unique_id(nccl: Any) -> tuple:
    if not nccl.available:
        raise UserError(
            "training on several GPUs needs NCCL, which CuPy does not find: run pip install "
            "nvidia-nccl-cu12, or train with --device cpu."
        )
    return nccl.get_unique_id()


def _buckets(flat: np.ndarray) -> list[np.ndarray]:
    """Views of a flat array, each at most BUCKET numbers long; how many depends only on its length."""
    return [flat[start : start + BUCKET] for start in range(0, flat.size, BUCKET)]


def _tried(function: Callable[..., T], *args: object) -> tuple[T | None, Exception | None]:
    """What a function returns, and the error that it raises if that is one for the user."""
    try:
        return function(*args), None
    except (UserError, OSError) as error:
        return None, error
