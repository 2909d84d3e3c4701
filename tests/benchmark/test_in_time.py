"""Measurements on a GPU in a given time, with commands that are fakes: it ends in time, and loses nothing."""

import json
import os
import shlex
import shutil
import signal
import time
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from tests.benchmark.test_worker import is_running
from tests.tiny_runs import REPOSITORY, assert_one_line
from tinyvit import bench
from tinyvit.benchmark import in_time, jobs
from tinyvit.benchmark.flags import check_flags
from tinyvit.benchmark.jobs import Job, all_jobs
from tinyvit.benchmark.on_gpu import RIVAL
from tinyvit.benchmark.results_page import page


def python(code):
    return f"python -c {shlex.quote(code)}"


def with_card(card):
    facts = {"machine": {"card": card}, "ceilings": {"a copy": "3 GB/s"}}
    return python(f"print({json.dumps(facts)!r})")


@pytest.fixture
def measure(monkeypatch, tmp_path):
    """measure(jobs ...) for a minute, or for `minutes`: the exit status, and what each command came to."""

    def call(*jobs, minutes=1, card="H100"):
        monkeypatch.setattr(in_time, "MACHINE", with_card(card))
        monkeypatch.setattr(in_time, "all_jobs", lambda: jobs)
        status = in_time.measure(minutes, tmp_path)
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


@pytest.mark.parametrize("what", ["sources", "card"])
def test_what_other_sources_or_another_card_have_found_is_not_taken_for_this(
    measure, monkeypatch, tmp_path, what
):
    once = python(f"open({str(tmp_path / 'once')!r}, 'x')")
    assert measure(Job("once", 9, [once]))[0] == 0
    monkeypatch.setattr(in_time, "sources", (lambda: "others") if what == "sources" else in_time.sources)
    assert measure(Job("once", 9, [once]), card="H200" if what == "card" else "H100")[0] == 1
    assert len(list(tmp_path.glob("results-*.json"))) == 2


def test_the_digest_is_one_of_kernels_too(monkeypatch, tmp_path):
    package = tmp_path / "tinyvit"
    shutil.copytree(REPOSITORY / "tinyvit" / "engine", package / "engine")
    monkeypatch.setattr(in_time, "tinyvit", SimpleNamespace(__file__=str(package / "__init__.py")))
    found = {in_time.sources()}
    for name in ("engine/reference.py", "engine/cuda/kernels/gelu.cu", "engine/cuda/kernels/tiles.cuh"):
        (package / name).write_text("// changed")
        found.add(in_time.sources())
    assert len(found) == 4


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


def test_what_one_command_leaves_over_is_for_the_next_of_its_job(measure, monkeypatch):
    limits, real = [], in_time.run
    monkeypatch.setattr(
        in_time, "run", lambda command, seconds: limits.append(seconds) or real(command, seconds)
    )
    measure(Job("two", 20, [python("1"), python("2")]))
    assert 15 < limits[2] < limits[1] <= 20


def result(model="Ti/4", way="", ms=5.0, **more):
    """What `bench --device gpu --json` prints, where tinyvit takes 4 ms."""
    case = {
        "model": model,
        "image_size": 32,
        "batch": 512,
        "mode": "train",
        "threads": 1,
        "precision": "bf16",
    }
    speeds = {"gpu cuda": 4.0} | ({f"torch_gpu reduce-overhead {way}": ms} if way else {})
    sides = [
        {"name": name, "ms_per_step": ms, "images_per_second": 512e3 / ms, "peak_bytes": 10**9}
        for name, ms in speeds.items()
    ]
    ratios = {name: [ms / 4.0, ms / 3.9] for name, ms in speeds.items() if name != "gpu cuda"}
    common = {"device": "CuPy on NVIDIA H100", "pytorch_trials_ms": {}}
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
    monkeypatch.setattr(jobs, "find_spec", lambda name: name)
    monkeypatch.setattr(jobs.shutil, "which", lambda name: name)
    found = all_jobs()
    assert not any(job.missing for job in found)
    commands = [command.split() for job in found for command in job.commands]
    assert len({tuple(words) for words in commands}) == len(commands)
    for words in commands:
        if "tinyvit.bench" in words:
            check_flags(bench.parser().parse_args(words[3:]))
        elif "-m" in words:
            assert find_spec(words[words.index("-m") + 1])
    first = found[: [job.name for job in found].index("the plain path") + 1]
    assert 15 + sum(job.seconds for job in first) <= 530 and max(job.seconds for job in found) <= 500


def test_what_cannot_be_run_here_says_why(monkeypatch, tmp_path):
    monkeypatch.setattr(jobs, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(jobs, "tinyvit", SimpleNamespace(__file__=str(tmp_path / "tinyvit/__init__.py")))
    missing = {job.name: job.missing for job in all_jobs()}
    assert missing["train, batch 512, beside PyTorch"] == "PyTorch is not installed"
    assert "not here" in missing["tests"] and "PATH" in missing["memory"]
    assert not missing["train, batch 512"] and not missing["accuracy"]


@pytest.mark.parametrize(
    ("flags", "parts"),
    [
        (("--minutes", "9"), ("--device gpu",)),
        (("--minutes", "9", "--device", "gpu"), ("--out",)),
        (("--out", "x", "--device", "gpu"), ("--minutes",)),
        (("--model", "Ti/4"), ("--model", "one case")),
        (("--batch-size", "128"), ("--batch-size", "one case")),
        (("--vs", "torch"), ("--vs", "one case")),
        (("--json",), ("--json", "one case")),
        (("--predict", "H100"), ("--predict", "one case")),
    ],
)
def test_flags_that_it_would_ignore_are_refused(go, tmp_path, flags, parts):
    whole = (
        ()
        if {"--minutes", "--out"} & set(flags)
        else ("--device", "gpu", "--minutes", "9", "--out", tmp_path)
    )
    assert_one_line(go(bench, *whole, *flags), *parts)


def test_without_a_gpu_one_line_says_so_and_nothing_is_written(go, tmp_path):
    assert_one_line(
        go(bench, "--device", "gpu", "--minutes", "1", "--out", tmp_path / "x"), "no GPU can be used"
    )
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_one_line(go, monkeypatch, tmp_path):
    monkeypatch.setattr(in_time, "MACHINE", with_card("H100"))
    (tmp_path / "file").touch()
    out = tmp_path / "file" / "results"
    assert_one_line(go(bench, "--device", "gpu", "--minutes", "1", "--out", out), out, "--out")
