"""`python -m tinyvit.visualize RUN`: draw what a model has learned: filters, positions and attention.

Of a run without labels it also draws corrupted patches, and what the model predicts in their place.
"""

from __future__ import annotations

import argparse

import numpy as np

from tinyvit.analysis.filled_patches import filled_patches
from tinyvit.analysis.filters import embedding_filters
from tinyvit.analysis.position_similarity import position_similarity
from tinyvit.data import ImageSet
from tinyvit.front import Model, load
from tinyvit.pictures.patches import draw_patches
from tinyvit.pictures.portrait import Row, save_portrait
from tinyvit.runs.folder import RunFolder
from tinyvit.shell.command import make_parser, png_path, positive_int, run_command
from tinyvit.shell.flags import add_compute_flags, add_data_of_run_flag, add_run_argument, chosen_device
from tinyvit.shell.progress import Progress
from tinyvit.training.run_data import load_data_of_run


def main(args: argparse.Namespace) -> None:
    """Load the run's checkpoint and data, draw the picture, and say where it is."""
    run = RunFolder.open(args.run)
    device = chosen_device(args)
    model = load(args.run, checkpoint=args.checkpoint, threads=args.threads).to(device)
    dataset = load_data_of_run(run, args.data_dir, Progress())
    shown = dataset.test.take(one_of_each(dataset.test.labels, args.images))
    settings = run.settings()
    config = model.config
    similarity = position_similarity(config, model.params)
    save_portrait(
        embedding_filters(config, model.params),
        similarity,
        attention_rows(model, shown) if config.has_transformer else None,
        out := args.out or run.path / "inside.png",
        f"{settings.dataset}  ·  {settings.model}  ·  {args.checkpoint}.npz",
        "root of the ResNet" if config.has_resnet else "patch embedding",
    )
    print(f"wrote {out}")
    if not config.has_transformer:
        print("it shows filters only: a ResNet has neither positions nor attention")
    elif similarity is None:
        print(f"it shows no positions: with position {config.position}, no vector belongs to a patch")
    elif config.position_at == "blocks":
        print("the positions it shows are those of the first block; every block has its own")
    if settings.target:
        what = settings.target, settings.corrupt, settings.seed
        title = f"{settings.dataset}  ·  {settings.model}  ·  {settings.target}  ·  {args.checkpoint}.npz"
        draw_patches(filled_patches(model.config, model.params, shown.images, *what), run.patches_path, title)
        print(f"wrote {run.patches_path}")


def attention_rows(model: Model, shown: ImageSet) -> list[Row]:
    """Each image with its attention and, if the model has learned classes, its prediction."""
    attention, captions = model.attention_map(shown.images), []
    if not model.has_head:
        return [(image, seen, "") for image, seen in zip(shown.images, attention, strict=True)]
    probabilities = model.probabilities(shown.images)
    for row, label in zip(probabilities, shown.labels, strict=True):
        said = row.argmax()
        truth = "" if said == label else f", is {model.names[label]}"
        captions.append(f"{model.names[said]} {100 * row[said]:.0f}%{truth}")
    return list(zip(shown.images, attention, captions, strict=True))


def one_of_each(labels: np.ndarray, count: int) -> np.ndarray:
    """Indices of `count` images: the first of every class, then the second of every class, and so on."""
    turn = np.empty(len(labels), dtype=int)  # how many of the same class came before
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        turn[members] = np.arange(len(members))
    return np.lexsort((labels, turn))[:count]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("visualize", __doc__)
    add_run_argument(p)
    p.add_argument("--out", type=png_path, metavar="PNG", help="file to write (default: RUN/inside.png)")
    p.add_argument(
        "--images",
        type=positive_int,
        default=8,
        metavar="N",
        help="number of test images to show (default: 8)",
    )
    add_data_of_run_flag(p)
    add_compute_flags(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
