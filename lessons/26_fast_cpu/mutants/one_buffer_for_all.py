"""All threads add to one buffer, which is then added up once for each thread."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    def work(thread):\n        own, loss = params.zeros_like(), 0.0",
            "    own = params.zeros_like()\n\n    def work(thread):\n        loss = 0.0",
        ),
    )
)
