"""The setup of all tests: the GPU, if there is one, commands and small runs, one setting of hypothesis."""

import os
import signal
import sys
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO
from itertools import count
from types import SimpleNamespace

import pytest
from hypothesis import settings

from lessons.cuda_on_cpu import NoCompiler
from lessons.cuda_on_cpu.compiler import compiler
from tests.stand_in import StandIn
from tests.stand_in_cuda import CudaStandIn, FakeCublas
from tests.tiny_runs import enter, interrupted_after, make_photos, tiny
from tests.two_processes import pytest_runtestloop  # noqa: F401 - a hook
from tinyvit import train
from tinyvit.backend import select_device
from tinyvit.data.shapes import make_shapes
from tinyvit.engine.cuda import cublas
from tinyvit.support.shell.command import run_command

collect_ignore = ["lab/compiler"]  # on what a compiler makes of the kernels: CI runs it by its name
settings.register_profile("tinyvit", deadline=None)  # a busy machine is slow, not wrong
settings.load_profile("tinyvit")


def pytest_terminal_summary(terminalreporter):
    """Name the tests that took longer than 3 seconds: the whole suite is to take five minutes."""
    for report in terminalreporter.stats.get("passed", ()):
        if report.duration > 3:
            terminalreporter.line(f"{report.duration:.0f} s: {report.nodeid}")


@pytest.fixture(scope="session", autouse=True)
def no_waiting_for_the_disk():
    """The files of tests need not outlive a power cut; whether they would is tested by who calls os.fsync."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)  # which also refuses what is no open file
        yield


@pytest.fixture(scope="session", autouse=True)
def commands_are_compiled_once(tmp_path_factory):
    """Commands that tests start share their bytecode, even if none is to be left beside the modules."""
    with pytest.MonkeyPatch.context() as patch:
        if sys.dont_write_bytecode:
            patch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
            patch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.getbasetemp() / "bytecode"))
        yield


@pytest.fixture
def stand_in(monkeypatch):
    """A stand-in for a GPU, as a Device: see stand_in.py."""
    monkeypatch.setitem(sys.modules, "cupy", StandIn())
    return select_device("gpu")


@pytest.fixture
def cuda(monkeypatch):
    """The stand-in with kernels, graphs and a cuBLAS, as a Device: see stand_in_cuda.py."""
    try:
        compiler()
    except NoCompiler as error:
        pytest.skip(str(error))
    xp = CudaStandIn()
    monkeypatch.setitem(sys.modules, "cupy", xp)
    monkeypatch.setattr(cublas, "load_library", lambda: FakeCublas(xp.queue))
    return select_device("gpu")


@pytest.fixture(params=["stand-in", pytest.param("real", marks=pytest.mark.gpu)])
def any_cuda(request):
    """As `gpu`, but the stand-in has all that the CUDA engine needs."""
    return request.getfixturevalue("cuda" if request.param == "stand-in" else "real_gpu")


@pytest.fixture
def real_gpu():
    """A real GPU as a Device; the test is skipped with the reason where there is none."""
    device = select_device("gpu")
    if not device.is_gpu:
        pytest.skip(device.note)
    return device


@pytest.fixture(params=["stand-in", pytest.param("real", marks=pytest.mark.gpu)])
def gpu(request):
    """A GPU as a Device: the stand-in, and the real one, skipped with the reason where there is none."""
    return request.getfixturevalue("stand_in" if request.param == "stand-in" else "real_gpu")


@pytest.fixture
def go(capsys, monkeypatch):
    """go(COMMAND, flags ...) as a user would: exit status, stdout, stderr."""
    return lambda command, *argv: enter(command, capsys, monkeypatch, *argv)


@pytest.fixture(scope="session")
def photos(tmp_path_factory):
    """A folder data set; copy it to change it."""
    return make_photos(tmp_path_factory.mktemp("photos"))


@pytest.fixture
def few_shapes(monkeypatch):
    """The data set of shapes with 100 images to train on; how many there are to test. All take 3 seconds."""
    monkeypatch.setattr(make_shapes, "__defaults__", (100, 20, 0))
    return 20


@pytest.fixture(scope="session")
def run_once(photos, tmp_path_factory):
    """run_once(flags ..., name="run", step=None): the folder of a run, stopped after a step if one is given.

    It is trained once for all tests: copy it to change it.
    """

    @cache
    def run_once(*flags, name="run", step=None):
        run = tmp_path_factory.mktemp("runs") / name
        stopped = interrupted_after(pytest.MonkeyPatch(), step) if step else nullcontext()
        quiet = redirect_stdout(StringIO()), redirect_stderr(StringIO())
        with stopped, quiet[0], quiet[1], pytest.raises(SystemExit) as leaving:
            run_command(train.parser(), train.main, tiny(photos, run, *flags))
        assert (leaving.value.code or 0) == (128 + signal.SIGINT if step else 0)
        return run

    return run_once


@pytest.fixture(scope="session")
def trained(run_once):
    """A run with a validation split that has learned its two colours."""
    return run_once("--epochs", "8", "--lr", "0.003", "--validation", "8", name="trained")


@pytest.fixture(scope="session")
def left_alone(run_once):
    """A run of 3 epochs that nothing happened to; copy it to change it."""
    return run_once()


@pytest.fixture
def card(cuda, monkeypatch):
    """The stand-in for a GPU with a clock, on which every event is a millisecond after the one before."""
    from tests.engine.cuda.engine_cases import CASES, instances  # here, as few tests need them
    from tinyvit.bench.timing import Case

    ticks = count()

    class Event:
        def record(self):
            self.at = next(ticks)

        def synchronize(self):
            assert self.at is not None

    cuda.xp.cuda.Event = Event
    cuda.xp.cuda.get_elapsed_time = lambda a, b: float(b.at - a.at)
    cuda.xp.get_default_memory_pool = lambda: SimpleNamespace(total_bytes=lambda: 123_000_000)
    cuda.xp.instances = instances()
    monkeypatch.setattr(Case, "config", property(lambda self: CASES[self.model]))
    return cuda.xp
