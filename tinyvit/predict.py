"""`python -m tinyvit.predict RUN IMAGE...`: the most likely classes of images, and where the model looks."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from tinyvit.analysis.attention_map import attention_in_batches
from tinyvit.data import read_image
from tinyvit.engine import make_engine
from tinyvit.errors import UserError
from tinyvit.pictures.attention import save_overlays
from tinyvit.pretrained.loading import at_resolution, check_has_head, class_names, load_any
from tinyvit.runs.folder import RunFolder
from tinyvit.shell.command import make_parser, png_path, positive_int, run_command
from tinyvit.shell.flags import add_checkpoint_flag, add_compute_flags, add_weights_flags, chosen_device
from tinyvit.shell.progress import Progress
from tinyvit.training.evaluation import predict_probabilities

_EPILOG = """\
examples:
  python -m tinyvit.predict runs/shapes-1 a.png b.png --attention look.png
  python -m tinyvit.predict --weights Ti_16-384 photo.jpg
"""


def main(args: argparse.Namespace) -> None:
    """Read the images, predict, print; draw the attention if asked to."""
    device = chosen_device(args)
    paths = args.images
    if args.weights is None and args.run is None:
        raise UserError(
            "expected RUN IMAGE..., or --weights FILE IMAGE...: what predicts, and at least one image."
        )
    if args.weights and args.run:  # then the first word is an image too
        paths = [args.run, *paths]
    elif args.run:
        if args.run.is_file():
            raise UserError(f"{args.run} is no run folder: if it holds weights, say --weights {args.run}.")
        RunFolder.open(args.run)  # or say that it is none
    source = args.weights or str(args.run)
    config, params = load_any(source, Progress(), args.heads, args.checkpoint)
    check_has_head(source, config)
    classes = class_names(source, config.classes)
    config, params = at_resolution(config, params, args.resolution, args.position_resize, source)
    images = np.stack([read_image(path, config.image_size) for path in paths])  # (n, H, W, 3)
    params = params.to(device.xp)
    engine = make_engine(config, device, threads=args.threads)
    probabilities = predict_probabilities(engine, params, images, device)

    captions = []
    for path, row in zip(paths, probabilities, strict=True):
        best = row.argsort()[::-1][: args.top]
        print(path)
        for c in best:
            print(f"  {100 * row[c]:5.1f}%  {classes[c]}")
        captions.append(f"{classes[best[0]]} {100 * row[best[0]]:.1f}%")
    if args.attention:
        attention = attention_in_batches(params, config, images, device)
        save_overlays(list(zip(images, attention, captions, strict=True)), args.attention)
        print(f"wrote {args.attention}")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("predict", "The most likely classes of images, and where the model looks.", _EPILOG)
    p.add_argument(
        "run", type=Path, nargs="?", metavar="RUN", help="a run folder of tinyvit.train; or give --weights"
    )
    p.add_argument(
        "images",
        type=Path,
        nargs="+",
        metavar="IMAGE",
        help="any picture Pillow reads; fitted to the model's size",
    )
    p.add_argument(
        "--weights", metavar="FILE", help="an .npz or .safetensors file, or a known name such as Ti_16-384"
    )
    add_weights_flags(p)
    add_checkpoint_flag(p)
    p.add_argument(
        "--top", type=positive_int, default=5, metavar="N", help="how many classes to print (default: 5)"
    )
    p.add_argument("--attention", type=png_path, metavar="PNG", help="draw what the class token attends to")
    add_compute_flags(p)
    return p


if __name__ == "__main__":
    run_command(parser(), main)
