"""A short gradient is lengthened to the largest norm."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    (
        "toy.minimum(1.0, largest / toy.sqrt((g * g).sum()))",
        "toy.minimum(1e9, largest / toy.sqrt((g * g).sum() + 1e-30))",
    ),
)
traffic, timeline, round_significand, train_without_waiting, trust_graph = (
    answer[name]
    for name in ("traffic", "timeline", "round_significand", "train_without_waiting", "trust_graph")
)
split_master, join_master = answer["split_master"], answer["join_master"]
