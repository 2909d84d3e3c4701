"""`python -m tinyvit.fewshot WEIGHTS`: how much a model's features know, asked with a few images a class."""

from __future__ import annotations

import argparse

import numpy as np

from tinyvit.analysis.features import image_features
from tinyvit.analysis.few_shot import choose_shots, fit_probe
from tinyvit.backend import Device
from tinyvit.data import Dataset, load_dataset
from tinyvit.pretrained.loading import Model, at_resolution, load_any
from tinyvit.shell.command import make_parser, positive_int, run_command
from tinyvit.shell.flags import add_compute_flags, add_source_flags, add_weights_flags, chosen_device
from tinyvit.shell.progress import Progress

USUAL_SHOTS = (1, 5, 10, 25)

_EPILOG = """\
WEIGHTS is a run folder, an .npz or .safetensors file, or a known name such as Ti_16-384 or ViT-B_16. Nothing
is trained but a linear map on what the model makes of the images, and that has a closed form (see
tinyvit/analysis/few_shot.py): seconds, once the features are there.

examples:
  python -m tinyvit.fewshot runs/shapes-1
  python -m tinyvit.fewshot Ti_16-384 --dataset folder --data-dir photos --resolution 224 --shots 5
"""


def main(args: argparse.Namespace) -> None:
    """Load model and images, compute features, fit and judge a probe for each number of shots and seed."""
    progress, device = Progress(), chosen_device(args)
    model = load_any(args.weights, progress, args.heads)
    model = at_resolution(*model, args.resolution, args.position_resize, args.weights)
    name, size = args.dataset or "shapes", args.image_size
    if name == "folder" and size is None:
        size = max(model[0].image_size)
    dataset = load_dataset(name, args.data_dir, size, args.data_url, report=progress.download(name))
    C = len(dataset.classes)
    smallest = int(np.bincount(dataset.train.labels, minlength=C).min())
    shots = sorted(set(args.shots or [n for n in USUAL_SHOTS if n <= smallest]))
    print(
        f"{args.weights} on {dataset.name}: {C} classes, {len(dataset.test):,} test images; "
        f"chance is {100 / C:.1f}%",
        flush=True,
    )
    table = accuracies(model, dataset, shots, args.seeds, device, args.threads)
    print("shots  images  accuracy")
    for count, found in zip(shots, table, strict=True):
        spread = f" ± {100 * np.std(found, ddof=1):.1f}" if args.seeds > 1 else ""
        print(f"{count:>5}  {count * C:>6}  {100 * np.mean(found):5.1f}%{spread}")
    if args.seeds > 1:
        print(f"mean and standard deviation over {args.seeds} choices of the training images")


def accuracies(
    model: Model, dataset: Dataset, shots: list[int], seeds: int, device: Device, threads: int | None
) -> np.ndarray:
    """Test accuracy (len(shots), seeds) of probes learned from so many images of each class."""
    C, train, test = len(dataset.classes), dataset.train, dataset.test
    choices = [[choose_shots(train.labels, dataset.classes, n, seed) for seed in range(seeds)] for n in shots]
    used = np.unique(np.concatenate([places for row in choices for places in row]))
    known = image_features(*model, train.images[used], device, threads)  # (images used, D)
    asked = image_features(*model, test.images, device, threads)  # (test images, D)
    found = np.empty((len(shots), seeds))
    for i, row in enumerate(choices):
        for seed, places in enumerate(row):
            probe = fit_probe(known[np.searchsorted(used, places)], train.labels[places], C)
            found[i, seed] = probe.accuracy(asked, test.labels)
    return found


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("fewshot", "Classify by a few images a class, on a model's frozen features.", _EPILOG)
    p.add_argument("weights", metavar="WEIGHTS", help="a run folder, a file of weights, or a known name")
    add_source_flags(p)
    add_weights_flags(p)
    p.add_argument(
        "--shots", type=positive_int, nargs="+", metavar="N", help="images of each class (1 5 10 25)"
    )
    p.add_argument(
        "--seeds", type=positive_int, default=3, metavar="N", help="choices of the images (default: 3)"
    )
    add_compute_flags(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
