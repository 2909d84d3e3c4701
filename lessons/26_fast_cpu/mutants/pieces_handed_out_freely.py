"""As many tables as threads, but any thread takes the next piece: two may add to one table at a time."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        (
            "    def work(thread):\n        own, loss = params.zeros_like(), 0.0\n",
            "    tables = [params.zeros_like() for _ in range(threads)]\n\n"
            "    def work(piece):\n        own, loss = tables[piece % threads], 0.0\n",
        ),
        ("parts[thread::threads]", "parts[piece : piece + 1]"),
        ("list(pool.map(work, range(threads)))", "list(pool.map(work, range(pieces)))"),
        ("for _, own in results:", "for own in tables:"),
    )
)
