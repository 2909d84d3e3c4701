"""The two halves are put side by side, as if the shadow had never been rounded up."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ("upper = shadow - (rest >> np.uint16(15))", "upper = shadow"),
)
traffic, timeline, round_significand, train_without_waiting, trust_graph = (
    answer[name]
    for name in ("traffic", "timeline", "round_significand", "train_without_waiting", "trust_graph")
)
split_master, join_master = answer["split_master"], answer["join_master"]
