"""The weights decay after the step instead of before it."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("    w = w - lr * weight_decay * w  # eq. adam 5\n", ""),
        (
            "    return w - lr * m_hat / (np.sqrt(v_hat) + eps), m, v",
            "    return (w - lr * m_hat / (np.sqrt(v_hat) + eps)) * (1 - lr * weight_decay), m, v",
        ),
    )
)
