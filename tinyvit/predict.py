"""`python -m tinyvit.predict RUN IMAGE...`: the most likely classes of images, and where the model looks."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tinyvit.analysis.attention_map import class_token_attention
from tinyvit.analysis.overlay import save_overlays
from tinyvit.backend import select_device
from tinyvit.data import normalise, read_image
from tinyvit.engine import make_engine
from tinyvit.shell.door import make_parser, open_door, positive_int
from tinyvit.shell.flags import add_compute_flags, add_run_flags
from tinyvit.training.evaluation import predict_probabilities
from tinyvit.training.run_folder import RunFolder


def main(args: argparse.Namespace) -> None:
    """Read the images, predict, print; draw the attention if asked to."""
    run = RunFolder.open(args.run)
    device = select_device(args.device or "auto")
    if device.note:
        print(device.note)
    checkpoint = run.load(args.checkpoint)
    classes, config = run.classes(), checkpoint.config
    images = np.stack([read_image(path, config.image_size[0]) for path in args.images])  # (n, H, W, 3)
    params = checkpoint.params.to(device.xp)
    engine = make_engine(config, device, threads=args.threads)
    probabilities = predict_probabilities(engine, params, images, device)

    captions = []
    for path, row in zip(args.images, probabilities, strict=True):
        best = row.argsort()[::-1][: args.top]
        print(path)
        for c in best:
            print(f"  {100 * row[c]:5.1f}%  {classes[c]}")
        captions.append(f"{classes[best[0]]} {100 * row[best[0]]:.1f}%")
    if args.attention:
        attention = class_token_attention(
            params, config, normalise(device.xp.asarray(images), params.flat.dtype)
        )
        save_overlays(list(zip(images, attention, captions, strict=True)), args.attention)
        print(f"wrote {args.attention}")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("predict", "The most likely classes of images, and where the model looks.")
    add_run_flags(p)
    p.add_argument(
        "images",
        type=Path,
        nargs="+",
        metavar="IMAGE",
        help="any picture Pillow reads; fitted to the model's size",
    )
    p.add_argument(
        "--top", type=positive_int, default=5, metavar="N", help="how many classes to print (default: 5)"
    )
    p.add_argument("--attention", type=Path, metavar="PNG", help="draw what the class token attends to")
    add_compute_flags(p)
    return p


if __name__ == "__main__":
    open_door(parser(), main)
