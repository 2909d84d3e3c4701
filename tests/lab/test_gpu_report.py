"""Measurements on a GPU in a given time, with commands that are fakes: it ends in time, and loses nothing."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.lab import gpu_report
from tests.lab.gpu_report import Job, all_jobs, page
from tests.lab.speed import RIVAL
from tests.tiny_runs import REPOSITORY
from tinyvit.support.errors import UserError


def python(code):
    return f"python -c {shlex.quote(code)}"


def with_card(card):
    facts = {"machine": {"card": card}, "ceilings": {"a copy": "3 GB/s"}}
    return python(f"print({json.dumps(facts)!r})")


@pytest.fixture
def measure(monkeypatch, tmp_path):
    """measure(jobs ...) for a minute, or for `minutes`: the exit status, and what each command came to."""

    def call(*jobs, minutes=1, card="H100"):
        monkeypatch.setattr(gpu_report, "MACHINE", with_card(card))
        monkeypatch.setattr(gpu_report, "all_jobs", lambda: jobs)
        status = gpu_report.measure(minutes, tmp_path)
        latest = max(tmp_path.glob("results-*.json"), key=lambda path: path.stat().st_mtime_ns)
        records = json.loads(latest.read_text())
        return status, {key: record["status"] for key, record in records.items() if key != with_card(card)}

    return call


def test_the_same_command_continues_with_what_has_not_ended_well(measure, tmp_path):
    once, later = python(f"open({str(tmp_path / 'once')!r}, 'x'); print('all well')"), tmp_path / "later"
    flaky = python(f"import os, sys; print('hm'); sys.exit(0 if os.path.exists({str(later)!r}) else 3)")
    work = Job("two", 9, [once, flaky]), Job("nothing", 9, [python("0")], "PyTorch is not installed")
    assert measure(*work) == (1, {once: "ok", flaky: "failed with status 3"})
    text = (tmp_path / "RESULTS.md").read_text()
    assert "| all well |" in text and "```\nhm\n```" in text and "- a copy: 3 GB/s" in text
    assert "- two: 9 s\n- nothing: PyTorch is not installed" in text
    later.touch()
    assert measure(*work) == (0, {once: "ok", flaky: "ok"})  # `once` would fail a second time
    assert "- two" not in (tmp_path / "RESULTS.md").read_text()


def test_what_other_sources_have_found_is_not_taken_for_this(measure, monkeypatch, tmp_path):
    once = python(f"open({str(tmp_path / 'once')!r}, 'x')")
    assert measure(Job("once", 9, [once]))[0] == 0
    monkeypatch.setattr(gpu_report, "sources", lambda: "others")
    assert measure(Job("once", 9, [once]))[0] == 1
    assert len(list(tmp_path.glob("results-*.json"))) == 2


def test_what_does_not_fit_is_not_begun_and_what_has_failed_comes_last(measure, tmp_path):
    log = tmp_path / "log"
    say = lambda word, end="0": python(f"open({str(log)!r}, 'a').write({word!r}); raise SystemExit({end})")
    big, bad, good = Job("big", 61, [say("B")]), Job("bad", 9, [say("x", "1")]), Job("good", 9, [say("g")])
    measure(big, bad)
    measure(big, bad, good)
    assert log.read_text() == "xgx"
    assert "- big: 61 s" in (tmp_path / "RESULTS.md").read_text()


def test_what_takes_too_long_is_ended_with_its_children(measure, tmp_path):
    number = tmp_path / "number"
    child = (
        "import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"
    )
    hangs = python(
        f"{child}; print('begun', flush=True); open({str(number)!r}, 'w').write(str(p.pid)); p.wait()"
    )
    start = time.monotonic()
    assert measure(Job("hangs", 2, [hangs, python("1")]), Job("next", 5, [python("2")])) == (
        1,
        {hangs: "ended after 2 s, its time", python("2"): "ok"},
    )
    assert time.monotonic() - start < 20
    assert "```\nbegun\n```" in (tmp_path / "RESULTS.md").read_text()
    while is_running(child := int(number.read_text())):
        if time.monotonic() - start > 20:
            os.kill(child, signal.SIGKILL)
            pytest.fail("its child went on")
        time.sleep(0.01)


def is_running(process):
    """True unless it has ended: one that nobody has asked for its status is still listed."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


