"""`python -m tinyvit.compare RUN RUN...`: show how runs differ, how well each did, and their curves."""

import argparse
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinyvit.flags import add_json_flag
from tinyvit.insight.pictures.curves import draw_comparison, judging_images
from tinyvit.support.errors import UserError, printable
from tinyvit.support.figures import duration, short_names
from tinyvit.support.shell.command import make_parser, png_path, run_command, some_path, usual_png
from tinyvit.training.evaluation import COLOURS_RIGHT, rank
from tinyvit.training.run_folder import RunFolder

OUT = Path("compare.png")
LONGEST_NAME = 32  # characters of a run's name in the table
_TWO_TASKS = "these runs learn different tasks, whose losses and accuracies cannot be compared"

_EPILOG = """\
examples:
  python -m tinyvit.compare runs/shapes-1 runs/shapes-2
  python -m tinyvit.compare runs/cifar10-* --out curves.png
  python -m tinyvit.compare runs/cifar10-* --json
"""

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Run:
    """A run to compare: its settings and the records of metrics.jsonl, empty before the first epoch ends.

    changed lists the changes of settings on resuming (see run_folder.changes_in); classes are class names.
    """

    name: str
    settings: dict[str, Any]
    records: list[Record]
    changed: list[dict[str, Any]] = field(default_factory=list)
    classes: tuple[str, ...] = ()

    @property
    def target(self) -> str | None:
        """The target of learning without labels; None if the run learns labels."""
        return self.settings.get("target")

    def values(self, setting: str) -> dict[int, Any]:
        """The values that a setting has had, by the first step that each holds for."""
        pairs = {change["step"]: change[setting] for change in self.changed if setting in change}
        first = next(iter(pairs.values()))[0] if pairs else self.settings[setting]
        return {1: first} | {step: new for step, (_, new) in pairs.items()}

    @property
    def judged_on(self) -> str:
        """'validation' or 'test': the images by which the best epoch is chosen."""
        return judging_images(self.records)

    def value(self, what: str, record: Record) -> float | None:
        """'loss' or 'accuracy' of a record, on the images of judged_on; None if it was not measured."""
        return record.get(f"{'val' if self.judged_on == 'validation' else 'test'}_{what}")

    @property
    def best(self) -> Record | None:
        """The record of the epoch in best.npz: the most accurate one; ties are broken by the lower loss.

        Of a run without labels, it is the one with the lowest loss.
        """
        by_loss = self.target is not None
        measured = [r for r in self.records if self.value("loss" if by_loss else "accuracy", r) is not None]

        def quality(record: Record) -> tuple[float, ...]:
            loss = self.value("loss", record)  # unmeasured ones are equal, and infinite ones come last
            loss = 0.0 if loss is None else loss if math.isfinite(loss) else math.inf
            return rank(self.value("accuracy", record), loss, by_loss)

        return max(measured, key=quality, default=None)


def main(args: argparse.Namespace) -> None:
    """Read the runs, print how they differ, and draw their curves."""
    if len(args.runs) < 2:
        raise UserError(f"{args.runs[0]} alone cannot be compared: give at least two runs.")
    out = args.out or (None if args.json else usual_png(OUT))
    runs = [read_run(path, name) for path, name in zip(args.runs, short_names(args.runs), strict=True)]
    aside = sys.stderr if args.json else sys.stdout  # the JSON stands alone
    of_two_tasks = len({run.target for run in runs}) > 1
    has_curves = any(run.records for run in runs)
    if out and has_curves and not of_two_tasks:  # before anything is printed, whose reader may leave
        accuracy = COLOURS_RIGHT if runs[0].target else "accuracy"
        draw_comparison([(run.name, run.records) for run in runs], out, accuracy)
    if args.json:
        print(json.dumps(as_json(runs, args.runs), indent=2))
    else:
        print_table(runs)
        print()
    if of_two_tasks:
        print(f"{_TWO_TASKS}: no curves are drawn", file=aside)
        return
    if not runs[0].target and len({run.classes for run in runs}) > 1:
        print(f"{_TWO_TASKS}, since their classes differ", file=aside)
    if out and not has_curves:
        raise UserError("there are no curves to draw: wait until one of these runs has finished an epoch.")
    if out:
        print(f"wrote {out}", file=aside)


def read_run(path: Path, name: str) -> Run:
    """A run's settings and records. Raises UserError if they cannot be read."""
    run = RunFolder.open(path)
    return Run(name, run.settings().as_dict(), list(run.metrics()), run.changed(), run.classes())


