"""Time single operations on this machine, and write measured.json beside this file.

    python -m lessons.25_memory.figures.measure

takes half a minute on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path

import numpy as np

from tinyvit.engine import available_cores

from .operations import measure_operations

HERE = Path(__file__).parent


def main() -> None:
    """Measure, and write the file."""
    p = argparse.ArgumentParser(description="Measure lesson 25's figures on this machine.")
    p.add_argument("--seconds", type=float, default=0.5, help="for each operation (default: 0.5)")
    p.add_argument("--output", type=Path, default=HERE / "measured.json")
    args = p.parse_args()
    result = {"machine": machine(1), "operations": measure_operations(args.seconds)}
    args.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def machine(threads: int) -> dict:
    """The machine in words, without its name."""
    words = platform.processor() or platform.machine()
    if (info := Path("/proc/cpuinfo")).is_file():
        names = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line
        ]
        words = names[0] if names else words
    huge = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "processor": words,
        "cores": available_cores(),
        "threads": threads,
        "system": f"{platform.system()} {platform.machine()}",
        "huge_pages": huge.read_text().split("[")[1].split("]")[0] if huge.is_file() else None,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": f"{blas.get('name')} {blas.get('version')}",
    }


if __name__ == "__main__":
    main()
