"""The card itself is busy with each launch."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("start = max(host, card_free)", "start = max(host, card_free + card.launch_seconds)"),
    )
)
