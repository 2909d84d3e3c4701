"""The lowest loss is in bits: the logarithm has base 2."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.log(twins[caption])", "np.log2(twins[caption])"),
    )
)
