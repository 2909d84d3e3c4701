"""How a command ends: one line for a mistake, nothing when nobody reads any more, a traceback for a bug."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shell.terminal import Clock, Stream, screen
from tests.tiny_runs import REPOSITORY, spawn, tiny
from tinyvit.errors import UserError
from tinyvit.shell.command import make_parser, run_command
from tinyvit.shell.progress import Progress


def a_command(main):
    """A command without flags that does what main does."""
    return argparse.Namespace(__name__="command", parser=lambda: make_parser("command", ""), main=main)


def raising(error):
    def main(args):
        raise error

    return main


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (PermissionError(13, "Permission denied", "a/b"), "tinyvit.command: error: a/b: Permission denied\n"),
        (OSError(28, "No space left"), "tinyvit.command: error: No space left\n"),
        (OSError("odd"), "tinyvit.command: error: odd\n"),
        (
            MemoryError("Unable to allocate 9 TiB"),
            "tinyvit.command: error: not enough memory: Unable to allocate 9 TiB. "
            "Try a smaller --batch-size, --resolution or model.\n",
        ),
    ],
)
def test_what_the_machine_refuses_is_one_line(go, error, line):
    assert go(a_command(raising(error))) == (2, "", line)


def test_ctrl_c_never_shows_a_traceback(go):
    assert go(a_command(raising(KeyboardInterrupt()))) == (130, "", "\ntinyvit.command: interrupted\n")


def test_a_bug_is_not_hidden(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["command"])
    with pytest.raises(ZeroDivisionError):
        run_command(make_parser("command", ""), raising(ZeroDivisionError()))


def test_an_error_is_printed_below_the_moving_line(go, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    stream, clock = Stream(terminal=True), Clock()

    def main(args):
        report = Progress(stream, clock).count("photos")
        clock.now += 1
        report(2, 10)
        raise UserError("3.png is not an image.")

    monkeypatch.setattr(sys, "stdout", stream)
    assert go(a_command(main)) == (2, "", "tinyvit.command: error: 3.png is not an image.\n")
    moving, cursor = screen(stream.text, 100)
    assert moving.startswith("photos")
    assert cursor == ""


# Output that nobody reads any more.

PROGRAM = """
import sys
from tinyvit.errors import UserError
from tinyvit.shell.command import make_parser, run_command

def main(args):
    sys.stdin.readline()  # comes when nobody reads any more
    {body}

run_command(make_parser("command", ""), main)
"""


def start(body, *flags, **streams):
    """Start a command with that body; its output is buffered, as it is for a user."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(body=body), *flags],
        env=environment | {"PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        text=True,
        **streams,
    )


@pytest.mark.parametrize(
    ("body", "status", "line"),
    [
        ("print('a')", 0, ""),  # found out when the line is flushed at the end
        ("print('a' * 100_000)", 0, ""),  # found out at once
        ("raise BrokenPipeError", 0, ""),
        ("print('a'); sys.exit(3)", 3, ""),
        ("print('a'); raise UserError('bad')", 2, "tinyvit.command: error: bad\n"),
        ("print('a'); raise KeyboardInterrupt", 130, "\ntinyvit.command: interrupted\n"),
    ],
)
def test_output_into_a_closed_pipe_adds_no_error(body, status, line):
    process = start(body, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    _, err = process.communicate("\n", timeout=60)
    assert (process.returncode, err) == (status, line)
    with start(body, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:  # like 2>&1 | true
        process.stdout.close()
        process.stdin.write("\n")
    assert process.returncode == status


def test_help_into_a_closed_pipe_adds_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    process = start("", "--help", stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert process.communicate(timeout=60) == (None, "")
    assert process.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        process = start("print('a')", stdout=full, stderr=subprocess.PIPE)
    _, err = process.communicate("\n", timeout=60)
    assert (process.returncode, err) == (2, "tinyvit.command: error: No space left on device\n")


def test_a_reader_that_has_seen_enough_ends_it_quietly(photos, tmp_path):
    process = spawn("train", *tiny(photos, tmp_path / "run", "--epochs", "50"))
    while not process.stdout.readline().startswith("tinyvit"):
        pass
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert process.stderr.read() == ""
    process.stderr.close()
