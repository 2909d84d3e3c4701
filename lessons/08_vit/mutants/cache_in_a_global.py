"""All blocks share one cache, so that each overwrites the last one's: every block needs its own."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    return x + m, (norm1, attn, norm2, hidden)",
            "    KEPT[:] = norm1, attn, norm2, hidden\n    return x + m, None",
        ),
        ("norm1, attn, norm2, hidden = cache", "norm1, attn, norm2, hidden = KEPT"),
        ("def block(x,", "KEPT = []\n\n\ndef block(x,"),
    )
)
