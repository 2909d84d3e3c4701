"""`python -m tinyvit.visualize RUN`: look inside a trained model, in one picture."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tinyvit.analysis.attention_map import attention_in_batches
from tinyvit.analysis.filters import embedding_filters
from tinyvit.analysis.position_similarity import position_similarity
from tinyvit.backend import Device
from tinyvit.data import ImageSet
from tinyvit.engine import make_engine
from tinyvit.pictures.portrait import Row, save_portrait
from tinyvit.runs.checkpoint import Checkpoint
from tinyvit.runs.folder import RunFolder
from tinyvit.shell.command import make_parser, png_path, positive_int, run_command
from tinyvit.shell.flags import add_compute_flags, add_run_argument, chosen_device
from tinyvit.shell.progress import Progress
from tinyvit.training.evaluation import predict_probabilities
from tinyvit.training.session import load_data_of_run


def main(args: argparse.Namespace) -> None:
    """Load the run's checkpoint and data, draw, say where."""
    run = RunFolder.open(args.run)
    device = chosen_device(args)
    checkpoint = run.load(args.checkpoint)
    dataset = load_data_of_run(run, args.data_dir, Progress())
    shown = dataset.test.take(one_of_each(dataset.test.labels, args.images))
    settings = run.settings()
    save_portrait(
        embedding_filters(checkpoint.params, checkpoint.config),
        position_similarity(checkpoint.params, checkpoint.config),
        attention_rows(checkpoint, dataset.classes, shown, device, args.threads),
        out := args.out or run.path / "inside.png",
        f"{settings.dataset}  ·  {settings.model}  ·  {args.checkpoint}.npz",
    )
    print(f"wrote {out}")


def attention_rows(
    checkpoint: Checkpoint, classes: tuple[str, ...], shown: ImageSet, device: Device, threads: int | None
) -> list[Row]:
    """Each image with its attention and what the model says of it."""
    params = checkpoint.params.to(device.xp)
    engine = make_engine(checkpoint.config, device, threads=threads)
    probabilities = predict_probabilities(engine, params, shown.images, device)
    attention = attention_in_batches(params, checkpoint.config, shown.images, device)
    captions = []
    for row, label in zip(probabilities, shown.labels, strict=True):
        said = row.argmax()
        truth = "" if said == label else f", is {classes[label]}"
        captions.append(f"{classes[said]} {100 * row[said]:.0f}%{truth}")
    return list(zip(shown.images, attention, captions, strict=True))


def one_of_each(labels: np.ndarray, count: int) -> np.ndarray:
    """Indices of `count` images: the first of every class, then the second of every class, and so on."""
    turn = np.empty(len(labels), dtype=int)  # how many of its class came before
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        turn[members] = np.arange(len(members))
    return np.lexsort((labels, turn))[:count]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("visualize", "Look inside a trained model: filters, positions, attention.")
    add_run_argument(p)
    p.add_argument(
        "--out", type=png_path, metavar="PNG", help="where to write the picture (default: RUN/inside.png)"
    )
    p.add_argument(
        "--images",
        type=positive_int,
        default=8,
        metavar="N",
        help="how many test images to show (default: 8)",
    )
    p.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="where the data are, if they are no longer where they were",
    )
    add_compute_flags(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
