"""Cores and memory: those of the machine, or the share that a container's control groups allow."""

import os

import pytest

from tinyvit.backend import select_device
from tinyvit.support import cores
from tinyvit.support.cores import available_cores, available_memory, cores_of_one
from tinyvit.training.choices import new_settings

GIB = 1 << 30


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """A machine of 16 cores and 64 GiB."""
    pages = {"SC_PHYS_PAGES": 16 << 20, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda process: set(range(16)), raising=False)
    monkeypatch.setattr(cores.os, "sysconf", pages.__getitem__, raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


def system(root, cgroup, files):
    """A system whose /proc/self/cgroup and files below /sys/fs/cgroup are these."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(cgroup)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


def test_without_control_groups_the_machine_counts(tmp_path):
    assert available_cores(tmp_path) == 16
    assert available_memory(tmp_path) == 64 * GIB


def test_the_mask_of_cores_is_respected(tmp_path, monkeypatch):
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda process: {3, 5, 7})
    assert available_cores(tmp_path) == 3
    assert available_cores(system(tmp_path, "0::/\n", {"cpu.max": "200000 100000"})) == 2


def test_a_system_without_masks_counts_its_cores(tmp_path, monkeypatch):
    monkeypatch.delattr(cores.os, "sched_getaffinity")
    monkeypatch.setattr(cores.os, "cpu_count", lambda: 6)
    assert available_cores(tmp_path) == 6
    monkeypatch.setattr(cores.os, "cpu_count", lambda: None)
    assert available_cores(tmp_path) == 1


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ("200000 100000", 2),
        ("150000 100000", 2),
        ("50000 100000", 1),
        ("1000 100000", 1),
        ("100000 50000", 2),
        ("6400000 100000", 16),
        ("max 100000", 16),
        ("", 16),
        ("nonsense", 16),
    ],
)
def test_a_quota_of_version_2_is_rounded_up(tmp_path, quota, expected):
    assert available_cores(system(tmp_path, "0::/\n", {"cpu.max": quota})) == expected


@pytest.mark.parametrize(("quota", "expected"), [("250000", 3), ("1", 1), ("-1", 16), ("0", 16)])
@pytest.mark.parametrize("tree", ["cpu", "cpu,cpuacct"])
def test_a_quota_of_version_1_is_rounded_up(tmp_path, quota, expected, tree):
    files = {f"{tree}/cpu.cfs_quota_us": quota, f"{tree}/cpu.cfs_period_us": "100000"}
    lines = "12:pids:/docker/a\n4:cpu,cpuacct:/\n1:name=systemd:/docker/a\n"
    assert available_cores(system(tmp_path, lines, files)) == expected


def test_the_tightest_of_nested_groups_counts(tmp_path):
    files = {
        "a/cpu.max": "300000 100000",
        "a/b/cpu.max": "max 100000",
        "a/b/c/cpu.max": "800000 100000",
        "a/memory.max": "max",
        "a/b/memory.max": str(4 * GIB),
        "a/b/c/memory.max": str(8 * GIB),
        "other/cpu.max": "100000 100000",
        "other/memory.max": "4096",
    }
    root = system(tmp_path, "0::/a/b/c\n", files)
    assert available_cores(root) == 3
    assert available_memory(root) == 4 * GIB


def test_nested_groups_of_version_1(tmp_path):
    files = {
        "cpu/a/cpu.cfs_quota_us": "500000",
        "cpu/a/cpu.cfs_period_us": "100000",
        "cpu/a/b/cpu.cfs_quota_us": "-1",
        "cpu/a/b/cpu.cfs_period_us": "100000",
        "memory/memory.limit_in_bytes": "9223372036854771712",
        "memory/a/memory.limit_in_bytes": str(2 * GIB),
    }
    root = system(tmp_path, "4:memory:/a/b\n3:cpu,cpuacct:/a/b\n0::/\n", files)
    assert available_cores(root) == 5
    assert available_memory(root) == 2 * GIB


@pytest.mark.parametrize("path", ["/docker/0123abc", "/../../elsewhere"])
def test_a_container_that_sees_its_group_as_the_top_but_its_path_from_outside(tmp_path, path):
    files = {"cpu.max": "200000 100000", "memory.max": str(GIB)}
    root = system(tmp_path, f"0::{path}\n", files)
    assert available_cores(root) == 2
    assert available_memory(root) == GIB


def test_a_limit_beyond_the_machine_does_not_count(tmp_path):
    assert available_memory(system(tmp_path, "0::/\n", {"memory.max": str(1 << 60)})) == 64 * GIB


def test_a_system_that_does_not_tell_its_memory(tmp_path, monkeypatch):
    monkeypatch.delattr(cores.os, "sysconf")
    assert available_memory(tmp_path) is None
    assert available_memory(system(tmp_path, "0::/\n", {"memory.max": str(GIB)})) == GIB


def test_this_very_machine(monkeypatch):
    monkeypatch.undo()
    assert 1 <= available_cores() <= (os.cpu_count() or 1)
    memory = available_memory()
    assert memory is None or memory > 1 << 24


@pytest.mark.parametrize(
    ("processes", "quota", "expected"),
    [
        ([range(8)] * 2, "max 100000", [4, 4]),
        ([range(8)] * 3, "max 100000", [2, 2, 2]),
        ([[0], [1]], "max 100000", [1, 1]),  # each is bound to a core of its own
        ([range(4), range(4, 8)], "max 100000", [4, 4]),
        ([range(4), range(4), range(4, 8)], "max 100000", [2, 2, 4]),
        ([[0]] * 3, "max 100000", [1, 1, 1]),
        ([range(64)] * 2, "600000 100000", [3, 3]),  # they share a quota of six cores
        ([range(64)], "150000 100000", [1]),
    ],
)
def test_the_processes_of_a_machine_share_its_cores(tmp_path, processes, quota, expected):
    root = system(tmp_path, "0::/\n", {"cpu.max": quota})
    processes = [frozenset(cores) for cores in processes]
    assert [cores_of_one(processes, which, root) for which in range(len(processes))] == expected


def test_without_sets_of_cores_all_are_shared(monkeypatch):
    assert cores_of_one([None] * 4, 0) == 4
    assert cores_of_one([None] * 17, 0) == 1
    assert cores_of_one([], 0) == 16  # a process on its own


@pytest.mark.parametrize(
    ("text", "alone", "of_two"),
    [("1", 1, 1), (" 3 ", 3, 3), ("12", 12, 8), ("99", 16, 8), ("6,2", 6, 6)]
    + [(text, 16, 8) for text in ("", "0", "-2", "all", "2.5", "9" * 5000)],
)
def test_each_process_keeps_to_the_number_of_threads_of_openmp(tmp_path, monkeypatch, text, alone, of_two):
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert available_cores(tmp_path) == cores_of_one([], 0, tmp_path) == alone
    for processes in ([None] * 2, [frozenset(range(16))] * 2):
        assert cores_of_one(processes, 1, tmp_path) == of_two
    assert new_settings({}, None, select_device("cpu")).threads == available_cores()
    assert new_settings({"threads": 5}, None, select_device("cpu")).threads == 5
