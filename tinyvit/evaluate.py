"""`python -m tinyvit.evaluate RUN`: measure how good a model is, class by class, on its data or on photos."""

import argparse
import contextlib
import json
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tinyvit.api import Model, load
from tinyvit.data import DOWNLOADED, ImageSet, is_at_hand
from tinyvit.data.folder import PhotoArray, read_labelled
from tinyvit.data.folder_files import folders_of_parts, images_by_class
from tinyvit.data.image_files import files_below
from tinyvit.data.images_given import FEW, darkness
from tinyvit.engine import check_finite, make_engine
from tinyvit.flags import (
    READING,
    WEIGHTS,
    add_checkpoint_flag,
    add_flags,
    add_json_flag,
    chosen_device,
)
from tinyvit.insight.pictures.evaluation import (
    MOST_CLASSES,
    Mistake,
    draw_confusion,
    draw_mistakes,
    draw_reliability,
)
from tinyvit.support.errors import UserError
from tinyvit.support.figures import counted, percent
from tinyvit.support.shell.command import make_parser, png_path, run_command, some_path
from tinyvit.support.shell.predictions import csv_cells, csv_columns, csv_line, csv_path, write_csv
from tinyvit.support.shell.progress import Progress
from tinyvit.training.evaluation import (
    BINS,
    Evaluation,
    Reliability,
    by_class,
    calibration_error,
    evaluation_of,
    logits_of,
    macro_mean,
    reliability,
    top_k_accuracy,
    wilson_interval,
    with_interval,
    worst_mistakes,
)
from tinyvit.training.loading import names_weights, why_no_classes
from tinyvit.training.recipes import followed
from tinyvit.training.run_data import load_data_of_run
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings
from tinyvit.weights.resize import at_resolution

MISTAKES = 24  # shown by --mistakes
TOP = 5  # classes of an image in --csv, and of the accuracy that forgives a mistake
_CSV_START = "image,class,predicted,probability,answer"

_EPILOG = """\
Precision: of the images that the model puts into a class, the share that belongs there. Recall: of the images
of a class, the share that it puts there. F1: the harmonic mean of both. The macro mean is over the classes
that have images. The interval is Wilson's, and says how much the choice of the images may have changed the
accuracy. The calibration error is the mean distance between how sure the model is and how often it is right.

examples:
  python -m tinyvit.evaluate runs/shapes-1
  python -m tinyvit.evaluate runs/cifar10-1 --flip
  python -m tinyvit.evaluate runs/shapes-1 --confusion confusion.png --mistakes mistakes.png
  python -m tinyvit.evaluate runs/shapes-1 --reliability reliability.png
  python -m tinyvit.evaluate runs/shapes-1 --csv answers.csv; grep ,wrong answers.csv
  python -m tinyvit.evaluate runs/shapes-1 --json > result.json
  python -m tinyvit.evaluate --weights Ti_16-384 --data-dir photos --mistakes mistakes.png
"""


class Judged(NamedTuple):
    """A set of images, which they are, the names of the classes, a model's results, and what the model is."""

    images: ImageSet
    split: str
    classes: tuple[str, ...]
    found: Evaluation
    source: str
    recipe: str  # of its run; empty if it followed none

    @property
    def reliability(self) -> Reliability:
        return reliability(self.found.probabilities, self.images.labels)

    @property
    def top_5(self) -> float | None:
        """The share of images whose class is among the five likeliest; None if there are no more classes."""
        answers = self.found.probabilities
        return top_k_accuracy(answers, self.images.labels, TOP) if len(self.classes) > TOP else None


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
    if bool(args.weights) == bool(args.run):
        raise UserError("expected RUN or --weights FILE, one of them: a model to judge.")
    if args.run and names_weights(str(args.run)):
        args.weights, args.run = str(args.run), None
    run = None if args.weights else RunFolder.open(args.run)
    if run and run.settings().target:
        raise UserError(
            f"{args.run} learned without labels, to predict patches, and has no classes: fine-tune it with "
            "tinyvit.finetune. The losses of its epochs are in metrics.jsonl."
        )
    device, progress = chosen_device(args), Progress()
    source = args.weights or str(args.run)
    report = progress.download(source)
    model = load(source, checkpoint=args.checkpoint, heads=args.heads, threads=args.threads, report=report)
    if not model.has_head:
        raise UserError(
            f"{source} {why_no_classes(model)} to judge it by: fine-tune it with tinyvit.finetune."
        )
    model = at_resolution(model, args.resolution, args.position_resize)
    if args.confusion and not 2 <= (count := len(model.names)) <= MOST_CLASSES:
        raise UserError(
            f"--confusion draws 2 to {MOST_CLASSES} classes, but {source} has {count:,}: omit it and use "
            "--json for the counts."
        )
    images, split, photos = _images(args, run, model, progress)
    params, precision = model.params.to(device.xp), args.precision or "fp32"
    engine = make_engine(model.config, params, threads=args.threads, precision=precision)
    if args.precision and engine.note:
        print(engine.note)
    recipe = followed(run.settings()) if run else ""
    logits = check_finite(logits_of(engine, images, args.flip))
    if photos and (why := darkness(photos.highest, FEW)):
        progress.note(why)
    if photos and (errors := photos.errors):  # which have come up meanwhile
        for _, reason in sorted(errors.items()):
            progress.note(f"left out: {reason}")
        if len(errors) == len(images):
            raise UserError(f"none of the {len(images):,} images can be read: replace them.")
        good = np.setdiff1d(np.arange(len(images)), [*errors])
        images, logits = images.take(good), logits[good]
    found = evaluation_of(logits, images.labels)
    return Judged(images, split, tuple(model.names), found, source, recipe)