def differing_settings(runs: Sequence[Run]) -> list[str]:
    """The names of the settings that differ between the runs at any time, in the order of Settings."""
    first, *others = runs
    return [
        name for name in first.settings if any(other.values(name) != first.values(name) for other in others)
    ]


def print_table(runs: Sequence[Run]) -> None:
    """Print a column for each run: the settings that differ, then how well the run did."""
    differing = differing_settings(runs)
    settings = [[name.replace("_", " "), *(_words(run.values(name)) for run in runs)] for name in differing]
    without_labels = all(run.target for run in runs)
    columns = [_figures(run, without_labels) for run in runs]
    figures = [[label, *(column[label] for column in columns)] for label in columns[0]]
    names = [printable(run.name) for run in runs]
    short = [_shortened(name) for name in names]
    heading = ["", *(short if len({*short}) == len({*names}) else names)]
    widths = [max(map(len, column)) for column in zip(heading, *settings, *figures, strict=True)]

    def show(row: Sequence[str]) -> None:
        print("   ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())

    show(heading)
    for row in settings:
        show(row)
    if not settings:
        print("all settings are the same")
    print()
    for row in figures:
        show(row)


def as_json(runs: Sequence[Run], paths: Sequence[Path]) -> dict[str, Any]:
    """The settings that differ, and each run's best and last record, as an object for JSON."""
    differing = differing_settings(runs)
    return {
        "differing_settings": differing,
        "runs": [
            {
                "run": str(path),
                "settings": {name: run.settings[name] for name in differing},
                "changed": run.changed,
                "judged_on": run.judged_on,
                "best": _without_nan(run.best),
                "last": _without_nan(run.records[-1] if run.records else None),
            }
            for path, run in zip(paths, runs, strict=True)
        ],
    }


def _figures(run: Run, without_labels: bool) -> dict[str, str]:
    """Label and text of each figure in the table; without_labels is true if all of its runs predict patches.

    The accuracy of such a run is the share of colours that it predicts right: beside runs with labels, it is
    left out.
    """
    best, last = run.best or {}, run.records[-1] if run.records else {}
    tested = [r["test_accuracy"] for r in run.records if r.get("test_accuracy") is not None]
    found = run.value("accuracy", best), run.value("accuracy", last), tested[-1] if tested else None
    if run.target and not without_labels:
        found = None, None, None
    of_best, of_last, of_test = (_figure(share, ".1%") for share in found)
    right = COLOURS_RIGHT if without_labels else "accuracy"
    return {
        "epochs done": str(len(run.records)),
        "judged on": f"{run.judged_on} images",
        "best epoch": str(best.get("epoch", "-")),
        f"{right} at best epoch" if without_labels else f"best {right}": of_best,
        "loss at best epoch": _figure(run.value("loss", best), ".4f"),
        f"last {right}": of_last,
        "last loss": _figure(run.value("loss", last), ".4f"),
        "last training loss": _figure(last.get("train_loss"), ".4f"),
        f"last test {right}": of_test,
        "time": duration(last.get("seconds")),
    }


def _words(values: Mapping[int, Any]) -> str:
    """The values of a setting as text, such as '0.001, from step 6 0.0003'."""
    first, *others = values.items()
    return ", ".join([_word(first[1]), *(f"from step {step:,} {_word(value)}" for step, value in others)])


def _word(value: Any) -> str:
    """A setting as text."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else printable(str(value))


def _shortened(name: str) -> str:
    """The name, or its two ends, which are where the names of runs usually differ."""
    half = (LONGEST_NAME - 3) // 2
    return name if len(name) <= LONGEST_NAME else f"{name[:half]}...{name[-half:]}"


def _figure(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _without_nan(record: Record | None) -> dict[str, Any] | None:
    """The record with None in place of numbers that JSON cannot represent."""
    if record is None:
        return None
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in record.items()}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("compare", __doc__, _EPILOG)
    p.add_argument(
        "runs", type=some_path, nargs="+", metavar="RUN", help="run folders of tinyvit.train, at least two"
    )
    p.add_argument(
        "--out",
        type=png_path,
        metavar="PNG",
        help=f"where to draw the curves (default: {OUT}; with --json they are drawn only if this is given)",
    )
    add_json_flag(p, "the comparison as JSON")
    return p


if __name__ == "__main__":
    run_command(parser(), main)
