"""The last tile is filled up with keys of zeros, whose score of 0 counts."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "        for columns in _tiles(N, tile):\n            S = asking @ k[columns].T  # (t, t)",
            "        for columns in _tiles(N, tile):\n"
            "            keys = np.zeros((tile, K), k.dtype)\n"
            "            keys[: len(k[columns])] = k[columns]\n"
            "            S = asking @ keys.T",
        ),
        ("shares @ v[columns]", "shares[:, : len(v[columns])] @ v[columns]"),
    )
)
