"""The weakest patterns are kept."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "root = np.sqrt(S[:rank])\n    return U[:, :rank] * root, Vt[:rank].T * root",
            "root = np.sqrt(S[-rank:])\n    return U[:, -rank:] * root, Vt[-rank:].T * root",
        ),
    )
)
