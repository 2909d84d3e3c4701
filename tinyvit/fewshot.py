"""`python -m tinyvit.fewshot WEIGHTS`: learn classes from a few images each, using a model's features."""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from tinyvit.api import Model, load
from tinyvit.data import PHOTOS, Dataset, load_dataset
from tinyvit.data.dataset import class_counts
from tinyvit.data.photos import fit_for
from tinyvit.engine import check_finite
from tinyvit.flags import (
    READING,
    SIZE_OF_MODEL,
    add_download_flags,
    add_flags,
    add_weights_argument,
    chosen_device,
)
from tinyvit.insight.few_shot import choose_shots, fit_probe, with_probe
from tinyvit.support.figures import counted
from tinyvit.support.shell.command import make_parser, positive_int, run_command, some_path
from tinyvit.support.shell.progress import Progress
from tinyvit.training.evaluation import with_interval
from tinyvit.training.run_folder import RunFolder
from tinyvit.weights.resize import at_resolution
from tinyvit.weights.save import check_free

USUAL_SHOTS = (1, 5, 10, 25)

_EPILOG = """\
The model itself is not changed. Only a linear map from its features to the classes is learned. It has a
closed form (see tinyvit/insight/few_shot.py) and takes seconds once the features are computed.

With --save, the map becomes the head of a model that every command reads. Its scores are not probabilities:
they are multiplied by one number, chosen so that the model is as sure as it is right, on images that are
held out from learning in turn (see fitted_scale there). One image of each class is too few for
that: the model is then unsure of every answer.

examples:
  python -m tinyvit.fewshot runs/shapes-1
  python -m tinyvit.fewshot Ti_16-384 --dataset folder --data-dir photos --shots 9 --save probe.npz
  python -m tinyvit.predict --weights probe.npz new-photos/
  python -m tinyvit.fewshot Ti_16-384 --dataset folder --data-dir photos --resolution 224 --shots 5
"""


def main(args: argparse.Namespace) -> None:
    """Load the model and images, and print the accuracy of probes for each number of images per class."""
    if args.save:
        check_free(args.save)
    progress, device = Progress(), chosen_device(args)
    report = progress.download(args.weights)
    model = load(args.weights, heads=args.heads, threads=args.threads, report=report)
    model = at_resolution(model, args.resolution, args.position_resize).to(device)
    name, size = args.dataset or "shapes", args.image_size
    if name in PHOTOS and size is None:
        size = max(model.config.image_size)
    fit = args.fit or (model.photo_fit.fit if model.photo_fit and name in PHOTOS else None)
    dataset = load_dataset(
        name,
        args.data_dir,
        size,
        args.data_url,
        seed=_seed(args.weights),
        report=progress.download(name),
        decoding=progress.count("images"),
        note=progress.note,
        strict=args.strict,
        labels=args.labels,
        only=args.only,
        fit=fit,
    )
    C = len(dataset.classes)
    smallest = int(class_counts(dataset.train.labels, C).min())
    shots = sorted(set(args.shots or [n for n in USUAL_SHOTS if n <= max(smallest, 1)]))
    print(
        f"{args.weights} on {dataset.name}: {C} classes, {len(dataset.test):,} test images; "
        f"chance is {100 / C:.1f}%",
        flush=True,
    )
    table = accuracies(model, dataset, shots, args.seeds)
    print("shots  images  accuracy")
    for count, found in zip(shots, table, strict=True):
        interval = with_interval(found[0], len(dataset.test)).partition("%")[2]
        spread = f" ± {100 * np.std(found, ddof=1):.1f}" if args.seeds > 1 else interval
        print(f"{count:>5}  {count * C:>6}  {100 * np.mean(found):5.1f}%{spread}")
    if args.seeds > 1:
        print(f"mean and standard deviation over {args.seeds} choices of the training images")
    if args.save:
        chosen = choose_shots(dataset.train.labels, dataset.classes, shots[-1], seed=0)
        features, labels = model.features(dataset.train.images[chosen]), dataset.train.labels[chosen]
        probed = with_probe(model, features, labels, dataset.classes)
        replace(probed, photo_fit=fit_for(probed.config.image_size, fit) if fit else None).save(args.save)
        images, tested = counted(shots[-1], "image"), with_interval(table[-1, 0], len(dataset.test))
        print(f"wrote {args.save}, learned from {images} of each class: test accuracy {tested}")


def accuracies(model: Model, dataset: Dataset, shots: list[int], seeds: int) -> np.ndarray:
    """Test accuracy (len(shots), seeds) of probes learned from the given numbers of images per class."""
    C, train, test = len(dataset.classes), dataset.train, dataset.test
    choices = [[choose_shots(train.labels, dataset.classes, n, seed) for seed in range(seeds)] for n in shots]
    used = np.unique(np.concatenate([indices for row in choices for indices in row]))
    train_features = check_finite(model.features(np.asarray(train.images[used])))  # (images used, D)
    test_features = check_finite(model.features(np.asarray(test.images)))  # (test images, D)
    results = np.empty((len(shots), seeds))
    for i, row in enumerate(choices):
        for seed, indices in enumerate(row):
            probe = fit_probe(train_features[np.searchsorted(used, indices)], train.labels[indices], C)
            results[i, seed] = probe.accuracy(test_features, test.labels)
    return results


def _seed(weights: str) -> int:
    """The seed of a run, by which its test images were drawn or chosen; for other weights 0."""
    path = Path(weights)
    run = RunFolder(path if path.is_dir() else path.parent)
    return run.settings().seed if run.has_trained() and run.config_path.is_file() else 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("fewshot", __doc__, _EPILOG)
    add_weights_argument(p)
    source = ("dataset", "data_dir", "labels", "image_size", "fit", "only")
    add_flags(p, *source, *READING, usual=SIZE_OF_MODEL | {"fit": "as predict has it"})
    add_download_flags(p)
    p.add_argument(
        "--shots",
        type=positive_int,
        nargs="+",
        metavar="N",
        help="how many images of each class to learn from "
        f"(default: those of {' '.join(map(str, USUAL_SHOTS))} that the data allow)",
    )
    p.add_argument(
        "--save",
        type=some_path,
        metavar="FILE",
        help="write the model with the probe as its head, learned from the largest number of --shots of the "
        "first choice of images: an .npz file, or another that tinyvit.export writes",
    )
    p.add_argument(
        "--seeds",
        type=positive_int,
        default=3,
        metavar="N",
        help="number of random choices of those images to average over (default: 3)",
    )
    add_flags(p, "device", "threads")
    return p


if __name__ == "__main__":
    run_command(parser(), main)
