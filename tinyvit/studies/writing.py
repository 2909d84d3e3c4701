"""What a study has found, written down as results.json and table.md."""

import json
from collections.abc import Sequence
from typing import Any

from tinyvit import __version__
from tinyvit.files.atomic import write_atomically
from tinyvit.shell.figures import duration
from tinyvit.studies.plan import Plan
from tinyvit.studies.results import Row
from tinyvit.studies.worth import worths_as_json, worths_as_markdown, worths_of


def write_results(plan: Plan, seeds: int, rows: Sequence[Row]) -> None:
    """Write results.json and table.md into the study's folder."""
    text = json.dumps(as_json(plan, seeds, rows), indent=2) + "\n"
    write_atomically(plan.out / "results.json", lambda file: file.write(text.encode()))
    table = as_markdown(plan, seeds, rows)
    write_atomically(plan.out / "table.md", lambda file: file.write(table.encode()))


def as_json(plan: Plan, seeds: int, rows: Sequence[Row]) -> dict[str, Any]:
    """Everything that was found, run by run and variant by variant."""
    return {
        "study": plan.name,
        "question": plan.study.question,
        "paper": plan.study.paper,
        "dataset": plan.dataset,
        "size": plan.size,
        "command": plan.command(seeds),
        "tinyvit": __version__,
        "common": dict(plan.study.usual(plan.size)),
        "variants": [
            {
                "name": row.variant.name,
                "settings": dict(row.variant.settings),
                "first": row.variant.first and dict(row.variant.first.settings),
                "paper": row.variant.paper or None,
                "mean_accuracy": row.mean("accuracy"),
                "spread": row.spread,
                "runs": list(row.results),
            }
            for row in rows
        ],
        "comparisons": worths_as_json(worths_of(plan, rows)),
    }


def as_markdown(plan: Plan, seeds: int, rows: Sequence[Row]) -> str:
    """The table that a person reads: a row for each variant, means over its seeds."""
    study = plan.study
    has_paper = any(row.variant.paper for row in rows)
    has_first = any(row.variant.first for row in rows)
    in_rounds = study.rounds > 1
    heading = [
        "variant",
        *(["starts from"] if has_first else []),
        *(["held out"] if in_rounds else []),
        "test accuracy",
        "± over seeds",
        "seeds",
        "parameters",
        "multiply-adds",
    ]
    heading += ["images seen", "time of a run", *(["in the paper"] if has_paper else [])]
    lines = [f"# {study.question}", "", study.paper, ""]
    lines += ["| " + " | ".join(heading) + " |", "|---|" + "---:|" * (len(heading) - 1)]
    for row in rows:
        cells = [
            row.variant.name,
            *([row.variant.first.name if row.variant.first else "scratch"] if has_first else []),
            *([_percent(row.mean("held_out"))] if in_rounds else []),
            _percent(row.mean("accuracy")) + (f" ({row.diverged} diverged)" if row.diverged else ""),
            "-" if row.spread is None else f"{100 * row.spread:.1f}",
            str(len(row.results)),
            *(_whole(row.mean(key)) for key in ("parameters", "multiply_adds", "images_seen")),
            duration(row.mean("seconds")),
            *([row.variant.paper or "-"] if has_paper else []),
        ]
        lines.append("| " + " | ".join(cells) + " |")

    lines += [
        "",
        f"Accuracy on the test images of {plan.dataset} after the last step; nothing was chosen by it.",
        "± is the standard deviation over seeds.",
        *(["By the images held out, the better half of each round goes on."] if in_rounds else []),
        *worths_as_markdown(worths_of(plan, rows)),
        "",
        f"`{plan.command(seeds)}`, tinyvit {__version__}",
        "",
    ]
    return "\n".join(lines)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"
