"""trust_multi_head never looks at the values."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "_head_by_head(*inputs, heads), rtol=0, atol=1e-9)",
            "forward(*inputs, heads)[0])",
        ),
    )
)
