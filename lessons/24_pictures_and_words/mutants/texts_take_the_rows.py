"""dtexts takes dS as it is: the rows of the images instead of the columns of the texts."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "return loss, (scale * (dS @ texts), scale * (dS.T @ images), (dS * S).sum())  # eq. 6, 7, 8",
            "return loss, (scale * (dS @ texts), scale * (dS @ images), (dS * S).sum())  # eq. 6, 7, 8",
        ),
    )
)
