"""The last tile, which is smaller, is left out."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "        for columns in _tiles(N, tile):\n            S =",
            "        for columns in _tiles(max(N - N % tile, tile), tile):\n            S =",
        ),
    )
)
