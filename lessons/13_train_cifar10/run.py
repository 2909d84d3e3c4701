"""Train a ViT on CIFAR-10 with the loop that you have written.

    python -m lessons.13_train_cifar10.run --data-dir DIR     DIR holds a copy of CIFAR-10
    python -m lessons.13_train_cifar10.run                    the built-in pictures

All settings are those of the figure to beat, unless you choose others.
"""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from pathlib import Path

from lessons.mine.answers import is_written
from lessons.start import file_of, load
from tinyvit.data import hold_out, load_dataset
from tinyvit.engine.blas import keep_freed_memory
from tinyvit.model import initialise, preset
from tinyvit.support.errors import UserError
from tinyvit.support.shell.ending import ending

HERE = Path(__file__).parent
LESSON = f"lessons.{HERE.name}"
TO_BEAT = {"cifar10": 0.591, "shapes": 0.963}  # what the solution reached on the test images
EPOCHS, BATCH, HELD_OUT = 5, 50, 0.1


def main() -> None:
    """Train, choose the best epoch by the held-out images, and look at the test images once."""
    parser = argparse.ArgumentParser(prog=f"{LESSON}.run", description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", metavar="DIR", help="folder with CIFAR-10 (default: built-in pictures)")
    parser.add_argument("--epochs", type=int, default=EPOCHS, metavar="N", help="default: %(default)s")
    parser.add_argument("--model", default="micro/4", metavar="SIZE/PATCH", help="default: %(default)s")
    parser.add_argument("--peak", type=float, default=2e-3, metavar="LR", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--file", choices=("exercise", "solution"), default="exercise", help="whose loop (default: yours)"
    )
    args = parser.parse_args()
    if args.file == "exercise" and not all(is_written(HERE, name) for name in ("evaluate", "fit")):
        parser.exit(2, "write evaluate and fit first, or see what the solution does: --file solution\n")
    keep_freed_memory()
    parts, loop = import_module(f"{LESSON}.parts"), load(file_of(HERE, args.file))
    name = "cifar10" if args.data_dir else "shapes"
    try:
        whole = load_dataset(name, args.data_dir)
        config = preset(args.model, image_size=32, classes=10)
    except UserError as error:
        parser.exit(2, f"{error}\n")
    data = hold_out(whole, round(HELD_OUT * len(whole.train)), args.seed)
    model = parts.Model(config, initialise(config, args.seed))
    images = f"{len(data.train):,} images to train on, {len(data.validation):,} held out"
    print(f"{args.model} on {name}: {images}", flush=True)
    start = time.perf_counter()

    def report(record: dict) -> None:
        losses = f"train_loss {record['train_loss']:.3f}   val_loss {record['val_loss']:.3f}"
        minutes = (time.perf_counter() - start) / 60
        print(
            f"epoch {record['epoch']}/{args.epochs}   {losses}   "
            f"val_accuracy {record['val_accuracy']:.1%}   {minutes:.1f} min",
            flush=True,
        )

    best, _ = loop.fit(model, data, args.epochs, BATCH, args.peak, 1, 0.05, args.seed, report)
    model.params.flat[:] = best.flat
    _, accuracy = loop.evaluate(model, data.test.images, data.test.labels, BATCH)
    print(f"best epoch, on {len(data.test):,} test images: {accuracy:.1%} (to beat: {TO_BEAT[name]:.1%})")


if __name__ == "__main__":
    with ending("lessons.13_train_cifar10.run"):
        main()
