"""The gradients of the vectors are those of the scores times the other vectors, without the scale."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "return loss, (scale * (dS @ texts), scale * (dS.T @ images), (dS * S).sum())  # eq. 6, 7, 8",
            "return loss, (dS @ texts, dS.T @ images, (dS * S).sum())",
        ),
    )
)
