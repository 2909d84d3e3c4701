"""The differences that a study is about, and how precise they are.

Every variant i has the accuracies x_ik of its runs. The seed matters about as much for one variant as for
another, so all of them together give one estimate of its spread (lesson 15, eq. 7 and 8):

    s^2 = sum_i sum_k (x_ik - mean_i)^2 / sum_i (n_i - 1)                                  (1)

The means of n and of m runs then differ by chance with the standard error

    e = s sqrt(1/n + 1/m)                                                                  (2)

An estimate from very few runs may be far too small by chance, so there is none until the sum in the
denominator of (1), the degrees of freedom, is large enough.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tinyvit.studies.plan import Plan
from tinyvit.studies.results import Row
from tinyvit.studies.study import Comparison

LEAST_FREEDOM = 8  # from here on, two standard errors are about what chance exceeds in 1 of 20 comparisons


@dataclass(frozen=True)
class Worth:
    """What a comparison came to: accuracy gained (0..1), the gain of each seed that both variants have, and
    the standard error of the gain, which is None if too few variants have two runs to estimate it."""

    comparison: Comparison
    gain: float
    by_seed: tuple[float, ...]
    error: float | None


def worths_of(plan: Plan, rows: Sequence[Row]) -> list[Worth]:
    """Every comparison of a study of which both sides have a run that did not diverge."""
    by_name = {row.variant.name: row for row in rows}
    spread = common_spread(rows)
    found = []
    for comparison in plan.study.comparisons(plan.size):
        added, without = by_name[comparison.added], by_name[comparison.without]
        higher, lower = added.mean("accuracy"), without.mean("accuracy")
        if higher is None or lower is None:
            continue
        counts = [len(row.of("accuracy")) for row in (added, without)]
        found.append(
            Worth(
                comparison,
                higher - lower,
                _by_seed(added, without),
                None if spread is None else spread * math.sqrt(1 / counts[0] + 1 / counts[1]),  #  eq. 2
            )
        )
    return found


def common_spread(rows: Sequence[Row]) -> float | None:
    """The standard deviation of the accuracy over seeds, from all variants, unless there are too few."""
    lists = [row.of("accuracy") for row in rows]
    freedom = sum(len(values) - 1 for values in lists if values)
    if freedom < LEAST_FREEDOM:
        return None
    squares = sum((value - sum(values) / len(values)) ** 2 for values in lists for value in values)
    return math.sqrt(squares / freedom)  #                                                         eq. 1


def worths_as_json(worths: Sequence[Worth]) -> list[dict[str, Any]]:
    """What is written of each comparison into results.json."""
    return [
        vars(worth.comparison)
        | {"gain": worth.gain, "gain_by_seed": list(worth.by_seed), "standard_error": worth.error}
        for worth in worths
    ]


def worths_as_markdown(worths: Sequence[Worth]) -> list[str]:
    """A table with a row for each thing that was compared; none if nothing was."""
    if not worths:
        return []
    places = list(dict.fromkeys(worth.comparison.beside for worth in worths))
    lines = ["", "| points gained by | " + " | ".join(f"in the {place}" for place in places) + " |"]
    lines += ["|---|" + "---:|" * len(places)]
    for name in dict.fromkeys(worth.comparison.name for worth in worths):
        mine = {worth.comparison.beside: worth for worth in worths if worth.comparison.name == name}
        cells = [_points(mine[place]) if place in mine else "-" for place in places]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    errors = {worth.error for worth in worths}
    if errors == {None}:
        return [*lines, "", "Too few variants have two runs to tell what chance does to these differences."]
    return [*lines, "", "± is the standard error of the difference, with one spread for all variants."]


def _points(worth: Worth) -> str:
    error = "" if worth.error is None else f" ± {100 * worth.error:.1f}"
    return f"{round(100 * worth.gain, 1) + 0.0:+.1f}{error}"  # + 0.0: never -0.0


def _by_seed(added: Row, without: Row) -> tuple[float, ...]:
    """The differences of runs with equal seeds, neither of which diverged."""
    first, second = (dict(zip(row.of("seed"), row.of("accuracy"), strict=True)) for row in (added, without))
    return tuple(first[seed] - second[seed] for seed in first if seed in second)
