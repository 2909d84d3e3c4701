"""The gradient of the kernel is computed with O rows, and reshaped as if it had O columns."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
_wrong = changed(
    Path(__file__).parents[3] / "tinyvit/ops/convolution.py",
    ("dmatrix = X.reshape(-1, len(matrix)).T @ dy_rows", "dmatrix = dy_rows.T @ X.reshape(-1, len(matrix))"),
)
convolution = _wrong["convolution"]
convolution_backward = _wrong["convolution_backward"]
