"""The way in which processes find that they belong together, and end: all of them, and with one message."""

import os
import sys
from types import ModuleType, SimpleNamespace

import pytest

from tests.support.distributed import fake_mpi
from tests.tiny_runs import assert_one_line
from tinyvit import train
from tinyvit.support import distributed
from tinyvit.support.distributed import ALONE, error_prefix, one_job, start
from tinyvit.support.distributed.mpi import MpiRanks
from tinyvit.support.errors import UserError

LAUNCHERS = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_STEP_NUM_TASKS", "PMIX_RANK"),
]
GIVE_WAY = "OMPI_MCA_mpi_yield_when_idle"


@pytest.fixture(autouse=True)
def outside_of_any_job(monkeypatch):
    monkeypatch.setattr(distributed, "_joined", None)
    for pair in LAUNCHERS:
        for name in pair:
            monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(GIVE_WAY, "")  # so that it is put back after the test
    monkeypatch.delenv(GIVE_WAY)


@pytest.fixture
def launched(monkeypatch):
    """launched(size, rank): as if this process were that rank of so many."""

    def launched(size, rank=0, variables=LAUNCHERS[0]):
        for name, value in zip(variables, (size, rank), strict=True):
            monkeypatch.setenv(name, str(value))

    return launched


def mpi4py(found):
    """A module mpi4py that sees `found` processes, or raises an error."""
    package = ModuleType("mpi4py")
    if isinstance(found, Exception):
        package.__getattr__ = lambda name: raising(found)
    else:
        comm = fake_mpi.Comm(fake_mpi.World(found), 0, ["here"] * found)
        version = "Open MPI v5.0.11, package: x"
        names = {name: getattr(fake_mpi, name) for name in ("IN_PLACE", "COMM_TYPE_SHARED")}
        package.MPI = SimpleNamespace(COMM_WORLD=comm, Get_library_version=lambda: version, **names)
    return package


def raising(error):
    raise error


class Failing(type(ALONE)):
    """A rank that fails; together says whether the others do too."""

    size = 3

    def __init__(self, together):
        self.together, self.aborted = together, []

    def all_failed(self):
        return self.together

    def abort(self, status):
        self.aborted.append(status)


def test_a_process_on_its_own_is_alone_and_imports_nothing(monkeypatch, launched):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    assert start() is ALONE
    monkeypatch.setattr(distributed, "_joined", None)
    launched(1)  # mpiexec -n 1
    assert start() is ALONE


@pytest.mark.parametrize(("tasks", "told"), [("4", True), ("1", False), ("", False)])
def test_processes_of_srun_that_know_nothing_of_each_other_are_told_so(monkeypatch, capsys, tasks, told):
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", tasks)
    assert start() is ALONE and start() is ALONE
    expected = "srun started 4 processes, and each trains a model of its own"
    assert capsys.readouterr().err.count(expected) == told


@pytest.mark.parametrize("variables", LAUNCHERS, ids=lambda names: names[1])
def test_a_launcher_is_recognised_by_its_variables(monkeypatch, launched, variables):
    launched(4, 1, variables)
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(UserError, match=r"4 processes .* need mpi4py, .*run pip install mpi4py"):
        start()


def test_an_mpi_that_cannot_be_loaded(monkeypatch, launched):
    launched(2)
    monkeypatch.setitem(sys.modules, "mpi4py", mpi4py(RuntimeError("cannot load MPI library\nlibmpi.so")))
    with pytest.raises(UserError, match=r"finds no MPI library \(cannot load MPI library\): install"):
        start()


def test_an_mpiexec_of_another_mpi(monkeypatch, launched):
    launched(2)
    monkeypatch.setitem(sys.modules, "mpi4py", mpi4py(1))
    with pytest.raises(UserError, match=r"2 processes .* but mpi4py sees 1: it uses Open MPI v5\.0\.11, and"):
        start()


def test_processes_that_find_each_other_are_ranks(monkeypatch, launched):
    launched(2)
    monkeypatch.setattr(fake_mpi.Comm, "Split_type", lambda self, kind: self)
    monkeypatch.setattr(fake_mpi.Comm, "allgather", lambda self, value: [value])
    monkeypatch.setitem(sys.modules, "mpi4py", mpi4py(2))
    ranks = start()
    assert isinstance(ranks, MpiRanks) and (ranks.rank, ranks.size) == (0, 2)
    assert start() is ranks


@pytest.mark.parametrize("chosen", [None, "0"])
def test_a_rank_that_waits_gives_way_unless_told_otherwise(monkeypatch, launched, chosen):
    launched(2)
    if chosen:
        monkeypatch.setenv(GIVE_WAY, chosen)
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(UserError):
        start()
    assert os.environ[GIVE_WAY] == (chosen or "1")


def test_the_error_of_all_is_told_by_the_first(monkeypatch, launched):
    assert error_prefix("tinyvit.train") == "tinyvit.train"
    launched(3, 0)
    assert error_prefix("tinyvit.train") == "tinyvit.train"  # before they have joined
    launched(3, 2)
    assert error_prefix("tinyvit.train") is None
    monkeypatch.setattr(distributed, "_joined", Failing(together=True))
    assert error_prefix("tinyvit.train") is None


def test_the_error_of_one_is_told_by_that_one(monkeypatch, launched):
    launched(3, 2)
    monkeypatch.setattr(distributed, "_joined", Failing(together=False))
    assert error_prefix("tinyvit.train") == "tinyvit.train (rank 2 of 3)"


def test_a_mistake_on_the_command_line_is_printed_once(go, launched):
    launched(2, 0)
    assert_one_line(go(train, "--epochs", "none"), "--epochs")
    launched(2, 1)
    assert go(train, "--epochs", "none") == (2, "", "")


@pytest.mark.parametrize(
    ("error", "status"), [(SystemExit(2), 2), (KeyError("x"), 1), (KeyboardInterrupt(), 1)], ids=repr
)
def test_a_rank_that_fails_alone_ends_the_others(monkeypatch, capsys, error, status):
    ranks = Failing(together=False)
    monkeypatch.setattr(distributed, "_joined", ranks)
    with pytest.raises(type(error)), one_job():
        raise error
    assert ranks.aborted == [status]
    assert ("Traceback" in capsys.readouterr().err) == (not isinstance(error, SystemExit))


def test_ranks_that_fail_together_end_by_themselves(monkeypatch):
    ranks = Failing(together=True)
    monkeypatch.setattr(distributed, "_joined", ranks)
    with pytest.raises(UserError), one_job():
        raise UserError("the same on all")
    assert not ranks.aborted
