"""The backward takes the cache of whichever model ran last."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "def forward(config,",
            "LAST = []\n\n\ndef forward(config,",
        ),
        (
            "    return logits, (patch, token, position, blocks, norm, x.shape, head)",
            "    LAST[:] = patch, token, position, blocks, norm, x.shape, head\n    return logits, None",
        ),
        (
            "head = cache\n    grads",
            "head = LAST\n    grads",
        ),
    )
)