def _images(
    args: argparse.Namespace, run: RunFolder | None, model: Model, progress: Progress
) -> tuple[ImageSet, str, PhotoArray | None]:
    """The images to judge the model on, of the run's data or of a folder with labels, and which they are.

    The third is the array of photos behind them, if they are decoded as they are used.
    """
    own = run.settings() if run else None
    folder = args.data_dir
    if folder is None and own and own.dataset == "folder" and not own.labels and args.split == "all":
        folder = Path(own.data_dir or "")
    if folder is None and run is None:
        raise UserError(
            "weights without a run need --data-dir DIR as well, a folder with a folder of images for each "
            "class."
        )
    if folder and (run is None or args.split == "all" or _is_labelled(folder, run.settings())):
        split = args.split or ("test" if "test" in folders_of_parts(folder) else "all")
        size, fit = model.config.image_size, model.photo_fit
        images, photos = read_labelled(folder, split, model.names, size, fit, progress.note)
        return images, f"{split} " * (split != "all"), photos
    assert run is not None, "weights have been judged on a folder"
    split = args.split or "test"
    if split == "all":
        raise UserError(
            "--split all judges a folder of images: name it with --data-dir, or choose another split."
        )
    data = load_data_of_run(run, args.data_dir, progress, model.config)
    if getattr(data, split) is None:
        raise UserError(f"{args.run} was trained without a validation split: choose --split test or train.")
    return getattr(data, split), f"{split} ", None


def _is_labelled(folder: Path, settings: Settings) -> bool:
    """True if a folder holds photos by class, and not the data set that a run was trained on."""
    if settings.dataset == "folder" or not folder.is_dir():
        return False
    is_own = settings.dataset in DOWNLOADED and is_at_hand(settings.dataset, folder)
    parts = folders_of_parts(folder).values()
    return not is_own and any(
        images for part in parts for images in images_by_class(part, files_below(part).images).values()
    )


def print_report(judged: Judged, args: argparse.Namespace) -> None:
    """Print precision, recall and F1 of each class, then the accuracy on all images."""
    counts, found = judged.found.counts, judged.found
    names = (*judged.classes, "macro mean")
    rows = [*zip(*by_class(counts), strict=True), macro_mean(counts).values()]
    width = max(map(len, names))
    print(f"{'':{width}}  precision  recall     F1  images")
    for name, row, images in zip(names, rows, [*counts.sum(axis=1), counts.sum()], strict=True):
        precision, recall, f1 = map(percent, map(_finite, row))
        print(f"{name:{width}}  {precision:>9}  {recall:>6}  {f1:>5}  {images:>6,}")
    what = args.weights or f"{args.checkpoint}.npz{f' of recipe {judged.recipe}' if judged.recipe else ''}"
    both = ", each averaged with its mirror image" if args.flip else ""
    judged_on = counted(len(judged.images), f"{judged.split}image")
    top_5 = "" if judged.top_5 is None else f"top-{TOP} {100 * judged.top_5:.2f}%, "
    print(f"\n{what} on {judged_on}{both}: ", end="")
    print(f"accuracy {with_interval(found.accuracy, len(judged.images), 2)}, {top_5}", end="")
    print(f"loss {found.loss:.4f}, calibration error {100 * calibration_error(judged.reliability):.2f}%")


