"""All losses are read when training is over: nobody sees when it goes wrong."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("        if len(unread) == every:\n", "    while unread:\n        if True:\n"),
        ("sum(map(float, unread)) / every", "sum(map(float, unread[:every])) / every"),
        ("unread.clear()", "del unread[:every]"),
    )
)
