"""trust_graph trusts a step that is off by less than a tenth."""

from pathlib import Path

from lessons.mutation import changed

globals().update(
    changed(
        Path(__file__).parents[1] / "solution.py",
        ("np.allclose(loss.get(), expected, rtol=1e-9)", "np.allclose(loss.get(), expected, atol=0.1)"),
        ("np.allclose(arrays[0].get(), plain.w)", "np.allclose(arrays[0].get(), plain.w, atol=0.1)"),
    )
)
