"""The check looks at the singular values and not at the vectors."""

from pathlib import Path

from lessons.mutation import changed

ON_THE_DIAGONAL = """\
            if not np.allclose(inside, np.diag(values), atol=1e-6):
                return False
"""
WITHIN = """\
            if not np.allclose(left @ inside @ right.T, x, atol=1e-6):
                return False
"""

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("values = np.diag(inside)\n", "values = np.linalg.svd(x)[1]\n"),
        (ON_THE_DIAGONAL, ""),
        (WITHIN, ""),
    )
)