def as_json(judged: Judged, args: argparse.Namespace) -> dict[str, Any]:
    """The result as an object for JSON; confusion has a row per true class, a column per predicted class."""
    counts, found, table = judged.found.counts, judged.found, judged.reliability
    by_name = zip(judged.classes, counts.sum(axis=1).tolist(), *by_class(counts), strict=True)
    return {
        "run": str(args.run) if args.run else None,
        "weights": args.weights,
        "checkpoint": args.checkpoint if args.run else None,
        "recipe": judged.recipe or None,
        "split": judged.split.strip() or "all",
        "flip": args.flip,
        "images": len(judged.images),
        "loss": _finite(found.loss),
        "accuracy": found.accuracy,
        "accuracy_interval": wilson_interval(found.accuracy, len(judged.images)),
        "top_5_accuracy": judged.top_5,
        "calibration_error": _finite(calibration_error(table)),
        "macro_mean": macro_mean(counts),
        "classes": [
            {"name": name, "images": total, "accuracy": _finite(recall)}
            | {"precision": _finite(precision), "recall": _finite(recall), "f1": _finite(f1)}
            for name, total, precision, recall, f1 in by_name
        ],
        "confusion": counts.tolist(),
        "reliability": [
            {"from": i / BINS, "to": (i + 1) / BINS, "images": int(images)}
            | {"accuracy": _finite(accuracy), "confidence": _finite(confidence)}
            for i, (images, accuracy, confidence) in enumerate(zip(*table, strict=True))
        ],
        "files": [
            {"file": name, "class": judged.classes[label], "predicted": judged.classes[row.argmax()]}
            | {"probability": float(row.max())}
            for name, label, row in zip(
                judged.images.names, judged.images.labels, found.probabilities, strict=False
            )
        ],
    }


def _finite(figure: float) -> float | None:
    """The figure, or None for what JSON cannot represent."""
    return float(figure) if math.isfinite(figure) else None


def as_csv(judged: Judged) -> list[str]:
    """A heading, and a line for each image: its file or number, its class, and the likeliest classes."""
    images, count = judged.images, min(TOP, len(judged.classes))
    first, second, *others = csv_columns("predicted", count)
    lines = [csv_line(["image", "class", first, second, "answer", *others])]
    names = images.names or map(str, range(len(images)))
    for name, label, row in zip(names, images.labels, judged.found.probabilities, strict=True):
        first, second, *others = csv_cells(judged.classes, row, count)
        answer = "right" if row.argmax() == label else "wrong"
        lines.append(csv_line([name, judged.classes[label], first, second, answer, *others]))
    return lines


def draw(judged: Judged, args: argparse.Namespace) -> None:
    """Draw the requested pictures, and write the table of images."""
    images = counted(len(judged.images), f"{judged.split}image")
    checkpoint = f"  ·  {args.checkpoint}.npz" if args.run else ""
    both = " and their mirror images" if args.flip else ""
    title = f"{Path(judged.source).resolve().name}{checkpoint}  ·  {images}{both}"
    if args.confusion:
        accuracy = f"accuracy {100 * judged.found.accuracy:.1f}%"
        draw_confusion(judged.found.counts, judged.classes, args.confusion, f"{title}  ·  {accuracy}")
        print(f"wrote {args.confusion}")
    if args.mistakes:
        mistakes = []
        for i in worst_mistakes(judged.images.labels, judged.found.probabilities, MISTAKES):
            row, truth = judged.found.probabilities[i], judged.classes[judged.images.labels[i]]
            said = judged.classes[row.argmax()]
            name = judged.images.names[i] if judged.images.names else ""
            mistakes.append(Mistake(judged.images.images[i], said, float(row.max()), truth, name))
        draw_mistakes(mistakes, args.mistakes, f"{title}  ·  worst mistakes")
        print(f"wrote {args.mistakes}")
    if args.reliability:
        draw_reliability(judged.reliability, args.reliability, title)
        print(f"wrote {args.reliability}")
    if args.csv:
        write_csv(args.csv, as_csv(judged))
        print(f"wrote {args.csv}")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("evaluate", __doc__, _EPILOG)
    p.add_argument("run", type=some_path, nargs="?", metavar="RUN", help=f"a run folder, {WEIGHTS}")
    add_checkpoint_flag(p)
    p.add_argument("--weights", metavar="FILE", help="the model, instead of RUN")
    add_flags(p, *READING)
    p.add_argument(
        "--split",
        choices=("test", "validation", "train", "all"),
        help="which images to judge the model on (default: test, or all of a folder that is not split)",
    )
    p.add_argument(
        "--flip", action="store_true", help="average the logits of each image with those of its mirror image"
    )
    p.add_argument(
        "--data-dir",
        type=some_path,
        metavar="DIR",
        help="folder with the data of the run, if they have moved; or any folder with a folder of images for "
        "each class, named as the classes of the model",
    )
    for flag, drawn in (
        ("--confusion", "the confusion matrix of the classes"),
        ("--mistakes", f"the {MISTAKES} mistakes with the highest confidence"),
        ("--reliability", "how often the model is right, by how sure it is"),
    ):
        p.add_argument(flag, type=png_path, metavar="PNG", help=f"draw {drawn}")
    p.add_argument(
        "--csv",
        type=csv_path(_CSV_START),
        metavar="FILE",
        help=f"write a row for each image: its file or number, its class, the {TOP} likeliest classes with "
        "their probabilities, and whether the answer is right or wrong",
    )
    add_json_flag(p, "the result as JSON, with the counts of the confusion matrix")
    add_flags(p, "device", "threads", "precision", usual={"precision": "fp32"})
    return p


if __name__ == "__main__":
    run_command(parser(), main)
