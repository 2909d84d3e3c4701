"""Carrying out a study: the runs that are missing, one after another, until all are done or time is up."""

import math
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from tinyvit.support.errors import UserError
from tinyvit.support.figures import duration, percent
from tinyvit.support.files.atomic import write_atomically
from tinyvit.support.shell.progress import Progress
from tinyvit.training.build_trainer import RunContext
from tinyvit.training.loop import Diverged
from tinyvit.training.run_trainer import Pictures
from tinyvit.training.session import train
from tinyvit.training.signals import NO_READER, OUT_OF_TIME
from tinyvit.training.studies.plan import DIVERGED, Job, Plan
from tinyvit.training.studies.results import result_of, rows_of, write_results


def carry_out(
    plan: Plan,
    seeds: int,
    where: Mapping[str, Any],
    deadline: float = math.inf,
    pictures: Pictures | None = None,
) -> int:
    """Make the missing runs of a study; returns the exit status, 0 also if the time was up.

    where holds the settings that say where to compute and where the data are. The deadline is a time of
    time.monotonic().
    """
    jobs = list(plan.jobs(seeds))
    for number, job in enumerate(jobs, 1):
        if plan.is_finished(job):
            continue
        if time.monotonic() >= deadline:
            return 0
        progress = RunProgress(f"{number:>{len(str(len(jobs)))}}/{len(jobs)}  {job.name}")
        status = make_run(plan, job, where, deadline, RunContext(progress, pictures=pictures))
        if status == 128 + OUT_OF_TIME:
            return 0
        if status == 128 + NO_READER:
            raise BrokenPipeError  # it ends quietly, as all but the commands that train one run
        if status:
            return status
        folder = plan.folder(job.name)
        if not plan.is_finished(job):
            raise UserError(
                f"{folder} is trained, but its figures could not be written: make room, and run this again."
            )
        write_results(plan, seeds, rows_of(plan, seeds))
        progress.run_finished(result_of(folder))
    return 0


def make_run(plan: Plan, job: Job, where: Mapping[str, Any], deadline: float, context: RunContext) -> int:
    """Start or resume a run; returns its exit status.

    If it diverges, or starts from a run that did, a file in its folder says so.
    """
    folder = plan.folder(job.name)
    run = partial(train, deadline=deadline, progress=context.progress, pictures=context.pictures)
    try:
        if (folder / "config.json").is_file():
            return run(dict(where), resume=folder)
        chosen = job.chosen | dict(where)
        if job.first:
            if (plan.folder(job.first) / DIVERGED).is_file():
                raise Diverged(f"{job.first}, which it starts from, diverged.")
            chosen |= {"weights": str(plan.folder(job.first)), "model": job.first}
        return run(chosen, out=folder)
    except Diverged as error:
        folder.mkdir(parents=True, exist_ok=True)
        text = f"{error}\n".encode()
        write_atomically(folder / DIVERGED, lambda file: file.write(text))
        return 0


class RunProgress(Progress):
    """Shows a run of a study: a line that moves while it trains, and one that stays when it is finished."""

    def __init__(self, title: str):
        super().__init__()
        self._title = title

    def header(self, *parts: str) -> None:
        """Nothing: the title says enough."""

    def outcome(self, *lines: str) -> None:
        """Nothing: what to do next is the study's business."""

    def unread(self, *lines: str) -> None:
        """Nothing: how to resume a run is the study's business too."""

    def epoch(self, *figures: Any) -> None:
        """Nothing: one line for each run has to do."""

    def step(self, epoch: int, epochs: int, done: int, total: int, *figures: Any) -> None:
        """Show how far the whole run is, in hundredths."""
        share = (epoch - 1 + done / total) / epochs
        super().step(epoch, epochs, round(100 * share), 100, *figures)

    def run_finished(self, result: dict[str, Any]) -> None:
        """Print the line that stays."""
        figure = "diverged" if result["diverged"] else f"test {percent(result['accuracy'])}"
        self._line.stay(f"{self._title:<40}  {figure}   {duration(result['seconds'])}")

    def _epoch_field(self, epoch: int, epochs: int) -> str:
        return self._title
