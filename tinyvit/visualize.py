"""`python -m tinyvit.visualize MODEL`: draw what a model has learned: filters, positions and attention.

Of a run without labels it also draws corrupted patches, and what the model predicts in their place.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from tinyvit.api import Model, load
from tinyvit.flags import (
    READING,
    WEIGHTS,
    add_checkpoint_flag,
    add_data_of_run_flag,
    add_flags,
    add_json_flag,
    chosen_device,
)
from tinyvit.insight.positions import position_similarity
from tinyvit.insight.visualizing import (
    PICTURES,
    WITHOUT_IMAGES,
    Examples,
    Insight,
    draw_filled_patches,
    draw_picture,
    examples_in,
    examples_of,
    look_inside,
    needs_images,
    numbers_of,
    why_nothing,
)
from tinyvit.support.errors import UserError
from tinyvit.support.shell.command import make_parser, path_text, png_path, run_command, usual_png
from tinyvit.support.shell.progress import Progress
from tinyvit.training.run_data import load_data_of_run
from tinyvit.training.run_folder import RunFolder

USUAL = {"inside": 8, "distance": 128, "rollout": 24, "heads": 4}  # test images, if nothing else is asked for
MOST = {"inside": 100, "rollout": 100, "heads": 8}  # images in one picture

_EPILOG = """\
Without --only, the picture is inside.png: filters, positions, and what the last block attends to. The others:

  filters    the patterns that the patch embedding responds to most
  positions  how similar each patch's position is to every other; of relative
             positions, what each head gives to each offset
  distance   how far each head of each block looks, in pixels, averaged over all images
  rollout    which patches the answer comes from, through all blocks
  heads      what each head of each block attends to

They are written as NAME.png into the folder of the run or, for other models, into the current folder. A run
shows its own test images unless others are given; other models need --images for all but filters and
positions. A folder stands for all images in it and in the folders below it, except hidden ones; links to
folders are followed.

examples:
  python -m tinyvit.visualize runs/cifar10-1
  python -m tinyvit.visualize runs/cifar10-1 --only distance,rollout --images 500
  python -m tinyvit.visualize Ti_16-384 --only rollout --images holiday/
