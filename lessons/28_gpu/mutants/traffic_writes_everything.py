"""Every result is written to memory, wanted or not."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ("made & wanted)", "made)"),
)
traffic, timeline, round_significand, train_without_waiting, trust_graph = (
    answer[name]
    for name in ("traffic", "timeline", "round_significand", "train_without_waiting", "trust_graph")
)
split_master, join_master = answer["split_master"], answer["join_master"]
