"""What a study has found: computed from its run folders, written as results.json and table.md."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tinyvit.files.atomic import write_atomically
from tinyvit.model.cost import multiply_adds, parameter_count
from tinyvit.runs.folder import RunFolder
from tinyvit.shell.figures import duration
from tinyvit.studies.plan import Plan
from tinyvit.studies.study import Variant
from tinyvit.version import __version__

DIVERGED = "diverged.txt"


def is_finished(folder: Path) -> bool:
    """Whether a run needs no more work: it was evaluated after its last step, or it diverged."""
    if (folder / DIVERGED).is_file():
        return True
    if not (folder / "config.json").is_file():
        return False
    run = RunFolder.open(folder)
    records = run.metrics()
    return bool(records) and records[-1]["step"] >= run.settings().steps


def result_of(folder: Path) -> dict[str, Any]:
    """What a finished run came to: accuracy and loss on the test images, its cost, and how long it took.

    Accuracy and all else that is not known of a run that diverged is None.
    """
    if (folder / DIVERGED).is_file():
        unknown = ("accuracy", "loss", "parameters", "multiply_adds", "images_seen", "seconds")
        return dict.fromkeys(unknown) | {"diverged": True}
    run = RunFolder.open(folder)
    settings, config, last = run.settings(), run.model(), run.metrics()[-1]
    return {
        "accuracy": last["test_accuracy"],
        "loss": last["test_loss"],
        "parameters": parameter_count(config),
        "multiply_adds": multiply_adds(config),
        "images_seen": last["step"] * settings.batch_size,
        "seconds": last["seconds"],
        "diverged": False,
    }


@dataclass(frozen=True)
class Row:
    """A variant and the results of its finished runs, with the seed of each."""

    variant: Variant
    results: tuple[dict[str, Any], ...]

    def of(self, key: str) -> list[Any]:
        """A figure of every run that did not diverge."""
        return [result[key] for result in self.results if not result["diverged"]]

    def mean(self, key: str) -> float | None:
        """The mean over seeds of a figure."""
        return statistics.fmean(self.of(key)) if self.of(key) else None

    @property
    def spread(self) -> float | None:
        """The standard deviation of the accuracy over seeds, from two of them on."""
        return statistics.stdev(self.of("accuracy")) if len(self.of("accuracy")) > 1 else None

    @property
    def diverged(self) -> int:
        """How many runs diverged."""
        return sum(result["diverged"] for result in self.results)


def rows_of(plan: Plan, seeds: int) -> list[Row]:
    """All variants, with the runs that are finished."""
    rows = []
    for variant in plan.variants:
        folders = {seed: plan.folder(plan.job(variant, seed).name) for seed in range(seeds)}
        done = {seed: result_of(folder) for seed, folder in folders.items() if is_finished(folder)}
        rows.append(Row(variant, tuple({"seed": seed} | result for seed, result in done.items())))
    return rows


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
    }


def as_markdown(plan: Plan, seeds: int, rows: Sequence[Row]) -> str:
    """The table that a person reads: a row for each variant, means over its seeds."""
    study = plan.study
    has_paper = any(row.variant.paper for row in rows)
    has_first = any(row.variant.first for row in rows)
    heading = [
        "variant",
        *(["starts from"] if has_first else []),
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
        "",
        f"`{plan.command(seeds)}`, tinyvit {__version__}",
        "",
    ]
    return "\n".join(lines)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"
