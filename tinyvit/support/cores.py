"""The cores and the memory that this process may use: the machine's, or less in a container.

A container sees the whole machine, but its control groups (cgroups) limit it to a share: cores by a quota of
time per period, memory by a number of bytes. Groups are nested, and the tightest limit counts.
"""

import contextlib
import math
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path, PurePosixPath


def available_cores(root: Path = Path("/")) -> int:
    """Number of cores this process may keep busy; at least 1.

    This is the number of cores it may run on, its quota of processor time, rounded up, or OMP_NUM_THREADS,
    whichever is least. root is the folder that contains proc/ and sys/.
    """
    return min(_cores(root), _openmp_threads())


def _cores(root: Path) -> int:
    """The same without OMP_NUM_THREADS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for quota in _cpu_quotas(root):
        cores = min(cores, math.ceil(quota))
    return max(cores, 1)


def _openmp_threads() -> int:
    """Number of threads that OMP_NUM_THREADS allows, at the outermost of several levels; without it, any.

    Users set it to share a machine, and schedulers for each job: other numerical libraries heed it too.
    """
    with contextlib.suppress(ValueError):
        return max(0, int(os.environ.get("OMP_NUM_THREADS", "").partition(",")[0])) or sys.maxsize
    return sys.maxsize


def cores_of_one(processes: Sequence[Collection[int] | None], which: int, root: Path = Path("/")) -> int:
    """Number of cores one of several processes on this machine may keep busy, if all are busy; at least 1.

    processes are the cores that each may run on; None, if not known, means those of this process. A core that
    several may run on counts for each as a part of one; a quota is shared by all, and OMP_NUM_THREADS is for
    each. If processes is empty, there is only this one.
    """
    if not processes:
        return available_cores(root)
    sets = [range(_cores(root)) if cores is None else cores for cores in processes]
    fair = sum(1 / sum(core in others for others in sets) for core in sets[which])
    quota = min(_cpu_quotas(root), default=math.inf) / len(processes)
    return max(1, math.floor(min(fair, quota, _openmp_threads()) + 1e-9))


def available_memory(root: Path = Path("/")) -> int | None:
    """Bytes of main memory this process may use, given the machine and any limits; None if unknown."""
    limits = list(_memory_limits(root))
    with contextlib.suppress(AttributeError, OSError, ValueError):  # not available on this system
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min((limit for limit in limits if limit > 0), default=None)


def _cpu_quotas(root: Path) -> Iterator[float]:
    """The quotas of all groups, in cores."""
    for folder in _groups(root, "cpu"):
        with contextlib.suppress(OSError, ValueError):  # version 2: 'QUOTA PERIOD', 'max PERIOD' if unlimited
            quota, period = map(int, (folder / "cpu.max").read_text().split())
            yield quota / period
        with contextlib.suppress(OSError, ValueError):  # version 1, where -1 means no quota
            quota = int((folder / "cpu.cfs_quota_us").read_text())
            period = int((folder / "cpu.cfs_period_us").read_text())
            if quota > 0:
                yield quota / period


def _memory_limits(root: Path) -> Iterator[int]:
    """The limits of all groups, in bytes."""
    for folder in _groups(root, "memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):  # version 2 ('max' if unlimited), version 1
            with contextlib.suppress(OSError, ValueError):
                yield int((folder / name).read_text())


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """The folders of this process's groups, innermost first, that may limit what `controller` governs.

    A line of proc/self/cgroup is NUMBER:CONTROLLERS:PATH; in version 2 CONTROLLERS is empty, and there is a
    single tree. A container may see the path as it is on the host, but its own group as the top of the tree.
    The top is therefore included, and some of the folders may not exist.
    """
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except (OSError, ValueError):  # not on Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and controller not in controllers.split(","):
            continue
        # version 1 has a tree for each set of controllers, named after the set and usually each controller
        for tree in {controllers, controller} if controllers else {"", "unified"}:
            inner = PurePosixPath(path.lstrip("/"))
            for group in (inner, *inner.parents):
                if ".." not in group.parts:
                    yield root / "sys/fs/cgroup" / tree / group
