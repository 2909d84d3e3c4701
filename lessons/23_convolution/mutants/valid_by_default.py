"""Without further arguments, a convolution has VALID padding."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
_wrong = changed(
    Path(__file__).parents[3] / "tinyvit/ops/convolution.py",
    (
        'stride: int = 1, padding: str = "SAME") -> tuple[Array, tuple]:',
        'stride: int = 1, padding: str = "VALID") -> tuple[Array, tuple]:',
    ),
)
convolution = _wrong["convolution"]
convolution_backward = _wrong["convolution_backward"]
