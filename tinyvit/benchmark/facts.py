"""What a reader of measurements wants to know of the machine.

    python -m tinyvit.benchmark.facts

prints it as JSON: the card, driver, versions, and the commit that is measured.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path

import tinyvit
from tinyvit.backend import select_device

_PACKAGES = (
    "numpy",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "torch",
    "triton",
    "nvidia-cublas-cu12",
    "nvidia-cublas",
)


def facts() -> dict[str, str]:
    """Names and values."""
    found = {"card": select_device("gpu").label}
    found |= {
        "driver": _output(
            "nvidia-smi",
            "--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit",
            "--format=csv,noheader",
        )
    }
    found |= {
        "system": platform.platform(),
        "CPU cores": str(os.cpu_count()),
        "Python": platform.python_version(),
    }
    found |= {"tinyvit": tinyvit.__version__, "commit": commit()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def commit() -> str:
    """The commit of the repository, with a plus if files were changed since; empty without a repository."""
    folder = str(Path(tinyvit.__file__).parent)
    name = _output("git", "-C", folder, "rev-parse", "--short", "HEAD")
    changed = name and _output("git", "-C", folder, "status", "--porcelain", "--untracked-files=no", ".")
    return f"{name}+" if changed else name


def _output(*command: str) -> str:
    """What a program prints; nothing if it is missing or fails."""
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    print(json.dumps(facts(), indent=2))