PROGRAM = """
import subprocess
from tests.lab.gpu_report import run

class Popen(subprocess.Popen):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        print(self.pid, flush=True)

subprocess.Popen = Popen
run("sleep 60", 60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_job_ends_when_the_report_is_killed():
    program = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY) as parent:
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.kill()
    deadline = time.monotonic() + 20
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    if is_running(child):
        os.kill(child, signal.SIGKILL)
        pytest.fail("the process went on alone")


def result(model="Ti/4", way="", ms=5.0, **more):
    """The result that tests.lab.speed prints, where tinyvit takes 4 ms."""
    case = {
        "model": model,
        "image_size": 32,
        "batch": 512,
        "mode": "train",
        "threads": 1,
        "precision": "bf16",
        "device": "gpu",
    }
    speeds = {"tinyvit cuda": 4.0} | ({f"torch compile {way}": ms} if way else {})
    sides = [
        {"name": name, "ms_per_step": ms, "images_per_second": 512e3 / ms, "peak_bytes": 10**9}
        for name, ms in speeds.items()
    ]
    ratios = {name: [ms / 4.0, ms / 3.9] for name, ms in speeds.items() if name != "tinyvit cuda"}
    common = {"device": "CuPy on NVIDIA H100"}
    return {"case": case, "sides": sides, "ratios": ratios} | common | more


def test_the_page_compares_with_the_faster_of_pytorchs_ways():
    kernels = [{"name": "bias_gelu", "launches": 12, "bytes_moved": 10**9, "seconds": 3e-4}]
    found = [
        result(share_of_roofline=0.61, kernels=kernels),
        result(way="autocast", ms=8.0),
        result(way="pure", ms=6.0),
        result("S/4", way="autocast", ms=10.0),
    ]
    ended = {"status": "ok", "seconds": 1.0, "date": "2026-11-27 10:00", "output": "", "errors": ""}
    records = {f"command {i}": ended | {"result": each} for i, each in enumerate(found)}
    text = page({"card": "NVIDIA H100", "driver": "580.1"}, records, [], "the command")
    assert (
        text.startswith("# tinyvit on NVIDIA H100, 2026-11-27 10:00 to ")
        and "- driver: 580.1" in text
        and RIVAL in text
    )
    row = "| 128,000 | 61 % | 1,000 | 64,000 | 85,333 | **1.52** (1.50 to 1.54) |"
    assert f"| train, Ti/4, batch 512, cuda {row}\n" in text
    assert (
        "| train, S/4, batch 512, cuda | 128,000 |  | 1,000 | 51,200 |  | **2.53** (2.50 to 2.56) |" in text
    )
    assert "bias_gelu" in text and "Not done" not in text


@pytest.mark.parametrize("name", ["README.md", "MEASUREMENTS.md"])
def test_the_same_rival_is_named_everywhere(name):
    assert RIVAL in " ".join((REPOSITORY / name).read_text("utf-8").split())


def test_every_job_is_a_command_that_exists_and_the_first_fit_in_nine_minutes(monkeypatch):
    monkeypatch.setattr(gpu_report, "find_spec", lambda name: name)
    monkeypatch.setattr(gpu_report.shutil, "which", lambda name: name)
    found = all_jobs()
    assert not any(job.missing for job in found)
    commands = [command.split() for job in found for command in job.commands]
    assert len({tuple(words) for words in commands}) == len(commands)
    for words in commands:
        if "-m" in words:
            assert find_spec(words[words.index("-m") + 1])
    first = found[: [job.name for job in found].index("the plain path") + 1]
    assert 15 + sum(job.seconds for job in first) <= 530 and max(job.seconds for job in found) <= 500


def test_what_cannot_be_run_here_says_why(monkeypatch, tmp_path):
    monkeypatch.setattr(gpu_report, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = {job.name: job.missing for job in all_jobs()}
    assert missing["train, batch 512, beside PyTorch"] == "PyTorch is not installed"
    assert "PATH" in missing["memory"]
    assert not missing["train, batch 512"] and not missing["accuracy"]


def test_without_a_gpu_one_line_says_so_and_nothing_is_written(tmp_path):
    with pytest.raises(UserError, match="no GPU can be used"):
        gpu_report.main(["--minutes", "1", "--out", str(tmp_path / "x")])
    assert not list(tmp_path.iterdir())
