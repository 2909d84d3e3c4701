"""The host waits for every operation before it launches the next."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    ("if each.host_waits:", "if True:"),
)
traffic, timeline, round_significand, train_without_waiting, trust_graph = (
    answer[name]
    for name in ("traffic", "timeline", "round_significand", "train_without_waiting", "trust_graph")
)
split_master, join_master = answer["split_master"], answer["join_master"]
