"""`python -m tinyvit.evaluate RUN`: measure how good a trained model is, class by class."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
from typing import Any, NamedTuple

from tinyvit.analysis.confusion import worst_mistakes
from tinyvit.data import ImageSet
from tinyvit.engine import make_engine
from tinyvit.errors import UserError
from tinyvit.pictures.confusion import MOST_CLASSES, draw_confusion
from tinyvit.pictures.mistakes import Mistake, draw_mistakes
from tinyvit.recipes.expectation import followed
from tinyvit.runs.folder import RunFolder
from tinyvit.shell.command import make_parser, png_path, run_command
from tinyvit.shell.figures import counted, percent
from tinyvit.shell.flags import (
    add_compute_flags,
    add_data_of_run_flag,
    add_json_flag,
    add_precision_flag,
    add_run_argument,
    chosen_device,
)
from tinyvit.shell.progress import Progress
from tinyvit.training.evaluation import Evaluation, evaluate
from tinyvit.training.run_data import load_data_of_run

MISTAKES = 24  # shown by --mistakes

_EPILOG = """\
examples:
  python -m tinyvit.evaluate runs/shapes-1
  python -m tinyvit.evaluate runs/cifar10-1 --flip
  python -m tinyvit.evaluate runs/shapes-1 --confusion confusion.png --mistakes mistakes.png
  python -m tinyvit.evaluate runs/shapes-1 --json > result.json
"""


class Judged(NamedTuple):
    """A set of images, the names of their classes, a model's results on them, and the recipe of its run."""

    images: ImageSet
    classes: tuple[str, ...]
    found: Evaluation
    recipe: str  # empty if it followed none


def main(args: argparse.Namespace) -> None:
    """Load the run's checkpoint and data, evaluate, print, and draw the requested pictures."""
    # With --json, only the result goes to standard output; all other messages go to standard error.
    elsewhere = contextlib.redirect_stdout(sys.stderr) if args.json else contextlib.nullcontext()
    with elsewhere:
        judged = judge(args)
        draw(judged, args)  # before the result is printed: a reader of that may leave at any time
    if args.json:
        print(json.dumps(as_json(judged, args), indent=2))
    else:
        print_report(judged, args)


def judge(args: argparse.Namespace) -> Judged:
    """Run the model on the images."""
    run = RunFolder.open(args.run)
    settings = run.settings()
    if settings.target:
        raise UserError(
            f"{args.run} learned without labels, to predict patches, and has no classes: fine-tune it with "
            "tinyvit.finetune. The losses of its epochs are in metrics.jsonl."
        )
    if args.confusion and not 2 <= (count := len(run.classes())) <= MOST_CLASSES:
        raise UserError(
            f"--confusion draws 2 to {MOST_CLASSES} classes, but {args.run} has {count:,}: omit it and use "
            "--json for the counts."
        )
    device = chosen_device(args)
    checkpoint = run.load(args.checkpoint)
    dataset = load_data_of_run(run, args.data_dir, Progress())
    images = getattr(dataset, args.split)
    if images is None:
        raise UserError(f"{args.run} was trained without a validation split: choose --split test or train.")
    params, precision = checkpoint.params.to(device.xp), args.precision or "fp32"
    engine = make_engine(checkpoint.config, params, threads=args.threads, precision=precision)
    if args.precision and engine.note:
        print(engine.note)
    return Judged(images, dataset.classes, evaluate(engine, images, args.flip), followed(settings))


def print_report(judged: Judged, args: argparse.Namespace) -> None:
    """Print the accuracy for each class, then for all images."""
    width = max(map(len, judged.classes))
    for name, accuracy in zip(judged.classes, judged.found.by_class, strict=True):
        print(f"{name:{width}}  {percent(accuracy)}")
    what = f"{args.checkpoint}.npz{f' of recipe {judged.recipe}' if judged.recipe else ''}"
    both = ", each averaged with its mirror image" if args.flip else ""
    images = counted(len(judged.images), f"{args.split} image")
    print(f"\n{what} on {images}{both}: ", end="")
    print(f"accuracy {100 * judged.found.accuracy:.2f}%, loss {judged.found.loss:.4f}")


def as_json(judged: Judged, args: argparse.Namespace) -> dict[str, Any]:
    """The result as an object for JSON; confusion has a row per true class, a column per predicted class."""
    totals = judged.found.counts.sum(axis=1).tolist()
    return {
        "run": str(args.run),
        "checkpoint": args.checkpoint,
        "recipe": judged.recipe or None,
        "split": args.split,
        "flip": args.flip,
        "images": len(judged.images),
        "loss": judged.found.loss if math.isfinite(judged.found.loss) else None,
        "accuracy": judged.found.accuracy,
        "classes": [
            {"name": name, "images": total, "accuracy": accuracy}
            for name, total, accuracy in zip(judged.classes, totals, judged.found.by_class, strict=True)
        ],
        "confusion": judged.found.counts.tolist(),
    }


def draw(judged: Judged, args: argparse.Namespace) -> None:
    """Draw the requested pictures."""
    images = counted(len(judged.images), f"{args.split} image")
    title = (
        f"{args.run.resolve().name}  ·  {args.checkpoint}.npz  ·  {images}"
        f"{' and their mirror images' if args.flip else ''}"
    )
    if args.confusion:
        accuracy = f"accuracy {100 * judged.found.accuracy:.1f}%"
        draw_confusion(judged.found.counts, judged.classes, args.confusion, f"{title}  ·  {accuracy}")
        print(f"wrote {args.confusion}")
    if args.mistakes:
        mistakes = []
        for i in worst_mistakes(judged.images.labels, judged.found.probabilities, MISTAKES):
            row, truth = judged.found.probabilities[i], judged.classes[judged.images.labels[i]]
            said = judged.classes[row.argmax()]
            mistakes.append(Mistake(judged.images.images[i], said, float(row.max()), truth))
        draw_mistakes(mistakes, args.mistakes, f"{title}  ·  worst mistakes")
        print(f"wrote {args.mistakes}")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("evaluate", __doc__, _EPILOG)
    add_run_argument(p)
    p.add_argument(
        "--split",
        choices=("test", "validation", "train"),
        default="test",
        help="which images to evaluate on (default: test)",
    )
    p.add_argument(
        "--flip",
        action="store_true",
        help="average the logits of each image with those of its mirror image",
    )
    add_data_of_run_flag(p)
    p.add_argument(
        "--confusion", type=png_path, metavar="PNG", help="draw the confusion matrix of the classes"
    )
    p.add_argument(
        "--mistakes",
        type=png_path,
        metavar="PNG",
        help=f"draw the {MISTAKES} mistakes with the highest confidence",
    )
    add_json_flag(p, "the result as JSON, with the counts of the confusion matrix")
    add_compute_flags(p)
    add_precision_flag(p, "fp32")
    return p


if __name__ == "__main__":
    run_command(parser(), main)
