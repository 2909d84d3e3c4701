"""A benchmark's processes do not outlive it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WORKER = """
from tinyvit.benchmark.case import Case
from tinyvit.benchmark.worker import Worker

worker = Worker(Case("nano/4", 32, 8, "infer", 1), "numpy", "cpu")
worker.run(1)
print(worker._process.pid, flush=True)
worker.run(1_000_000)
"""
IN_TIME = """
import subprocess
from tinyvit.benchmark.in_time import run

class Popen(subprocess.Popen):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        print(self.pid, flush=True)

subprocess.Popen = Popen
run("sleep 60", 60)
"""


def is_running(process):
    """Whether it is there and has not ended: one that nobody has asked for its status is still listed."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
@pytest.mark.parametrize("program", [WORKER, IN_TIME], ids=["worker", "in time"])
def test_a_process_ends_when_the_one_that_started_it_is_killed(program):
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.kill()
    deadline = time.monotonic() + 20
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    if is_running(child):
        os.kill(child, signal.SIGKILL)
        pytest.fail("the process went on alone")
