"""Training returns the parameters that it began with."""

from pathlib import Path

from lessons.mutation import changed

OPERATION = "train"
SOLUTION = Path(__file__).parents[1] / "solution.py"
RIGHT = """        report(f"epoch {epoch}/{epochs}  loss {np.mean(losses):.3f}")
    return params"""
globals().update(
    changed(
        SOLUTION, (RIGHT, RIGHT.replace("return params", "return init(config, np.random.default_rng(seed))"))
    )
)
