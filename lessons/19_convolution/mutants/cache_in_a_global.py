"""What the backward needs is kept in a global, so a second forward overwrites it."""

from pathlib import Path

from lessons.mutation import changed

globals().update(changed(Path(__file__).parents[1] / "solution.py"))
_wrong = changed(
    Path(__file__).parents[3] / "tinyvit/ops/convolution.py",
    (
        "return y.reshape(*X.shape[:3], -1), (x, kernel, cut, padding)",
        "globals()['kept'] = x, kernel, cut, padding\n    return y.reshape(*X.shape[:3], -1), None",
    ),
    ("x, kernel, cut, padding = cache", "x, kernel, cut, padding = kept"),
)
convolution = _wrong["convolution"]
convolution_backward = _wrong["convolution_backward"]
