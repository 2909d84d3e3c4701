"""The bits that do not fit are cut off."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ("pattern + (half - np.uint32(1) + last)", "pattern"),
)
traffic, timeline, round_significand, train_without_waiting, trust_graph = (
    answer[name]
    for name in ("traffic", "timeline", "round_significand", "train_without_waiting", "trust_graph")
)
split_master, join_master = answer["split_master"], answer["join_master"]
