"""The gradients are added in the order in which the threads finish."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("import ThreadPoolExecutor", "import ThreadPoolExecutor, as_completed"),
        (
            "list(pool.map(work, range(threads)))",
            "[each.result() for each in as_completed([pool.submit(work, t) for t in range(threads)])]",
        ),
    )
)
