"""The flags of RandAugment and AutoAugment, and the one that shows what all augmentation does."""

from __future__ import annotations

import argparse

from tinyvit.data.augmentation import MOST_MAGNITUDE, POLICIES
from tinyvit.runs.settings import Settings
from tinyvit.shell.command import png_path, positive_int, up_to


def add_augmentation_flags(data: argparse._ArgumentGroup) -> None:
    """What is done to images beyond crops and flips."""
    data.add_argument(
        "--augment",
        choices=POLICIES,
        help="change each image at random in other ways too: with operations that are all as likely and as "
        "strong (randaugment), or with pairs of them that were found for CIFAR-10 (autoaugment) "
        f"(default: {Settings.augment})",
    )
    data.add_argument(
        "--augment-ops",
        type=positive_int,
        metavar="N",
        help=f"number of operations of randaugment for each image (default: {Settings.augment_ops})",
    )
    data.add_argument(
        "--augment-magnitude",
        type=up_to(MOST_MAGNITUDE),
        metavar="X",
        help=f"strength of randaugment, from 0 to {MOST_MAGNITUDE:g} "
        f"(default: {Settings.augment_magnitude:g})",
    )
    data.add_argument(
        "--show-augmentation",
        type=png_path,
        metavar="FILE.png",
        help="do not train: draw some training images as the model would be shown them",
    )
