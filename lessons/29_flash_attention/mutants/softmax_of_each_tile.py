"""Each tile has a softmax of its own, and the outputs are added."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "            now = np.maximum(largest, S.max(axis=1, keepdims=True))\n"
            "            shrink = np.exp(largest - now)  # 0 the first time\n",
            "            now, shrink = S.max(axis=1, keepdims=True), 1\n",
        ),
        (
            "            total = total * shrink + shares.sum(axis=1, keepdims=True)\n"
            "            mix = mix * shrink + shares @ v[columns]\n",
            "            total = shares.sum(axis=1, keepdims=True)\n"
            "            mix = mix + shares / total @ v[columns]\n",
        ),
        ("o[rows] = mix / total", "o[rows] = mix"),
    )
)
