"""`python -m tinyvit.study NAME`: carry out one of the paper's studies at home."""

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path
from shlex import join

from tinyvit.flags import add_flags, chosen_device
from tinyvit.insight.pictures.of_runs import RunPictures
from tinyvit.insight.pictures.study import Found, draw_lines, draw_rows
from tinyvit.support.errors import UserError, did_you_mean
from tinyvit.support.figures import call, counted, duration
from tinyvit.support.shell.command import (
    make_parser,
    path_text,
    positive_float,
    positive_int,
    run_command,
    some_path,
)
from tinyvit.training.studies.carry_out import carry_out
from tinyvit.training.studies.paper import CLASSES, SIZES, STUDIES
from tinyvit.training.studies.plan import Job, Plan
from tinyvit.training.studies.results import Row, result_of, rows_of, write_results

_EPILOG = """\
Without NAME, the studies are listed. A study trains a set of models, each with several seeds, into
OUT/runs/, and writes OUT/table.md, OUT/results.json and OUT/picture.png from the finished ones. It may be
stopped at any moment, by --minutes or by Ctrl-C: the same command continues it.

examples:
  python -m tinyvit.study
  python -m tinyvit.study pooling --minutes 10
  python -m tinyvit.study scaling --dataset cifar10 --size medium --minutes 60
"""


def main(args: argparse.Namespace) -> int:
    """Carry out the study, or list all of them; returns the exit status."""
    deadline = math.inf if args.minutes is None else time.monotonic() + 60 * args.minutes
    if args.name is None:
        if args.out or args.minutes:
            raise UserError("--out and --minutes are for a study: name one, or omit them.")
        list_studies(args)
        return 0
    if args.name not in STUDIES:
        hint = did_you_mean(args.name, STUDIES)
        raise UserError(f"there is no study {args.name!r}{hint}: expected one of {', '.join(STUDIES)}.")
    out = args.out or Path("runs") / f"study-{args.name}"
    plan = Plan(args.name, STUDIES[args.name], args.size, args.dataset, out)
    where = {"device": "gpu" if chosen_device(args).is_gpu else "cpu"}
    where |= {"threads": args.threads} if args.threads else {}
    where |= {"data_dir": args.data_dir} if args.data_dir else {}
    plan.claim()
    jobs = list(plan.jobs(args.seeds))
    if all(map(plan.is_finished, jobs)):
        print(f"{out} is finished: all {len(jobs)} runs are done.")
        show(plan, args.seeds)
        return 0
    print(f"{plan.study.question} {len(jobs)} runs on {args.dataset}, in {out}", flush=True)
    try:
        status = carry_out(plan, args.seeds, where, deadline, RunPictures())
    finally:
        show(plan, args.seeds)
    done = [job for job in jobs if plan.is_finished(job)]
    if len(done) < len(jobs):
        seconds = seconds_left(plan, jobs, done)
        about = f", about {duration(seconds)} left" if seconds else ""
        print(f"{len(done)} of {len(jobs)} runs are done{about}. To continue:")
        print(f"  {again(args)}")
    return status


def show(plan: Plan, seeds: int) -> None:
    """Write, draw and print what is finished, if anything is."""
    rows = rows_of(plan, seeds)
    begun = [row for row in rows if row.results]
    if not begun:
        return
    write_results(plan, seeds, rows)
    picture = ", picture.png" if draw(plan, rows) else ""
    width = max(len(row.variant.name) for row in begun)
    for row in begun:
        mean, spread = row.mean("accuracy"), row.spread
        figure = "diverged" if mean is None else f"{100 * mean:5.1f}%"
        figure += "" if spread is None else f" ± {100 * spread:.1f}"
        print(f"  {row.variant.name:<{width}}  {figure:<13}  {counted(len(row.results), 'seed')}")
    print(f"  {plan.out / 'table.md'}, results.json{picture}")


def draw(plan: Plan, rows: Sequence[Row]) -> bool:
    """Draw picture.png into the study's folder, if a run has an accuracy; returns whether one has."""
    study, lines = plan.study, []
    for row in rows:
        x = row.mean(study.measured_x) if study.measured_x else row.variant.x
        lines.append(Found(row.variant.name, row.of("accuracy"), row.variant.lines, x))
    if not any(one.values for one in lines):
        return False
    seeds = max(len(row.results) for row in rows)
    subtitle = f"{plan.dataset}, {plan.size}; dots: {seeds} seed{'s' if seeds != 1 else ''}"
    path = plan.out / "picture.png"
    if study.x_name:
        draw_lines(study.question, subtitle, lines, study.x_name, study.x_label, path)
    else:
        draw_rows(study.question, subtitle, lines, path)
    return True


def seconds_left(plan: Plan, jobs: Sequence[Job], done: Sequence[Job]) -> float | None:
    """The time that the missing runs will take, at the pace of the finished ones; None if it is unknown."""
    took = {job.name: result_of(plan.folder(job.name))["seconds"] for job in done}
    timed = [job for job in done if took[job.name]]
    if not timed:
        return None
    pace = sum(took[job.name] for job in timed) / sum(map(plan.work, timed))
    return pace * sum(plan.work(job) for job in jobs if job not in done)


def list_studies(args: argparse.Namespace) -> None:
    """Print a line for each study: its question, and how much it asks of the machine."""
    width = max(map(len, STUDIES))
    for name, study in STUDIES.items():
        plan = Plan(name, study, args.size, args.dataset, Path())
        jobs = list(plan.jobs(args.seeds))
        images, work = sum(job.images for job in jobs), sum(map(plan.work, jobs))
        print(
            f"  {name:<{width}}  {study.question}  {len(jobs)} runs, "
            f"{images / 1e6:.1f} million image passes, {3 * work / 1e12:.1f} T multiply-adds"
        )


def again(args: argparse.Namespace) -> str:
    """The command that was given."""
    words = [args.name]
    for name, value in vars(args).items():
        if name != "name" and value != parser().get_default(name):
            flag, text = f"--{name.replace('_', '-')}", str(value)
            text = text.removesuffix(".0") if isinstance(value, float) else text
            words += [f"{flag}={text}"] if text.startswith("-") else [flag, text]
    return f"{call('study')} {join(words)}"


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("study", __doc__, _EPILOG)
    p.add_argument("name", nargs="?", metavar="NAME", help=f"one of {', '.join(STUDIES)}")
    p.add_argument(
        "--minutes", type=positive_float, metavar="M", help="stop after this time (default: when all is done)"
    )
    p.add_argument(
        "--seeds",
        type=positive_int,
        default=2,
        metavar="N",
        help="number of runs of each variant (default: 2)",
    )
    p.add_argument(
        "--size",
        choices=SIZES,
        default="small",
        help="small takes minutes on two slow cores, medium some hours, large needs a GPU (default: small)",
    )
    p.add_argument(
        "--dataset", choices=tuple(CLASSES), default="shapes", help="data set to use (default: shapes)"
    )
    p.add_argument(
        "--data-dir",
        type=path_text,
        metavar="DIR",
        help="folder of the data; CIFAR is downloaded into it (default: data/)",
    )
    p.add_argument(
        "--out", type=some_path, metavar="OUT", help="folder of the study (default: runs/study-NAME)"
    )
    add_flags(p, "device", "threads")
    return p


if __name__ == "__main__":
    run_command(parser(), main)
