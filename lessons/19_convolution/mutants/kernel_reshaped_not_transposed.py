"""The kernel's matrix is reshaped to the shape of its transpose."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
_wrong = changed(
    Path(__file__).parents[3] / "tinyvit/ops/convolution.py",
    ("(dy_rows @ matrix.T)", "(dy_rows @ matrix.reshape(matrix.shape[::-1]))"),
)
convolution = _wrong["convolution"]
convolution_backward = _wrong["convolution_backward"]
