"""Flags that several doors have, spelled and explained alike."""

from __future__ import annotations

import argparse
from pathlib import Path

from tinyvit.backend import Device, select_device
from tinyvit.data import DATASETS
from tinyvit.ops.resize import METHODS
from tinyvit.shell.command import positive_int, thread_count


def add_compute_flags(parser: argparse._ActionsContainer) -> None:
    """--device and --threads."""
    parser.add_argument(
        "--device", choices=("auto", "cpu", "gpu"), help="where to compute; auto takes a GPU if there is one"
    )
    parser.add_argument("--threads", type=thread_count, metavar="N", help="CPU threads (all cores)")


def chosen_device(args: argparse.Namespace) -> Device:
    """The device that --device asks for; where it is not to be had, one printed line says why."""
    device = select_device(args.device or "auto")
    if device.note:
        print(device.note)
    return device


def add_run_argument(parser: argparse.ArgumentParser) -> None:
    """RUN, and which of its checkpoints."""
    parser.add_argument("run", type=Path, metavar="RUN", help="a run folder of tinyvit.train")
    add_checkpoint_flag(parser)


def add_checkpoint_flag(parser: argparse.ArgumentParser) -> None:
    """--checkpoint."""
    parser.add_argument(
        "--checkpoint", choices=("best", "last"), default="best", help="which checkpoint (default: best)"
    )


def add_source_flags(parser: argparse._ActionsContainer) -> None:
    """Which images: --dataset, --data-dir, --data-url and --image-size."""
    parser.add_argument("--dataset", choices=DATASETS, help="which images (shapes)")
    parser.add_argument(
        "--data-dir", metavar="DIR", help="where the data are; CIFAR is downloaded to data/ otherwise"
    )
    parser.add_argument(
        "--data-url", metavar="URL", help="another address to download the CIFAR archive from"
    )
    parser.add_argument(
        "--image-size", type=positive_int, metavar="N", help="side of the images of a folder, in pixels"
    )


def add_weights_flags(parser: argparse._ActionsContainer) -> None:
    """How the weights that a door is given are taken: --resolution, --position-resize and --heads."""
    parser.add_argument(
        "--resolution",
        type=positive_int,
        metavar="N",
        help="side of the images that the model is given, in pixels (that of the weights)",
    )
    parser.add_argument(
        "--position-resize",
        choices=METHODS,
        help="how position embeddings are fitted to a --resolution: corners as in the official code, bicubic "
        "as in Hugging Face, antialias as in timm, bilinear as in timm for .npz files (default: as in the "
        "library that the weights are from)",
    )
    add_heads_flag(parser)


def add_heads_flag(parser: argparse._ActionsContainer) -> None:
    """--heads."""
    parser.add_argument(
        "--heads",
        type=positive_int,
        metavar="H",
        help="attention heads, for a .safetensors file of a width that does not tell",
    )
