"""The tokens are put into the first places, with mask tokens behind them."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("z[np.arange(len(y))[:, None], seen] = y", "z[:, : y.shape[1]] = y"),
    )
)
