"""What a study has found, computed from its run folders."""

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tinyvit.model.cost import multiply_adds, parameter_count
from tinyvit.runs.folder import RunFolder
from tinyvit.studies.plan import Plan
from tinyvit.studies.study import Variant

DIVERGED = "diverged.txt"


def is_finished(folder: Path) -> bool:
    """Whether a run needs no more work: it was evaluated after its last step, or it diverged."""
    if (folder / DIVERGED).is_file():
        return True
    if not (folder / "config.json").is_file():
        return False
    run = RunFolder.open(folder)
    records = run.metrics()
    return bool(records) and records[-1].get("step", 0) >= run.settings().steps


def result_of(folder: Path) -> dict[str, Any]:
    """What a finished run came to: accuracy and loss on the test images, accuracy on those that were
    held out, if any, its cost, and how long it took.

    Accuracy and all else that is not known of a run that diverged is None.
    """
    if (folder / DIVERGED).is_file():
        unknown = ("accuracy", "loss", "held_out", "parameters", "multiply_adds", "images_seen", "seconds")
        return dict.fromkeys(unknown) | {"diverged": True}
    run = RunFolder.open(folder)
    settings, config, last = run.settings(), run.model(), run.metrics()[-1]
    return {
        "accuracy": last["test_accuracy"],
        "loss": last["test_loss"],
        "held_out": last.get("val_accuracy"),
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
