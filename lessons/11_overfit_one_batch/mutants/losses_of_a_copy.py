"""The optimiser moves the parameters it was given, and the losses are those of a copy that never moves."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    grads, optimizer, losses = params.zeros_like(), AdamW(params), []\n    for step",
            "    grads, optimizer, losses = params.zeros_like(), AdamW(params), []\n    params = params.astype(params.flat.dtype)\n    for step",
        ),
    )
)
