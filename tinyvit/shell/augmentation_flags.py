"""The flags of augmentation beyond crops and flips, and the one that shows what all of it does."""

import argparse

from tinyvit.data.augmentation import MOST_MAGNITUDE, MOST_OPERATIONS, POLICIES
from tinyvit.runs.settings import Settings
from tinyvit.shell.command import count_up_to, natural_float, png_path, positive_int, up_to


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
        type=count_up_to(MOST_OPERATIONS),
        metavar="N",
        help=f"number of operations of randaugment for each image, from 1 to {MOST_OPERATIONS} "
        f"(default: {Settings.augment_ops})",
    )
    data.add_argument(
        "--augment-magnitude",
        type=up_to(MOST_MAGNITUDE),
        metavar="X",
        help=f"strength of randaugment, from 0 to {MOST_MAGNITUDE:g} "
        f"(default: {Settings.augment_magnitude:g})",
    )
    data.add_argument(
        "--mixup",
        type=natural_float,
        metavar="ALPHA",
        help="blend each image and its label with another one of the batch, in a proportion from "
        "Beta(ALPHA, ALPHA); 0 means never. Mixed labels cannot be predicted with certainty: the training "
        f"loss stays above the test loss (default: {Settings.mixup:g})",
    )
    data.add_argument(
        "--cutmix",
        type=natural_float,
        metavar="ALPHA",
        help="paste a rectangle of another image into each image, whose share of the image is drawn from "
        "Beta(ALPHA, ALPHA), and mix their labels in the same proportion; 0 means never. With --mixup too, "
        f"each image has one of the two (default: {Settings.cutmix:g})",
    )
    data.add_argument(
        "--erase",
        type=up_to(1),
        metavar="P",
        help="replace a rectangle of an image with noise, with this probability "
        f"(default: {Settings.erase:g})",
    )
    data.add_argument(
        "--repeats",
        type=positive_int,
        metavar="N",
        help="put each image into a batch N times, augmented anew each time; an epoch then has fewer "
        f"different images (default: {Settings.repeats})",
    )
    data.add_argument(
        "--show-augmentation",
        type=png_path,
        metavar="FILE.png",
        help="do not train: draw some training images as the model would be shown them",
    )
