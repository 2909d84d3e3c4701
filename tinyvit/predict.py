"""`python -m tinyvit.predict RUN IMAGE...`: name the most likely classes of images."""

import argparse
import io
import os
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from glob import glob
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np

from tinyvit.api import DEFAULT_TEMPLATES, Model, load
from tinyvit.data.decoding import Source, name_of
from tinyvit.data.image_files import images_below
from tinyvit.data.images_given import Scaled, darkness
from tinyvit.data.photos import Photo, PhotoFit, fit_for, read_photos, what_was_cropped
from tinyvit.flags import (
    READING,
    WEIGHTS,
    add_checkpoint_flag,
    add_flags,
    add_json_flag,
    chosen_device,
)
from tinyvit.insight.attention import check_has_attention
from tinyvit.insight.pictures.attention import SeenPhoto, save_overlays
from tinyvit.support.errors import UserError, without_warnings
from tinyvit.support.figures import call, counted, short_names
from tinyvit.support.shell.command import make_parser, png_path, positive_int, run_command, some_path
from tinyvit.support.shell.predictions import Predictions, csv_path, write_csv
from tinyvit.support.shell.progress import Progress
from tinyvit.training.loading import names_weights, why_no_classes
from tinyvit.training.run_folder import RunFolder

BATCH = 32  # images in memory at a time
MOST_DRAWN = 24  # images on an attention sheet

_EPILOG = """\
A folder stands for all images in it and in the folders below it, sorted, except hidden ones; links to folders
are followed. An image that cannot be read is reported, and the others are still predicted.

exit status: 0 if every image was read, 1 if some were not, 2 if none was or the command itself is wrong

examples:
  python -m tinyvit.predict runs/shapes-1 a.png b.png --attention look.png
  python -m tinyvit.predict clip-vit-base-patch32/ cat.jpg --classes "cat, dog, diagram"
  python -m tinyvit.predict --weights Ti_16-384 holiday/ --json > holiday.jsonl
  python -m tinyvit.predict runs/folder-1 new-photos/ --csv answers.csv --top 1
  curl -L https://example.org/cat.jpg | python -m tinyvit.predict runs/shapes-1 -
"""


Classify = Callable[[np.ndarray], np.ndarray]


class StandardInput(io.BytesIO):
    """The bytes that came in through a pipe."""

    name = "-"


class Seen(NamedTuple):
    """An image for the sheet, the model's attention (gh, gw), and its prediction, '' without a head."""

    photo: Photo
    attention: np.ndarray
    caption: str


def main(args: argparse.Namespace) -> int:
    """Read the images, predict, print, and draw the attention if requested; returns the exit status."""
    source, words = _source_and_images(args)
    if args.template and args.classes is None:
        raise UserError("--template is a sentence for the classes of --classes: give them too, or omit it.")
    if args.attention and not args.attention.parent.is_dir():
        raise UserError(
            f"cannot write {args.attention}: there is no folder {args.attention.parent}. Create it first."
        )
    aside = sys.stderr if args.json else sys.stdout  # for everything that is not a prediction
    model = _load(source, args, aside)
    names, classify = _classes(model, args)
    output = Predictions("tinyvit.predict", names, args.top, args.json, bool(args.csv or args.attention))
    sources = _find_images(words, output)
    before = output.errors
    read, seen = _predict(model, classify, sources, args, output)
    readable = len(sources) - (output.errors - before)
    if chosen_fit(model, args.fit).fit == "crop":
        for line in what_was_cropped(read):
            output.note(line)
    wrote: list[str] = []
    if seen:
        _draw(seen, args.attention)
        some = f" with the first {len(seen)} of {readable:,} images" if len(seen) < readable else ""
        wrote.append(f"wrote {args.attention}{some}")
    if args.csv and read:
        write_csv(args.csv, output.table)
        wrote.append(f"wrote {args.csv}")
    for line in wrote:
        print(line, file=aside)
    if output.errors and output.errors + len(read) > 1:
        output.note(f"read {counted(len(read), 'image')}; {output.errors:,} could not be read")
    return (1 if read else 2) if output.errors else 0


