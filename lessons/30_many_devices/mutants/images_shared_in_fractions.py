"""Images are divided like butter."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("math.ceil(images / ranks)", "images / ranks"),
    )
)
