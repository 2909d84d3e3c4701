"""All ranks keep the whole state."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    update(w[own], g[own])\n    all_gather(w, port)", "    all_gather(g, port)\n    update(w, g)"),
    )
)
