"""Training under a real mpiexec, with 2 and 4 processes; skipped where there is no MPI."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.tiny_runs import REPOSITORY, metrics, spawn, tiny
from tinyvit.training.run_folder import RunFolder

pytest.importorskip("mpi4py.rc", reason="mpi4py is not installed")
BESIDE = Path(sys.executable).parent / "mpiexec"  # that of a wheel comes before the system's
MPIEXEC = str(BESIDE) if BESIDE.exists() else shutil.which("mpiexec")
pytestmark = pytest.mark.skipif(not MPIEXEC, reason="there is no mpiexec")

SECONDS = 60  # within which anything here ends; each takes a few, on a machine that is not busy
ALLOWED = {  # more processes than cores, and root, as in a container
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PYTHONPATH": str(REPOSITORY),
    "COLUMNS": "80",
}


def start(size, folder, *words):
    """A job of so many processes of rank.py."""
    folder.mkdir(exist_ok=True)
    rank = Path(__file__).parent / "rank.py"
    return subprocess.Popen(
        [MPIEXEC, "-n", str(size), sys.executable, str(rank), str(folder), *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=os.environ | ALLOWED,
    )


def finished(job):
    """Exit status, stdout and stderr of a job."""
    try:
        out, err = job.communicate(timeout=SECONDS)
    finally:
        job.kill()
    return job.returncode, out, err


def wait_for(path, job):
    deadline = time.monotonic() + SECONDS
    while not path.exists():
        assert job.poll() is None, job.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def alone(photos, tmp_path_factory):
    """The metrics of the same run by one process."""
    run = tmp_path_factory.mktemp("alone") / "run"
    assert spawn("train", *tiny(photos, run)).wait(timeout=SECONDS) == 0
    return metrics(run)


@pytest.mark.parametrize(("size", "more"), [(2, ()), (2, ("--accumulate", "2")), (4, ("--threads", "2"))])
def test_the_losses_are_those_of_one_process(photos, alone, tmp_path, size, more):
    run = tmp_path / "run"
    status, out, err = finished(start(size, tmp_path / "ranks", "train", *tiny(photos, run, *more)))
    assert (status, err) == (0, "")
    assert (
        out.count("done in") == 1
        and f"{size} processes, each NumPy on {2 if '--threads' in more else 1} thread" in out
    )
    for mine, other in zip(metrics(run), alone, strict=True):
        assert mine == pytest.approx(other, rel=1e-4)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_to_one_process_ends_the_job_and_another_number_goes_on(photos, tmp_path, number):
    run, ranks = tmp_path / "run", tmp_path / "ranks"
    job = start(2, ranks, "train", *tiny(photos, run, "--epochs", "3000"))
    wait_for(run / "last.npz", job)
    os.kill(int((ranks / "1").read_text()), number)
    started = time.monotonic()
    status, out, err = finished(job)
    assert status != 0 and time.monotonic() - started < SECONDS / 2
    if number == signal.SIGINT:
        assert "which is saved. To resume" in out
    else:
        assert "Killed" in out + err  # in mpiexec's words
    step = RunFolder(run).load("last").progress["step"]
    job = start(3, ranks, "train", "--resume", run, "--threads", "1")
    wait_for_step(run, step, job)
    os.kill(int((ranks / "0").read_text()), signal.SIGTERM)
    status, out, err = finished(job)
    assert f"resumed after step {step:,} of" in out and "Traceback" not in err
    assert np.isfinite(RunFolder(run).load("last").params.flat).all()


def wait_for_step(run, step, job):
    """Wait until a checkpoint is newer than that of a step."""
    deadline = time.monotonic() + SECONDS
    while RunFolder(run).load("last").progress["step"] <= step:
        assert job.poll() is None, job.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_mistake_is_printed_once(photos, tmp_path):
    flags = tiny(photos, tmp_path / "run", "--batch-size", "1")
    status, _, err = finished(start(2, tmp_path / "ranks", "train", *flags))
    assert status == 2 and err.count("tinyvit.train: error: a batch of 1 image cannot be shared by 2") == 1
    assert "Traceback" not in err and not (tmp_path / "run").exists()


def test_the_error_of_one_process_ends_the_job_with_its_name(tmp_path):
    started = time.monotonic()
    status, _, err = finished(start(2, tmp_path / "ranks", "fail", 1))
    assert status != 0 and "rank (rank 1 of 2): error: here: No space left on device" in err
    assert time.monotonic() - started < SECONDS / 2
