"""The results of a study: computed from its run folders, written as results.json and table.md, and drawn."""

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tinyvit import __version__
from tinyvit.model.cost import multiply_adds, parameter_count
from tinyvit.support.figures import duration
from tinyvit.support.files.atomic import write_atomically
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.studies.paper import Variant
from tinyvit.training.studies.plan import DIVERGED, Plan


def result_of(folder: Path) -> dict[str, Any]:
    """The results of a finished run: accuracy and loss on the test images, its cost, and the time it took.

    All that is not known of a run that diverged is None.
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


def rows_of(plan: Plan, seeds: int) -> list[Row]:
    """All variants, with the runs that are finished."""
    rows = []
    for variant in plan.variants:
        jobs = {seed: plan.job(variant, seed) for seed in range(seeds)}
        done = {seed: result_of(plan.folder(job.name)) for seed, job in jobs.items() if plan.is_finished(job)}
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
        "common": plan.study.usual(plan.size),
        "variants": [
            {
                "name": row.variant.name,
                "settings": row.variant.settings,
                "first": row.variant.first and row.variant.first.settings,
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
    table = [_cells(row) for row in rows]
    headings = list(table[0])
    for heading, empty in (("starts from", "scratch"), ("in the paper", "-")):
        if all(cells[heading] == empty for cells in table):
            headings.remove(heading)
    lines = [f"# {plan.study.question}", "", plan.study.paper, ""]
    lines += ["| " + " | ".join(headings) + " |", "|---|" + "---:|" * (len(headings) - 1)]
    lines += ["| " + " | ".join(cells[heading] for heading in headings) + " |" for cells in table]
    lines += [
        "",
        f"Accuracy on the test images of {plan.dataset} after the last step; nothing was chosen by it.",
        "± is the standard deviation over seeds.",
        "",
        f"`{plan.command(seeds)}`, tinyvit {__version__}",
        "",
    ]
    return "\n".join(lines)


def _cells(row: Row) -> dict[str, str]:
    """A variant's cells of the table, by their headings."""
    variant, accuracy = row.variant, row.mean("accuracy")
    diverged = sum(result["diverged"] for result in row.results)
    costs = (row.mean(key) for key in ("parameters", "multiply_adds", "images_seen"))
    parameters, products, images = ("-" if cost is None else f"{cost:,.0f}" for cost in costs)
    return {
        "variant": variant.name,
        "starts from": variant.first.name if variant.first else "scratch",
        "test accuracy": ("-" if accuracy is None else f"{100 * accuracy:.1f}%")
        + (f" ({diverged} diverged)" if diverged else ""),
        "± over seeds": "-" if row.spread is None else f"{100 * row.spread:.1f}",
        "seeds": str(len(row.results)),
        "parameters": parameters,
        "multiply-adds": products,
        "images seen": images,
        "time of a run": duration(row.mean("seconds")),
        "in the paper": variant.paper or "-",
    }
