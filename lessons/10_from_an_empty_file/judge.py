"""Milestones 6 and 7: train the file on real numbers of pictures, and see what it is worth.

python -m lessons.10_from_an_empty_file.judge                                 the built-in pictures
python -m lessons.10_from_an_empty_file.judge --dataset cifar10 --data-dir DIR
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from lessons.start import file_of, load
from tinyvit.data import load_dataset
from tinyvit.engine.blas import keep_freed_memory
from tinyvit.support.shell.ending import ending

NANO = {"image": 32, "patch": 4, "width": 64, "mlp": 128, "heads": 4, "layers": 4, "classes": 10}
EXPECTED = {"shapes": 0.95, "cifar10": 0.60}


def main() -> None:
    """Train, predict, and compare with the milestone."""
    parser = argparse.ArgumentParser(
        prog="lessons.10_from_an_empty_file.judge", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "--dataset", choices=EXPECTED, default="shapes", help="pictures to learn (default: shapes)"
    )
    parser.add_argument("--data-dir", metavar="DIR", help="folder that holds CIFAR-10 (default: data)")
    parser.add_argument(
        "--epochs", type=int, default=5, metavar="N", help="passes over the images (default: 5)"
    )
    parser.add_argument(
        "--file", choices=("exercise", "solution"), default="exercise", help="which ViT to train"
    )
    args = parser.parse_args()
    keep_freed_memory()
    vit = load(file_of(Path(__file__).parent, args.file))
    data = load_dataset(args.dataset, args.data_dir)
    start = time.perf_counter()
    params = vit.train(NANO, data.train.images, data.train.labels, args.epochs)
    seconds = time.perf_counter() - start
    accuracy = float((vit.predict(NANO, params, data.test.images) == data.test.labels).mean())
    speed = args.epochs * len(data.train.images) / seconds
    verdict = "reached" if accuracy >= EXPECTED[args.dataset] else "not reached"
    print(f"{accuracy:.1%} of the test images in {seconds:.0f} s ({speed:.0f} images/s)")
    print(f"milestone of {EXPECTED[args.dataset]:.0%}: {verdict}")


if __name__ == "__main__":
    with ending("lessons.10_from_an_empty_file.judge"):
        main()