"""


def main(args: argparse.Namespace) -> None:
    """Load the model, look at images through it, and draw what was seen or print its numbers."""
    pictures = _asked_for(args)
    aside = sys.stderr if args.json else sys.stdout  # for everything that is not a number
    device = chosen_device(args, file=aside)
    which = {"checkpoint": args.checkpoint, "heads": args.heads, "threads": args.threads}
    model = load(args.model, report=Progress(aside).download(args.model), **which)
    model = model.at_resolution(args.resolution, args.position_resize).to(device)
    run = RunFolder.at(args.model)
    looking = [picture for picture in pictures if needs_images(model.config, picture)]
    examples = _examples(args, model, run, looking)
    pictures = _that_can_be_shown(pictures, model, looking if examples is None else (), aside)
    places = [] if args.json else [args.out or _usual_place(f"{picture}.png", run) for picture in pictures]
    insight = Insight()
    if examples:
        most = MOST if args.images else USUAL
        shown = {p: min(examples.total, most.get(p, examples.total)) for p in looking if p in pictures}
        insight = look_inside(model, examples.batches, shown) if shown else insight
    if args.json:
        print(json.dumps({picture: numbers_of(picture, model, insight) for picture in pictures}))
        return
    settings = run.settings() if run else None
    about = [settings.dataset, settings.model] if settings else [Path(args.model).name]
    end = [f"{args.checkpoint}.npz"] if run else []
    for picture, path in zip(pictures, places, strict=True):
        draw_picture(picture, model, insight, path, "  ·  ".join(about + end))
        drawn = len(insight.maps.get(picture, []))
        total = examples.total - len(examples.unread) if examples else 0
        some = f" with the first {drawn} of {total:,} images" if args.images and 0 < drawn < total else ""
        print(f"wrote {path}{some}")
    if "inside" in pictures:
        _say_what_inside_lacks(model, examples is None)
        if run and settings and settings.target:
            title = "  ·  ".join([*about, settings.target, *end])
            draw_filled_patches(model, insight, settings, run.patches_path, title)
            print(f"wrote {run.patches_path}")


def _asked_for(args: argparse.Namespace) -> list[str]:
    """The names of the pictures. Raises UserError if the flags contradict each other."""
    pictures = args.only or (list(PICTURES) if args.json else ["inside"])
    if args.out and args.json:
        raise UserError("with --json nothing is drawn: omit --out.")
    if args.images and set(pictures) <= set(WITHOUT_IMAGES):
        raise UserError(f"{' and '.join(pictures)} show no images: omit --images.")
    if args.out and len(pictures) > 1:
        raise UserError(
            f"--out names one file for {len(pictures)} pictures: omit it, or ask for one of them."
        )
    return pictures


def _that_can_be_shown(
    pictures: Sequence[str], model: Model, without_images: Sequence[str], aside: TextIO
) -> list[str]:
    """The pictures of which there is something to show; why the others are missing is said in a line each.

    Raises UserError if that leaves none. without_images are those that lack the images which they show.
    """
    missing: dict[str, list[str]] = {}  # the pictures that are missing, by the reason
    for picture in pictures:
        why = why_nothing(model.config, picture)
        if picture in without_images and picture != "inside":
            why = "this takes images: give some with --images FILE or FOLDER"
        if why:
            missing.setdefault(why, []).append(picture)
    lines = [f"no {' or '.join(names)}: {why}" for why, names in missing.items()]
    shown = [picture for picture in pictures if not any(picture in names for names in missing.values())]
    if not shown:
        raise UserError("; ".join(lines) + ".")
    for line in lines:
        print(line, file=aside)
    return shown


def _usual_place(name: str, run: RunFolder | None) -> Path:
    """The path of a picture without --out: in the folder of the run, or in the current one.

    Raises UserError if the user has something else of that name in the current one.
    """
    return run.path / name if run else usual_png(Path(name))


def _examples(
    args: argparse.Namespace, model: Model, run: RunFolder | None, looking: Sequence[str]
) -> Examples | None:
    """The images to look at; None if there are none. The data of a run are only read if they are needed."""
    number = args.images[0] if args.images and isinstance(args.images[0], int) else None
    if (number and len(args.images) > 1) or any(isinstance(word, int) for word in (args.images or ())[1:]):
        raise UserError("--images expects one number of test images, or files and folders, not both.")
    if not looking:
        return None
    if args.images and not number:
        return examples_in(model, args.images)
    if run is None:
        if number:
            raise UserError(f"{args.model} is not a run and has no test images: name files or folders.")
        return None
    aside = sys.stderr if args.json else sys.stdout
    dataset = load_data_of_run(run, args.data_dir, Progress(aside), model.config)
    return examples_of(dataset.test, number or max(USUAL[picture] for picture in looking))


def _say_what_inside_lacks(model: Model, without_images: bool) -> None:
    config = model.config
    if not config.has_transformer:
        print("it shows filters only: a ResNet has neither positions nor attention")
        return
    if position_similarity(config, model.params) is None:
        print(f"it shows no positions: with position {config.position}, no vector belongs to a patch")
    elif config.position_at == "blocks" and config.position != "sincos":
        print("the positions it shows are those of the first block; every block has its own")
    if without_images:
        print("it shows no attention: that takes images, given with --images FILE or FOLDER")


def _picture_names(text: str) -> list[str]:
    """Names of pictures, separated by commas."""
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in PICTURES]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is not one of {', '.join(PICTURES)}")
    return list(dict.fromkeys(names))


def _number_or_path(text: str) -> int | Path:
    """A whole number of at least 1, or the path of a file or folder."""
    if not text.lstrip("+-").isdecimal():
        return Path(text)
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("visualize", __doc__, _EPILOG)
    p.add_argument(
        "model",
        type=path_text,
        metavar="MODEL",
        help=f"a run folder, {WEIGHTS}",
    )
    p.add_argument("--only", type=_picture_names, metavar="NAMES", help=f"some of {', '.join(PICTURES)}")
    p.add_argument("--out", type=png_path, metavar="PNG", help="file to write, if there is one picture")
    p.add_argument(
        "--images",
        type=_number_or_path,
        nargs="+",
        metavar="N|FILE",
        help="how many test images of the run to look at, or any image files and folders of images (default: "
        f"{', '.join(f'{count} test images for {name}' for name, count in USUAL.items())})",
    )
    add_json_flag(p, "the numbers behind the pictures, as one JSON object, instead of drawing them")
    add_checkpoint_flag(p)
    add_data_of_run_flag(p)
    add_flags(p, *READING, "device", "threads")
    return p


if __name__ == "__main__":
    run_command(parser(), main)
