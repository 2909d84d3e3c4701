"""All measurements in one command, with parts that are fakes: what fails or hangs costs nothing else."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from tests.tiny_runs import REPOSITORY, assert_one_line
from tinyvit import bench, train
from tinyvit.benchmark import everything, on_gpu
from tinyvit.benchmark.parts import Part, all_parts
from tinyvit.benchmark.report import report


def python(name, code, limit=30, **more):
    return Part(name, f"the part {name}", (sys.executable, "-c", code), limit, **more)


def statuses(out):
    return {part["name"]: part["status"] for part in json.loads((out / "results.json").read_text())["parts"]}


def measured(mode="train", model="Ti/4", batch=512, **more):
    """What `bench --device gpu --json` prints."""
    sides = {"gpu cuda": 4.0, "torch_gpu eager pure": 10.0, "torch_gpu reduce-overhead pure": 5.0}
    return {
        "case": {"model": model, "mode": mode, "batch": batch, "precision": "bf16", "image_size": 32},
        "device": "CuPy on NVIDIA H200",
        "sides": [
            {"name": name, "ms_per_step": ms, "images_per_second": 1e3 * batch / ms, "peak_bytes": 10**9}
            for name, ms in sides.items()
        ],
        "ratios": {name: [ms / 4.0, ms / 3.9] for name, ms in list(sides.items())[1:]},
        "pytorch_trials_ms": {},
        "predicted_ms_per_step": 3.5,
        "share_of_roofline": 0.61,
        "kernels": [
            {
                "name": "bias_gelu",
                "launches": 12,
                "bytes_moved": 10**9,
                "seconds": 3e-4,
                "predicted_seconds": 2e-4,
                "share_of_roofline": 0.7,
            }
        ],
        **more,
    }


def test_a_part_that_fails_hangs_or_is_missing_does_not_stop_the_rest(tmp_path, capsys):
    parts = [
        python("good", "print('all is well')"),
        python("bad", "import sys; print('half'); sys.exit('it broke')"),
        python("slow", "print('begun', flush=True); import time; time.sleep(60)", limit=1),
        Part("absent", "a program that is not there", ("no-such-program-at-all",), 5),
        python("left", "0", left_out="nothing to do"),
        python("last", f"print({json.dumps(measured())!r})", is_json=True),
    ]
    start = time.monotonic()
    assert everything.carry_out(parts, tmp_path) == 1
    assert time.monotonic() - start < 30
    found = statuses(tmp_path)
    assert [found[name] for name in ("good", "bad", "slow", "left", "last")] == [
        "ok",
        "failed with status 1",
        "stopped after 1 s",
        "left out: nothing to do",
        "ok",
    ]
    assert found["absent"].startswith("failed: No such file")
    text = (tmp_path / "report.md").read_text()
    assert "all is well" in text and "it broke" in text and "nothing to do" in text
    assert "| train, Ti/4, batch 512, bf16 | 4.000 | 128,000 | 3.500 | 61 % |" in text
    assert capsys.readouterr().out.count("\n") == len(parts) + 2


def test_an_interruption_loses_nothing_and_the_same_command_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(everything, "commit", lambda: "abc")
    once = tmp_path / "once"
    parts = [
        python("first", f"open({str(once)!r}, 'x'); print('done')"),  # a second time this would fail
        python("second", "print('also done')"),
    ]
    run = everything._run

    def interrupted(part, out):
        if part.name == "second":
            raise KeyboardInterrupt
        return run(part, out)

    with monkeypatch.context() as patch:
        patch.setattr(everything, "_run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            everything.carry_out(parts, tmp_path)
    assert statuses(tmp_path) == {"first": "ok", "second": "interrupted"}
    assert "interrupted" in (tmp_path / "report.md").read_text()
    assert everything.carry_out(parts, tmp_path) == 0
    assert statuses(tmp_path) == {"first": "ok", "second": "ok"}
    monkeypatch.setattr(everything, "commit", lambda: "abd")  # other code: measured anew
    assert everything.carry_out(parts, tmp_path) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no process groups")
def test_what_a_part_has_started_ends_with_it(tmp_path):
    child = "import time; time.sleep(60)"
    start = f"subprocess.Popen([sys.executable, '-c', {child!r}])"
    code = f"import subprocess, sys; p = {start}; print(p.pid)"
    everything.carry_out([python("parent", code)], tmp_path)
    number = int((tmp_path / "parent.txt").read_text())
    for _ in range(100):  # it is killed, and the system takes a moment
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return
        with suppress(OSError, IndexError):
            if open(f"/proc/{number}/stat").read().rsplit(") ", 1)[1][0] == "Z":  # noqa: SIM115
                return
        time.sleep(0.05)
    os.kill(number, signal.SIGKILL)
    pytest.fail("it still runs")


def test_results_that_cannot_be_read_are_started_anew(tmp_path):
    for text in ("", "[]", '{"parts": 3}', '{"parts": [{}]}'):
        (tmp_path / "results.json").write_text(text)
        assert everything.carry_out([python("part", "print(1)")], tmp_path) == 0


def test_the_report_of_nothing_and_of_all():
    assert "Nothing has been measured yet" in report([])
    record = {"seconds": 1.0, "status": "ok", "command": ["x"]}
    facts = {"card": "CuPy on NVIDIA H200", "driver": "570.1", "commit": "abc"}
    text = report(
        [
            record | {"name": "machine", "title": "machine", "result": facts},
            record | {"name": "a", "title": "train, Ti/4", "result": measured()},
            record
            | {"name": "torch-a", "title": "again", "result": measured(ratios={"torch_gpu eager x": [9]})},
            record | {"name": "b", "title": "S/4", "result": measured(model="S/4", kernels=[], ratios={})},
            record | {"name": "gradcheck", "title": "gradient check", "last_lines": ["57 | all right"]},
        ]
    )
    assert text.startswith("# tinyvit on NVIDIA H200\n") and "- driver: 570.1" in text
    assert "**2.53** (2.50 to 2.56), eager pure | **1.27** (1.25 to 1.28), reduce-overhead pure |" in text
    assert "| train, S/4, batch 512, bf16 | 4.000 | 128,000 | 3.500 | 61 % | 1,000 MB | - | - |" in text
    assert text.count("| bias_gelu | 12 | 1,000.0 | 300.0 | 200.0 | 70 % |") == 1
    assert text.count("| train, Ti/4, batch 512, bf16 |") == 1
    assert "57 \\| all right" in text and "What went wrong" not in text


def test_every_part_is_a_command_that_exists(tmp_path):
    parts = all_parts(tmp_path, tmp_path)
    assert len({part.name for part in parts}) == len(parts)
    for part in parts:
        if part.command[:3:2] == (sys.executable, "tinyvit.bench"):
            args = bench.parser().parse_args(list(part.command[3:]))
            bench.check_flags(args)
            assert args.device == "gpu" and args.json and part.is_json
        if part.command[2] == "tinyvit.train":
            assert train.parser().parse_args(list(part.command[3:])).dataset == "cifar10"
    sizes = {
        part.command[part.command.index("--batch-size") + 1]
        for part in parts
        if "--batch-size" in part.command
    }
    assert sizes == {"128", "512", "2048"}
    first = [part.name for part in parts].index("train-bf16-Ti-4-128")
    assert first < [part.name for part in parts].index("train-fp32-Ti-4-128")


def test_parts_that_cannot_be_run_say_why(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    left = {part.name: part.left_out for part in all_parts(tmp_path, None)}
    assert "--data-dir" in left["recipe"] and "not found" in left["sanitizer-memcheck"]
    assert "PyTorch" in left["torch-train-bf16-Ti-4-128"] and "pytest" in left["gpu-tests"]
    assert not left["machine"] and not left["train-bf16-S-4-2048"]


def test_a_recipe_that_was_interrupted_is_resumed(tmp_path):
    (tmp_path / "cifar10").mkdir()
    (tmp_path / "cifar10/last.npz").touch()
    (part,) = [part for part in all_parts(tmp_path, tmp_path) if part.name == "recipe"]
    assert "--resume" in part.command and "--dataset" not in part.command


def test_a_folder_that_cannot_be_made_is_one_line(go, cuda, tmp_path):
    (tmp_path / "file").touch()
    out = tmp_path / "file" / "results"
    assert_one_line(go(bench, "--device", "gpu", "--all", "--out", out), out, "Not a directory")


def test_the_command_runs_the_parts(go, cuda, tmp_path, monkeypatch):
    monkeypatch.setattr(everything, "all_parts", lambda out, data: [python("only", f"print({str(data)!r})")])
    status, out, _ = go(
        bench, "--device", "gpu", "--all", "--out", tmp_path / "a/b", "--data-dir", tmp_path / "data"
    )
    assert status == 0
    assert "the part only: ok" in out and str(tmp_path / "a/b/report.md") in out
    assert (tmp_path / "a/b/only.txt").read_text().strip() == str(tmp_path / "data")


def test_the_kernel_timing_of_a_process_that_fails_is_an_error(monkeypatch):
    def failed(command, **_):
        return subprocess.CompletedProcess(command, 1, stdout="")

    monkeypatch.setattr(on_gpu.subprocess, "run", failed)
    with pytest.raises(RuntimeError, match="status 1"):
        on_gpu._kernel_seconds(bench.Case("nano/8", 32, 2, "train", 1), 1)


def test_the_tests_of_kernels_are_where_the_parts_say():
    parts = {part.name: part for part in all_parts(REPOSITORY, None)}
    for name in ("kernels", "gpu-tests"):
        assert os.path.isdir(parts[name].command[-1]), name
