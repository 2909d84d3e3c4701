"""The picture of a study, of what is finished so far."""

from collections.abc import Callable, Sequence

from tinyvit.pictures.study import Found, draw_lines, draw_rows
from tinyvit.pictures.worth import Difference, draw_worth
from tinyvit.shell.figures import duration
from tinyvit.studies.plan import Plan
from tinyvit.studies.results import Row
from tinyvit.studies.worth import worths_of


def draw(plan: Plan, rows: Sequence[Row]) -> None:
    """Draw picture.png into the study's folder, if a run has an accuracy."""
    study = plan.study
    found = [
        Found(
            row.variant.name,
            row.of("accuracy"),
            row.variant.lines,
            row.mean(study.measured_x) if study.measured_x else row.variant.x,
        )
        for row in rows
    ]
    if not any(one.values for one in found):
        return
    seeds = max(len(row.results) for row in rows)
    subtitle = f"{plan.dataset}, {plan.size}; dots: {seeds} seed{'s' if seeds != 1 else ''}"
    path = plan.out / "picture.png"
    if differences := _differences(plan, rows):
        draw_worth(study.question, subtitle, differences, path)
    elif study.x_name:
        draw_lines(study.question, subtitle, found, study.x_name, _label(plan), path)
    else:
        draw_rows(study.question, subtitle, found, path)


def _differences(plan: Plan, rows: Sequence[Row]) -> list[Difference]:
    """What the study's comparisons have come to, in points."""
    return [
        Difference(
            worth.comparison.name,
            worth.comparison.beside,
            100 * worth.gain,
            [100 * gain for gain in worth.by_seed],
            worth.error and 100 * worth.error,
        )
        for worth in worths_of(plan, rows)
    ]


def _label(plan: Plan) -> Callable[[float], str]:
    if plan.study.percent:
        return lambda x: f"{100 * x:g} %"
    return {"multiply_adds": _short, "seconds": duration}.get(plan.study.measured_x, lambda x: f"{x:g}")


def _short(number: float) -> str:
    """A large number in three digits: 940 k, 3.8 M, 12 G."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= unit:
            return f"{number / unit:.3g} {name}"
    return f"{number:g}"