def _source_and_images(args: argparse.Namespace) -> tuple[str, list[Path]]:
    """The source of the model, and the files and folders to predict."""
    if args.weights:  # then the argument in the position of RUN is an image too
        return args.weights, [args.run, *args.images] if args.run else args.images
    if args.run is None:
        raise UserError("expected RUN IMAGE... or --weights FILE IMAGE...: a model, and at least one image.")
    if names_weights(str(args.run)):
        return str(args.run), args.images
    if args.run.is_file():
        raise UserError(f"{args.run} is not a run folder: if it contains weights, use --weights {args.run}.")
    RunFolder.open(args.run)  # raises a UserError if it is something else
    return str(args.run), args.images


def image_word(text: str) -> Path:
    """An image of the command line. An address is refused here, while its slashes are still all there."""
    if re.match(r"\w+://", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is an address: pipe what is there into this command, curl -L {shlex.quote(text)} | "
            f"{call('predict')} RUN -"
        )
    return some_path(text)


def _load(source: str, args: argparse.Namespace, aside: TextIO) -> Model:
    device = chosen_device(args, file=aside)
    report = Progress(aside).download(source)
    model = load(source, checkpoint=args.checkpoint, heads=args.heads, threads=args.threads, report=report)
    if not (model.has_head or args.attention or args.classes is not None):
        words = 'give some with --classes "cat, dog", ' if model.texts else ""
        raise UserError(
            f"{source} {why_no_classes(model)}: {words}draw what it attends to with --attention PNG, "
            "fine-tune it with tinyvit.finetune, or use its features with tinyvit.fewshot."
        )
    if args.attention:
        check_has_attention(model.config)
    if not (model.has_head or args.classes is not None) and (args.json or args.csv):
        flag = "--json" if args.json else "--csv"
        raise UserError(f"{source} {why_no_classes(model)} to print: omit {flag}.")
    return model.at_resolution(args.resolution, args.position_resize).to(device)


def _classes(model: Model, args: argparse.Namespace) -> tuple[tuple[str, ...], Classify | None]:
    """The names of the classes, and what gives their probabilities; none for a model without a head."""
    if args.classes is not None:
        names = tuple(filter(None, (name.strip() for name in args.classes.split(","))))
        return names, partial(model.zero_shot, classes=names, templates=args.template or DEFAULT_TEMPLATES)
    return (model.names, model.probabilities) if model.has_head else ((), None)


def _find_images(words: Sequence[Path], output: Predictions) -> list[Source]:
    """The files among the arguments, those of patterns, the images in folders, and what comes in for '-'."""
    sources: list[Source] = []
    for word in (path for each in words for path in _matching(each)):
        if str(word) == "-":
            sources.append(StandardInput(sys.stdin.buffer.read()))
            continue
        if not word.is_dir():
            sources.append(word)
            continue
        try:
            images, skipped = images_below(word)
        except OSError as error:
            output.error(word, UserError(f"{error.filename} cannot be read: {error.strerror}."))
            continue
        if images:
            sources += images
            others = f"; skipped {counted(skipped, 'other file')}" if skipped else ""
            output.note(f"{word} contains {counted(len(images), 'image')}{others}")
        else:
            output.error(word, UserError(f"{word} contains no images, expected one or more in it or below."))
    return sources


def _matching(word: Path) -> list[Path]:
    """The paths of a pattern, in sorted order; any other word alone."""
    matching = [] if os.path.lexists(word) else sorted(glob(str(word), recursive=True))
    return [Path(path) for path in matching] or [word]


