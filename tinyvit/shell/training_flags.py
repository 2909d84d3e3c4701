"""The flags of training from scratch and of fine-tuning: data, optimisation, run folder."""

import argparse
from typing import Any

from tinyvit.data.augmentation import MOST_MAGNITUDE, MOST_OPERATIONS, POLICIES
from tinyvit.model import INITS, RESNETS, SIZES, usual_name
from tinyvit.model.config import PLACES, POSITIONS
from tinyvit.optim import DECAYS, OPTIMIZERS, usual_learning_rate
from tinyvit.runs.settings import LOGS, Settings
from tinyvit.shell.command import (
    count_or_share,
    count_up_to,
    duration_in_epochs,
    fraction,
    layer_count,
    natural_float,
    natural_int,
    png_path,
    positive_float,
    positive_int,
    rate,
    seed,
    some_path,
    up_to,
)
from tinyvit.shell.flags import add_compute_flags, add_only_flag, add_precision_flag, add_source_flags


def settings_and_others(args: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings that were given, and the other arguments of training.session.train."""
    chosen = vars(args)
    others = ("out", "resume", "config", "data_url", "strict", "show_augmentation")
    return chosen, {name: chosen.pop(name, None) for name in others}


def add_data_flags(parser: argparse.ArgumentParser, usual_size: str) -> None:
    """What to train on and how images are augmented; usual_size describes the default of --image-size."""
    data = parser.add_argument_group("data")
    add_source_flags(data, usual_size)
    add_only_flag(data)
    data.add_argument(
        "--fraction",
        type=fraction,
        metavar="R",
        help="train on this fraction of the training images, the same fraction of every class, chosen by the "
        "seed (default: 1)",
    )
    data.add_argument(
        "--validation",
        type=count_or_share,
        metavar="N",
        help="hold out N training images, or a share below 1 of each class, and use them instead of the test "
        "images to choose the best epoch "
        f"(default: {Settings.validation})",
    )
    data.add_argument(
        "--crop-padding", type=natural_int, metavar="N", help="shift each image at random by up to N pixels"
    )
    data.add_argument(
        "--crop-scale",
        type=fraction,
        metavar="R",
        help="take a random box of each image, from R to all of its area, and resize it to the size of the "
        "model, instead of --crop-padding; 0.08 is usual from scratch with very many photos, and 1 means "
        f"never (default: {Settings.crop_scale:g}; for finetune with --dataset folder, 0.65)",
    )
    data.add_argument(
        "--flip",
        action=argparse.BooleanOptionalAction,
        help="mirror each image at random, with probability 1/2",
    )
    data.add_argument(
        "--colour-jitter",
        type=up_to(1),
        metavar="X",
        help="change brightness, contrast and colour of each image in a random order, each by a factor from "
        f"1 - X to 1 + X; 0.4 is usual (default: {Settings.colour_jitter:g})",
    )
    add_augmentation_flags(data)


def add_model_flags(parser: argparse.ArgumentParser, pool: str) -> None:
    """Which model to train from scratch; pool describes --pool."""
    sizes = ", ".join(usual_name(f"{size}/1").partition("/")[0] for size in SIZES)
    model = parser.add_argument_group("model")
    model.add_argument(
        "--model",
        metavar="SIZE/PATCH",
        help=f"model to train, such as micro/4: SIZE is one of {sizes}, and PATCH is the side of a patch in "
        "pixels; or a hybrid such as R5+nano/4; or a ResNet, one of "
        f"{', '.join(f'resnet-{size}' for size in RESNETS)}",
    )
    model.add_argument(
        "--pool",
        choices=("token", "mean"),
        help=f"{pool} (default: {Settings.pool}; for a ResNet, mean)",
    )
    model.add_argument(
        "--position",
        choices=POSITIONS,
        help="position embedding: a learned vector for each patch, for each row and column, fixed sines and "
        "cosines, a learned vector for each offset between patches, a learned score for each offset in the "
        f"plane (bias), or none (default: {Settings.position}; for a ResNet, none)",
    )
    model.add_argument(
        "--position-at",
        choices=PLACES,
        help="where positions are added: once, in every block with a table for each, or in every block with "
        "one shared table (default: stem; for relative, blocks)",
    )
    model.add_argument(
        "--init",
        choices=INITS,
        help="first values: those of the official code; or mimetic, with which attention looks at close and "
        f"similar patches from the start (default: {Settings.init})",
    )
    model.add_argument(
        "--whiten",
        action=argparse.BooleanOptionalAction,
        help="start from a patch embedding that sees fine detail as well as brightness, computed from the "
        "training images",
    )
    for flag, kind, what in (
        ("--layers", layer_count, "number of blocks"),
        ("--width", positive_int, "width of the tokens"),
        ("--mlp-width", positive_int, "width of the hidden layer of each MLP"),
        ("--heads", positive_int, "number of attention heads"),
    ):
        model.add_argument(flag, type=kind, metavar="N", help=f"{what}, in place of the model's own number")


def add_fit_flags(parser: argparse.ArgumentParser, labels: bool = True) -> None:
    """How to train, with or without labels."""
    fit = parser.add_argument_group("training")
    length = fit.add_mutually_exclusive_group()
    length.add_argument(
        "--epochs", type=positive_int, metavar="N", help="number of passes over the training images"
    )
    length.add_argument(
        "--steps", type=positive_int, metavar="N", help="number of updates to make, instead of --epochs"
    )
    fit.add_argument("--batch-size", type=positive_int, metavar="N", help="number of images in each update")
    fit.add_argument(
        "--accumulate",
        type=positive_int,
        metavar="N",
        help="compute each batch in N parts, one after another, to save memory",
    )
    fit.add_argument(
        "--optimizer",
        choices=OPTIMIZERS,
        help="optimiser to use; muon is for the matrices inside the blocks, with adamw for all else "
        f"(default: {Settings.optimizer}; for finetune, sgd)",
    )
    fit.add_argument(
        "--lr",
        type=positive_float,
        metavar="X",
        help="highest learning rate, reached at the end of warm-up (default: the recipe's; with sgd from "
        f"scratch, {usual_learning_rate('sgd', Settings.lr):g}; for finetune, 0.01, or 0.001 without sgd)",
    )
    fit.add_argument(
        "--decay",
        choices=DECAYS,
        help=f"how the learning rate falls after warm-up (default: {Settings.decay})",
    )
    warmup = fit.add_mutually_exclusive_group()
    warmup.add_argument(
        "--warmup-epochs",
        type=duration_in_epochs,
        metavar="X",
        help="number of epochs during which the learning rate rises linearly",
    )
    warmup.add_argument(
        "--warmup-steps",
        type=natural_int,
        metavar="N",
        help="the same as a number of updates",
    )
    fit.add_argument(
        "--weight-decay",
        type=natural_float,
        metavar="X",
        help="strength of weight decay, which acts only on matrices, and not with sgd "
        f"(default: {Settings.weight_decay:g}; for finetune, and with adam, 0)",
    )
    fit.add_argument(
        "--freeze",
        metavar="PARTS",
        help="what does not learn, separated by commas: stem, blocks.0-9, blocks.3, backbone (all but the "
        "head), matrices (all but norms, biases and the head), or the beginning of a parameter's name "
        "(default: nothing)",
    )
    fit.add_argument(
        "--layer-decay",
        type=fraction,
        metavar="R",
        help="multiply the learning rate by R from each block to the one below it; 0.65 to 0.9 is usual in "
        f"fine-tuning (default: {Settings.layer_decay:g})",
    )
    fit.add_argument(
        "--lora",
        type=positive_int,
        metavar="RANK",
        help="learn changes of this rank for the matrices of attention, and the head, and nothing else "
        "unless --freeze says so (default: all of the model learns)",
    )
    fit.add_argument(
        "--lora-alpha",
        type=positive_float,
        metavar="X",
        help="multiply these changes by X / RANK (default: RANK)",
    )
    fit.add_argument(
        "--clip",
        type=natural_float,
        metavar="X",
        help=f"clip gradients to this norm; 0 means no limit (default: {Settings.clip:g})",
    )
    fit.add_argument(
        "--ema",
        type=rate,
        metavar="R",
        help="evaluate and keep a running average of the weights, of which each update replaces a share of "
        f"1 - R; 0.999 is usual, and 0 means none (default: {Settings.ema:g})",
    )
    if labels:
        fit.add_argument("--smoothing", type=rate, metavar="R", help="amount of label smoothing")
        fit.add_argument(
            "--balanced",
            action=argparse.BooleanOptionalAction,
            help="show images of each class as often as those of the others, however many there are "
            "(default: each image once an epoch)",
        )
    fit.add_argument(
        "--dropout", type=rate, metavar="R", help=f"dropout rate (default: {Settings.dropout:g})"
    )
    fit.add_argument(
        "--drop-path",
        type=rate,
        metavar="R",
        help="rate at which the last block is skipped (stochastic depth), and earlier ones less often",
    )
    fit.add_argument(
        "--evaluate-every",
        type=positive_int,
        metavar="N",
        help="evaluate the model after every N-th epoch, and after the last "
        f"(default: {Settings.evaluate_every})",
    )
    fit.add_argument(
        "--patience",
        type=positive_int,
        metavar="N",
        help="end the run early when N evaluations in a row have not been better than the best "
        "(default: never)",
    )
    fit.add_argument(
        "--seed",
        type=seed,
        metavar="N",
        help=f"seed for everything random (default: {Settings.seed})",
    )


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """Where to compute, where the run is kept, and which one to continue."""
    run = parser.add_argument_group("run")
    add_compute_flags(run)
    add_precision_flag(run, "auto")
    run.add_argument(
        "--out",
        type=some_path,
        metavar="RUN",
        help="run folder to write (default: runs/DATASET-N, with the next free number N)",
    )
    run.add_argument(
        "--log",
        choices=LOGS,
        help="also write the figures of each epoch to RUN/tensorboard, through the package tensorboardX "
        "(default: only to metrics.jsonl and metrics.csv)",
    )
    run.add_argument(
        "--resume",
        type=some_path,
        nargs="?",
        const=True,
        metavar="RUN",
        help="continue the run RUN or, if RUN is omitted, the run given with --out or the latest in runs/; "
        "with --epochs or --steps, the run is extended; flags such as --lr, --mixup or --patience hold from "
        "there on. A run is saved after each evaluation, once a minute in between, and when Ctrl-C stops it",
    )
    run.add_argument(
        "--config",
        type=some_path,
        metavar="FILE",
        help="repeat a run from its config.json; other flags take precedence",
    )


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
        "--patch-dropout",
        type=rate,
        metavar="R",
        help="drop this share of each image's patches, chosen at random, in all but the last fifth of the "
        "steps; 0.6 more than halves the time of a step on a CPU "
        f"(default: {Settings.patch_dropout:g})",
    )
    data.add_argument(
        "--show-augmentation",
        type=png_path,
        metavar="FILE.png",
        help="do not train: draw some training images as the model would be shown them",
    )
