"""The end of a command: one line for a mistake, nothing when nobody reads any more, a traceback for a bug."""

import argparse
import os
import shlex
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.support.shell.terminal import Clock, Stream, screen
from tests.tiny_runs import REPOSITORY, assert_one_line, metrics, tiny
from tinyvit.support.errors import UserError
from tinyvit.support.shell.command import make_parser, run_command
from tinyvit.support.shell.progress import Progress


def a_command(main, *flags):
    """A command that does what main does, with flags that take a value."""

    def parser():
        p = make_parser("command", "")
        for flag in flags:
            p.add_argument(flag)
        return p

    return argparse.Namespace(__name__="command", parser=parser, main=main)


def raising(error):
    def main(args):
        raise error

    return main


def test_a_warning_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr(warnings, "showwarning", lambda *shown: print(warnings.formatwarning(*shown), end=""))
    before = warnings.formatwarning
    with pytest.raises(SystemExit), warnings.catch_warnings():
        warnings.simplefilter("always")
        run_command(make_parser("command", ""), lambda args: warnings.warn("look out.", stacklevel=1), [])
    assert capsys.readouterr().out == "tinyvit.command: look out.\n" and warnings.formatwarning is before


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (PermissionError(13, "Permission denied", "a/b"), "tinyvit.command: error: a/b: Permission denied\n"),
        (OSError(28, "No space left", "a/b"), "tinyvit.command: error: a/b: No space left\n"),
        (OSError("odd"), "tinyvit.command: error: odd\n"),
        (
            MemoryError("Unable to allocate 9 TiB"),
            "tinyvit.command: error: not enough memory: Unable to allocate 9 TiB. Try a smaller model.\n",
        ),
    ],
)
def test_what_the_machine_refuses_is_one_line(go, error, line):
    assert go(a_command(raising(error))) == (2, "", line)


@pytest.mark.parametrize("shape", [(2**40, 2**40), (2**62, 2**3), (10**30,)])
def test_an_array_too_large_for_any_computer_is_a_lack_of_memory(go, shape):
    result = go(a_command(lambda args: np.zeros(shape)))
    assert_one_line(result, "not enough memory: ", "Try a smaller model.")


@pytest.mark.parametrize("flags", [("--resolution",), ("--batch-size",), ("--batch-size", "--resolution")])
def test_where_memory_is_short_only_flags_that_there_are_are_advised(go, flags):
    result = go(a_command(raising(MemoryError("it")), *flags, "--seed"))
    assert_one_line(result, f"not enough memory: it. Try a smaller {', '.join(flags)} or model.")


def test_more_threads_than_the_system_allows_are_one_line(go):
    result = go(a_command(raising(RuntimeError("can't start new thread"))))
    assert_one_line(result, "the system does not allow so many threads: give a smaller --threads.")


def test_what_is_printed_of_a_mistake_is_one_line_that_commands_no_terminal(go):
    odd = "\x1b[2J" + "a" * 1000 + ".png"
    for result in (
        go(a_command(raising(UserError(f"no file {odd} here.")))),
        go(a_command(raising(OSError(2, "No file", odd)))),
        go(a_command(print), odd),
    ):
        assert_one_line(result, r"\x1b[2Jaaa", "aaa.png")
        assert len(result[2]) < 400


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
from tinyvit.support.errors import UserError
from tinyvit.support.shell.command import make_parser, run_command

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
        ("print('a'); return 1", 1, ""),
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
@pytest.mark.parametrize(
    "body",
    [
        "print('a')",  # found out when the line is flushed at the end
        "print('a', flush=True)",
        "print('a' * 100_000)",  # found out at once
        "for _ in range(100_000): print('a')",
        "sys.stdout.write('a'); sys.stdout.flush()",
    ],
)
def test_a_full_disk_is_one_line_that_says_whose(body):
    with open("/dev/full", "w") as full:
        process = start(body, stdout=full, stderr=subprocess.PIPE)
    _, err = process.communicate("\n", timeout=60)
    line = "cannot write to standard output: No space left on device. Free some space, or send it elsewhere."
    assert (process.returncode, err) == (2, f"tinyvit.command: error: {line}\n")


# Streams that are closed from the start, and Ctrl-C before anything has begun.

closing = pytest.mark.skipif(os.name == "nt", reason="there is no shell that closes streams")


@closing
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("flags", "status"), [("", 0), ("--help", 0), ("--mistake", 2)])
def test_a_stream_that_is_closed_from_the_start_adds_no_error(closed, flags, status):
    body = "print('a'); assert open('/dev/null').fileno() > 2"
    words = [sys.executable, "-c", PROGRAM.format(body=body), *flags.split()]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    result = subprocess.run(
        f"exec {shlex.join(words)} {closed}",
        shell=True,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == status
    assert bool(result.stdout) == (status == 0 and closed == "2>&-")
    assert result.stderr.count("\n") == (status == 2 and closed == ">&-")


@closing
def test_training_without_a_standard_output_writes_nothing_into_its_files(photos, tmp_path):
    """The first file to be opened must not get the number of standard output."""
    words = " ".join(tiny(photos, tmp_path / "run", "--epochs", "1"))
    command = f"exec {sys.executable} -m tinyvit.train {words} >&- 2>&-"
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    assert subprocess.run(command, shell=True, env=environment, timeout=60).returncode == 0
    assert len(metrics(tmp_path / "run")) == 1


@pytest.fixture
def ctrl_c():
    """Ctrl-C is not ignored by the processes that a test starts, as it is by a shell's background jobs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("name", [".train", ".info", ""])
def test_ctrl_c_during_the_imports_shows_no_traceback(tmp_path, name):
    """A module that every command needs presses it, in place of NumPy."""
    (tmp_path / "numpy.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), str(REPOSITORY)))}
    words = [sys.executable, "-m", f"tinyvit{name}", *(["train"] if not name else [])]
    result = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60)
    assert "Traceback" not in result.stderr
    if name and os.name != "nt":
        assert (result.returncode, result.stderr) == (-signal.SIGINT, "")
    else:
        assert (result.returncode, result.stderr) == (130, "\ntinyvit: interrupted\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no nohup")
def test_ctrl_c_that_is_ignored_stays_ignored(tmp_path):
    program = "import signal, tinyvit.support.shell.start as s; s.end_on_ctrl_c(); s.catch_ctrl_c(); "
    program += "assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN; signal.raise_signal(signal.SIGINT)"
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    command = f"trap '' INT; exec {sys.executable} -c '{program}'"
    assert subprocess.run(command, shell=True, env=environment, timeout=60).returncode == 0


@pytest.mark.usefixtures("ctrl_c")
def test_a_program_that_imports_the_library_keeps_its_own_ctrl_c(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import signal, tinyvit\nassert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tmp_path), str(REPOSITORY)))}
    for words in (["-m", "mine"], ["-c", "import mine", "-m"], ["-c", "import mine", "tinyvit.train"]):
        assert subprocess.run([sys.executable, *words], env=environment, timeout=60).returncode == 0


@pytest.mark.parametrize("module", ["tinyvit", "tinyvit.train", "tinyvit.predict"])
def test_a_python_without_numpy_is_one_line(module):
    words = [sys.executable, "-S", "-E", "-m", module]  # -S: without the packages that are installed
    result = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "does not have numpy and pillow" in result.stderr
    assert f"{sys.executable} -m pip install numpy pillow\n" in result.stderr
