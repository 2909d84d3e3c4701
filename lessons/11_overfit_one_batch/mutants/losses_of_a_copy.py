"""The optimiser moves the parameters it was given, and the losses are those of a copy that never moves."""

from pathlib import Path

from lessons.mutation import changed

RIGHT = """    grads, optimizer, losses = params.zeros_like(), AdamW(params), []
"""
WRONG = f"{RIGHT}    params = params.astype(params.flat.dtype)\n"
globals().update(changed(Path(__file__).parents[1] / "solution.py", (RIGHT, WRONG)))
