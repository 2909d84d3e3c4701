"""The parameters are read in the order of the dict, whatever their names."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    n, norm1 = layer_norm(x, *(params[name] for name in NORM1))",
            "    params = dict(zip(NORM1 + ATTENTION + NORM2 + MLP, params.values(), strict=True))\n    n, norm1 = layer_norm(x, *(params[name] for name in NORM1))",
        ),
    )
)
