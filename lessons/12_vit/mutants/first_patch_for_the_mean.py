"""The first token is pooled even where the mean is asked for."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "written_out.py",
        (
            "x, pool = (ops.token_pool if config.has_token else ops.mean_pool)(x)",
            "x, pool = ops.token_pool(x)",
        ),
        (
            "dx = (ops.token_pool_backward if config.has_token else ops.mean_pool_backward)(dx, pool)",
            "dx = ops.token_pool_backward(dx, pool)",
        ),
    )
)