def _predict(
    model: Model,
    classify: Classify | None,
    sources: Sequence[Source],
    args: argparse.Namespace,
    output: Predictions,
) -> tuple[list[tuple[float, Path]], list[Seen]]:
    """Predict and print in batches; returns (share lost, path) of the images read, and images to draw."""
    read: list[tuple[float, Path]] = []
    seen: list[Seen] = []
    fit = chosen_fit(model, args.fit)
    kept = fit.share  # this is cut off every photo, so its loss is not reported
    for start in range(0, len(sources), BATCH):
        wanted = MOST_DRAWN - len(seen) if args.attention else 0
        if not (classify or wanted):
            break
        batch = sources[start : start + BATCH]
        results: list[Photo | UserError] = []
        for result in read_photos(batch, model.config.image_size, fit, with_whole=wanted > 0):
            output.show_progress(start + len(results), len(sources))
            results.append(result)
        photos = [result for result in results if isinstance(result, Photo)]
        views = np.array([photo.view for photo in photos]).view(Scaled)  # (n, h, w, 3)
        if photos and (why := darkness(views)):
            output.note(why)
        rows, captions = iter(_probabilities(classify, views)), []
        for source, result in zip(batch, results, strict=True):
            path = Path(name_of(source))
            if isinstance(result, Photo):
                captions.append(output.prediction(path, next(rows)))
                read.append((1 - (1 - result.lost) / kept, path))
            else:
                output.error(path, result)
        if photos and wanted:
            attention = model.attention_map(views[:wanted])
            seen += map(Seen, photos, attention, captions)
    return read, seen


def chosen_fit(model: Model, fit: str | None) -> PhotoFit:
    """The fit of photos: as the files published with the weights say, unless fit is given."""
    usual = fit_for(model.config.image_size, model.photo_fit)
    return usual if fit in (None, usual.fit) else replace(usual, fit=fit, frame=usual.size, edge=(0, 0))


def _probabilities(classify: Classify | None, views: np.ndarray) -> np.ndarray:
    """The probability of each class (n, C) for what the model sees (n, h, w, 3); (n, 0) without classes."""
    if not (classify and len(views)):
        return np.empty((len(views), 0))
    with without_warnings(
        RuntimeWarning
    ):  # of overflow: an answer that is not a number is an error of its own
        return classify(views)


def _draw(seen: Sequence[Seen], path: Path) -> None:
    """Draw the attention sheet, over the whole photos."""
    names = short_names([one.photo.path for one in seen])
    rows = []
    for name, one in zip(names, seen, strict=True):
        assert one.photo.whole is not None, "what is to be drawn was read with it"
        rows.append((SeenPhoto(one.photo.whole, one.photo.box, name), one.attention, one.caption))
    save_overlays(rows, path)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("predict", __doc__, _EPILOG)
    p.add_argument(
        "run",
        type=image_word,
        nargs="?",
        metavar="RUN",
        help=f"a run folder, {WEIGHTS}",
    )
    p.add_argument(
        "images",
        type=image_word,
        nargs="+",
        metavar="IMAGE",
        help="any image that Pillow reads, a folder of images, a pattern such as 'photos/*.jpg', or - for "
        "one that comes in through a pipe",
    )
    p.add_argument("--weights", metavar="FILE", help="the model, instead of RUN")
    p.add_argument(
        "--classes",
        metavar="WORDS",
        help="classes in words, separated by commas, for a model that was learned with texts (CLIP, SigLIP)",
    )
    p.add_argument(
        "--template",
        action="append",
        metavar="TEXT",
        help="with --classes, a sentence with {} in the place of the class; given more than once, all count "
        "alike (default: a photo of a {}.)",
    )
    add_flags(p, *READING)
    add_checkpoint_flag(p)
    add_flags(
        p, "fit", usual={"fit": "as in training, or as the files published with the weights say, or crop"}
    )
    p.add_argument(
        "--top", type=positive_int, default=5, metavar="N", help="how many classes to print (default: 5)"
    )
    add_json_flag(p, "one JSON object for each image, on one line")
    p.add_argument(
        "--csv",
        type=csv_path("file,class,probability"),
        metavar="FILE",
        help="write a table: a row for each image that can be read, with its file, its likeliest class and "
        "the probability of that, then the further ones of --top",
    )
    p.add_argument(
        "--attention",
        type=png_path,
        metavar="PNG",
        help=f"draw where the model looks in its last block, for at most the first {MOST_DRAWN} images",
    )
    add_flags(p, "device", "threads")
    return p


if __name__ == "__main__":
    run_command(parser(), main)
