"""The gradient of the weight is written over that of W'."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "dweight = gain[:, None] * dfolded_weight + np.outer(offset, dfolded_bias)  # eq. 6",
            "dweight = dfolded_weight\n    dweight *= gain[:, None]\n"
            "    dweight += np.outer(offset, dfolded_bias)",
        ),
    )
)
