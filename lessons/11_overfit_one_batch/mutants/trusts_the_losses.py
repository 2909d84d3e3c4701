"""The check looks at the losses only, not at the parameters."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (" and np.allclose(params.flat, own.flat, atol=1e-7)", ""),
    )
)
