"""No rank learns of the updates of the others."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    update(w[own], g[own])\n    all_gather(w, port)", "    update(w[own], g[own])"),
    )
)
