"""The bits are rounded in the memory of x."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    (
        "return np.where(np.isnan(x), x, rounded.view(np.float32))",
        "x[...] = np.where(np.isnan(x), x, rounded.view(np.float32))\n    return x",
    ),
)
traffic, timeline, round_significand, train_without_waiting, trust_graph = (
    answer[name]
    for name in ("traffic", "timeline", "round_significand", "train_without_waiting", "trust_graph")
)
split_master, join_master = answer["split_master"], answer["join_master"]
