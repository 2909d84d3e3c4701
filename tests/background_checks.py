"""Long checks in processes of their own, beside the other tests.

They are started as soon as all tests are collected, one after another, and are usually finished when their
results are wanted: a machine with two cores has one to spare.
"""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple


class Finished(NamedTuple):
    """What a command has left: its exit status, what it printed, and the text of its report."""

    status: int
    printed: str
    report: str


class Beside:
    """Commands of Python, carried out one after another."""

    def __init__(self, root):
        self.root = root
        self.folder = tempfile.TemporaryDirectory()
        self.pool = ThreadPoolExecutor(1)
        self.futures, self.process = {}, None

    def start(self, name, *command):
        """Queue `python COMMAND REPORT`, where REPORT is the file that it writes."""
        self.futures[name] = self.pool.submit(self._run, name, command)

    def result(self, name):
        """Wait for a command, and return what it has left."""
        return self.futures[name].result()

    def _run(self, name, command):
        report, printed = (Path(self.folder.name, f"{name}.{kind}") for kind in ("report", "printed"))
        with printed.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, *command, str(report)],
                cwd=self.root,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            status = self.process.wait()
        text = report.read_text("utf-8") if report.exists() else ""
        return Finished(status, printed.read_text("utf-8"), text)

    def stop(self):
        """End what still runs, because nobody waits for it any more."""
        for future in self.futures.values():
            future.cancel()
        if self.process:
            self.process.terminate()
        self.pool.shutdown()
        self.folder.cleanup()
