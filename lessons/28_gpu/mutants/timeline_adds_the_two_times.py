"""Arithmetic waits until all bytes are there: the two times are added."""

from pathlib import Path

from lessons.mutation import changed

answer = changed(
    Path(__file__).parents[1] / "solution.py",
    (
        "max(arithmetic, each.bytes_moved / card.bytes_a_second)",
        "arithmetic + each.bytes_moved / card.bytes_a_second",
    ),
)
traffic, timeline, round_significand, train_without_waiting, trust_graph = (
    answer[name]
    for name in ("traffic", "timeline", "round_significand", "train_without_waiting", "trust_graph")
)
split_master, join_master = answer["split_master"], answer["join_master"]
