"""Flags that several commands share, with the same spelling and help."""

import argparse
from typing import TextIO

from tinyvit.backend import Device, select_device
from tinyvit.data import DATASETS
from tinyvit.data.photo_fit import FITS
from tinyvit.engine import PRECISIONS
from tinyvit.ops.resize import METHODS
from tinyvit.shell.command import path_text, pixel_count, positive_int, some_path, thread_count

# what every command accepts as weights, in its help
WEIGHTS = "a file of weights, the folder or name of a Hugging Face model, or a known name such as Ti_16-384"


def add_compute_flags(parser: argparse._ActionsContainer) -> None:
    """--device and --threads."""
    add_device_flag(parser, "auto")
    parser.add_argument(
        "--threads",
        type=thread_count,
        metavar="N",
        help="number of CPU threads to use (default: one for each available core, which under mpiexec the "
        "processes of a machine share, or OMP_NUM_THREADS if that is less)",
    )


def add_device_flag(parser: argparse._ActionsContainer, default: str) -> None:
    """--device; if it is not given, the result has None or no device, and the command uses the default."""
    parser.add_argument(
        "--device",
        choices=("auto", "cpu", "gpu"),
        help=f"device to compute on; auto uses a GPU if there is one (default: {default})",
    )


def add_precision_flag(parser: argparse._ActionsContainer, default: str) -> None:
    """--precision; if it is not given, the result has None or no precision."""
    parser.add_argument(
        "--precision",
        choices=PRECISIONS,
        help="on a GPU, compute in float32 (fp32), with products in TF32 (tf32), or with activations and "
        "products in bfloat16 (bf16); auto is bf16 where the card has it. Parameters and sums are float32 "
        f"always (default: {default})",
    )


def chosen_device(args: argparse.Namespace, default: str = "auto", file: TextIO | None = None) -> Device:
    """The device requested with --device; if it is not available, one printed line says why."""
    device = select_device(args.device or default)
    if device.note:
        print(device.note, file=file)
    return device


def add_checkpoint_flag(parser: argparse.ArgumentParser) -> None:
    """--checkpoint."""
    parser.add_argument(
        "--checkpoint",
        choices=("best", "last"),
        default="best",
        help="which checkpoint of the run to use (default: best)",
    )


def add_data_of_run_flag(parser: argparse.ArgumentParser) -> None:
    """--data-dir, for a command that reads the data of a run again."""
    parser.add_argument(
        "--data-dir",
        type=some_path,
        metavar="DIR",
        help="folder with the data of the run (default: the one it was trained on)",
    )


def add_json_flag(parser: argparse._ActionsContainer, what: str) -> None:
    """--json, with which a command prints `what` and nothing else to standard output."""
    parser.add_argument("--json", action="store_true", help=f"print {what}")


def add_weights_argument(parser: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """WEIGHTS."""
    parser.add_argument(
        "weights",
        type=path_text,
        metavar="WEIGHTS",
        nargs=nargs,
        help=f"a run folder, {WEIGHTS}",
    )


def add_source_flags(parser: argparse._ActionsContainer, usual_size: str) -> None:
    """--dataset, --data-dir, --labels, --data-url, --strict, --fit and --image-size (default: usual_size)."""
    parser.add_argument("--dataset", choices=DATASETS, help="data set to use (default: shapes)")
    parser.add_argument(
        "--data-dir",
        type=path_text,
        metavar="DIR",
        help="folder of the data, required by --dataset folder and parquet, or for arrays the .npz file; "
        "CIFAR and MNIST are downloaded into it (default: data/)",
    )
    parser.add_argument(
        "--labels",
        type=path_text,
        metavar="TABLE",
        help="table, as .csv or .tsv, of the files in --data-dir and their classes, for --dataset folder "
        "(default: each folder in it is a class)",
    )
    parser.add_argument(
        "--data-url",
        metavar="URL",
        help="address to download the CIFAR archive from, or of a folder with the files of MNIST, instead of "
        "several that are tried in turn",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        default=None,
        help="refuse a folder with damaged files, instead of leaving out a few of them",
    )
    parser.add_argument(
        "--image-size",
        type=pixel_count,
        metavar="N",
        help="scale the images of a folder, of parquet files or of arrays to N x N pixels "
        f"(default: {usual_size}; for arrays, the size that they have)",
    )
    add_fit_flag(parser, "a photo", "crop; for fewshot, as predict has it")


def add_fit_flag(parser: argparse._ActionsContainer, what: str, default: str) -> None:
    """--fit; `what` is fitted."""
    parser.add_argument(
        "--fit",
        choices=FITS,
        help=f"how {what} that does not have the model's shape is fitted: crop shows the model its centre, "
        f"pad shows all of it on grey, squash shows all of it distorted (default: {default})",
    )


def add_only_flag(parser: argparse._ActionsContainer) -> None:
    """--only."""
    parser.add_argument(
        "--only",
        metavar="CLASSES",
        help="use only the images of these classes, their names separated by commas (default: all classes)",
    )


def add_weights_flags(parser: argparse._ActionsContainer) -> None:
    """How the given weights are read: --resolution, --position-resize and --heads."""
    parser.add_argument(
        "--resolution",
        type=pixel_count,
        metavar="N",
        help="adapt the model to images of N x N pixels (default: the size it was trained on)",
    )
    parser.add_argument(
        "--position-resize",
        choices=METHODS,
        help="how position embeddings are resized for --resolution: corners as in the official code, bicubic "
        "as in Hugging Face, antialias as in timm, bilinear as in timm for .npz files (default: as in the "
        "library that the weights come from)",
    )
    add_heads_flag(parser)


def add_heads_flag(parser: argparse._ActionsContainer) -> None:
    """--heads."""
    parser.add_argument(
        "--heads",
        type=positive_int,
        metavar="H",
        help="number of attention heads, if the .safetensors file does not determine it",
    )
