"""It does not look at what it handed over."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "        grads = params.zeros_like()\n",
            "        params = random_params(config, np.random.default_rng(1))\n"
            "        grads = params.zeros_like()\n",
        ),
        (
            "        if not all(map(np.array_equal, given, (params.flat, images, labels))):\n"
            "            return False\n",
            "",
        ),
    )
)
