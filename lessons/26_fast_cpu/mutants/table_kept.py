"""One table of results is kept for all calls and cleared by each."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("PIECE = 32_768", "kept = {}\nPIECE = 32_768"),
        (
            "    grads = params.zeros_like()\n",
            "    grads = kept.setdefault(params.flat.dtype, params.zeros_like())\n    grads.flat.fill(0)\n",
        ),
    )
)
