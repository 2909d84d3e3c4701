"""The first columns of the product are kept."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    root = np.sqrt(S[:rank])\n    return U[:, :rank] * root, Vt[:rank].T * root",
            "    return product[:, :rank], np.eye(product.shape[1])[:, :rank]",
        ),
    )
)
