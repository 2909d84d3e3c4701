"""The kernel is turned upside down and left to right, as mathematicians do in a convolution."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
_wrong = changed(
    Path(__file__).parents[3] / "tinyvit/ops/convolution.py",
    (
        "y = X.reshape(-1, len(matrix)) @ matrix",
        "y = X[:, :, :, ::-1, ::-1].reshape(-1, len(matrix)) @ matrix",
    ),
    ("dmatrix = X.reshape", "dmatrix = X[:, :, :, ::-1, ::-1].reshape"),
    ("(dy_rows @ matrix.T).reshape(X.shape)", "(dy_rows @ matrix.T).reshape(X.shape)[:, :, :, ::-1, ::-1]"),
)
convolution = _wrong["convolution"]
convolution_backward = _wrong["convolution_backward"]
