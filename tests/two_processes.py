"""The whole suite in two processes, where two cores are free: `pytest` without names of tests.

When all tests are collected, the process forks. Both take one file of tests after another, and the results of
the second are reported as if its tests had run in the first.
"""

import contextlib
import multiprocessing
import os
import sys
import warnings
from itertools import groupby
from queue import SimpleQueue
from threading import Thread
from types import SimpleNamespace

import pytest

from tinyvit.engine import blas
from tinyvit.support.cores import available_cores


def pytest_runtestloop(session):
    """Run all tests, unless pytest is to do it in one process."""
    option, source = session.config.option, session.config.args_source
    stays = option.collectonly or option.usepdb or session.testsfailed or sys.platform != "linux"
    split = "coverage" in sys.modules or getattr(option, "dist", "no") != "no"  # pytest-xdist
    if stays or split or source != pytest.Config.ArgsSource.TESTPATHS or available_cores() < 2:
        return None
    if functions := blas._thread_functions():
        functions[1](1)  # several threads in both processes would wait for each other, and use the cores up
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    session.config._tmp_path_factory.getbasetemp()  # the same for both
    fork = multiprocessing.get_context("fork")
    receiving, sending = fork.Pipe(duplex=False)
    items = taken(session.items, fork.Value("i", 0))
    second = fork.Process(target=run_second, args=(session, items, sending))
    second.start()
    sending.close()
    messages = SimpleQueue()
    receiver = Thread(target=receive, args=(receiving, messages), daemon=True)
    receiver.start()
    try:
        for _ in run(session, items):
            tell(session, messages)
        while receiver.is_alive():
            receiver.join(0.1)
            tell(session, messages)
        second.join()
        if second.exitcode:
            session.shouldfail = f"the second process has ended with {second.exitcode}"
            raise session.Failed(session.shouldfail)
    finally:
        second.terminate()
        second.join()
    return True


def taken(items, number):
    """The tests of the next file that neither process has taken, and so on."""
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    while True:
        with number:
            mine, number.value = number.value, number.value + 1
        if mine >= len(files):
            return
        yield from files[mine]


def run(session, items):
    """Run tests one by one, each with the next, as fixtures outlive a test if that needs them too."""
    item = next(items, None)
    while item:
        following = next(items, None)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        yield
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        item = following


def run_second(session, items, sending):
    """Run tests in the second process, which shows nothing and captures what they print by itself."""
    plugins = session.config.pluginmanager
    capture, reporter = plugins.getplugin("capturemanager"), plugins.unregister(name="terminalreporter")
    plugins.register(SimpleNamespace(_tw=reporter._tw), "terminalreporter")  # whose colours are asked for
    capture.stop_global_capturing()
    capture.start_global_capturing()
    plugins.register(Sender(session.config, sending))
    for _ in run(session, items):
        pass


class Sender:
    """Sends reports and warnings to the first process."""

    def __init__(self, config, sending):
        self.config, self.sending = config, sending

    def pytest_runtest_logreport(self, report):
        hook = self.config.hook
        self.sending.send(hook.pytest_report_to_serializable(config=self.config, report=report))

    def pytest_warning_recorded(self, warning_message, when, nodeid, location):
        told = [str(warning_message.message), warning_message.category, warning_message.filename]
        told = warnings.WarningMessage(*told, warning_message.lineno)
        self.sending.send((told, when, nodeid, location))


def receive(receiving, messages):
    """Queue what the second process sends, until it ends."""
    with receiving, contextlib.suppress(EOFError):
        while True:
            messages.put(receiving.recv())


def tell(session, messages):
    """Report what the second process has sent."""
    hook = session.config.hook
    while not messages.empty():
        message = messages.get()
        if isinstance(message, dict):
            report = hook.pytest_report_from_serializable(config=session.config, data=message)
            hook.pytest_runtest_logreport(report=report)
        else:
            names = ("warning_message", "when", "nodeid", "location")
            hook.pytest_warning_recorded.call_historic(kwargs=dict(zip(names, message, strict=True)))
