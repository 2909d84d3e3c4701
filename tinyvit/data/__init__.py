"""Data sets: everything that turns files, downloads or a seed into images and labels."""

from collections.abc import Mapping
from numbers import Integral
from pathlib import Path

import numpy as np

from tinyvit.data.augment import POLICIES, crop_and_flip, draw_augmentation, make_policy, normalise, to_input
from tinyvit.data.dataset import (
    Counter,
    Dataset,
    ImageSet,
    Note,
    check_kept,
    class_names,
    hold_out,
    keep_classes,
    one_of_each,
    take_share,
)
from tinyvit.data.plan import BatchPlan, balancing, epoch_order, indices_of_batch, make_batch, plan_batch
from tinyvit.data.shapes import CLASSES, make_shapes
from tinyvit.support.errors import UserError, did_you_mean
from tinyvit.support.limits import LARGEST_SEED, MOST_PIXELS

__all__ = [
    "DATASETS",
    "POLICIES",
    "BatchPlan",
    "Dataset",
    "ImageSet",
    "balancing",
    "class_names",
    "crop_and_flip",
    "draw_augmentation",
    "epoch_order",
    "hold_out",
    "image_side",
    "indices_of_batch",
    "is_at_hand",
    "keep_classes",
    "load_dataset",
    "make_batch",
    "make_policy",
    "normalise",
    "one_of_each",
    "plan_batch",
    "take_share",
    "to_input",
]

DOWNLOADED = ("cifar10", "cifar100", "mnist", "fashion-mnist")
BROUGHT = ("folder", "arrays", "parquet")  # by the user, in --data-dir
PHOTOS = ("folder", "parquet")  # of any size, which are fitted to --image-size
DATASETS = ("shapes", *DOWNLOADED, *BROUGHT)


def image_side(name: str, image_size: int | None = None) -> int:
    """Height and width of a data set's images: image_size for those of the user (64 for a folder by default),
    28 or 32 for others. Those of arrays without image_size have a size that only their file knows.

    Raises UserError if the images of the data set cannot have that size.
    """
    if name in BROUGHT:
        side = 64 if image_size is None else image_size
        if not isinstance(side, Integral) or not 1 <= side <= MOST_PIXELS:
            raise UserError(f"the image size is {side!r}, expected a whole number from 1 to {MOST_PIXELS:,}.")
        return side
    side = 28 if name.endswith("mnist") else 32
    if image_size not in (None, side):
        raise UserError(f"the images of {name} are {side} pixels wide, not {image_size}: omit --image-size.")
    return side


def is_at_hand(name: str, data_dir: Path) -> bool:
    """True if load_dataset would find everything in data_dir, without a download."""
    from tinyvit.data import cifar, mnist

    return name not in DOWNLOADED or (mnist if name in mnist.SOURCES else cifar).is_at_hand(name, data_dir)


def load_dataset(
    name: str,
    data_dir: Path | str | None = None,
    image_size: int | None = None,
    data_url: str | None = None,
    seed: int = 0,
    report: Counter | None = None,
    decoding: Counter | None = None,
    note: Note | None = None,
    strict: bool = False,
    labels: Path | str | None = None,
    recorded: Mapping[str, str] | None = None,
    only: str | None = None,
    fit: str | None = None,
) -> Dataset:
    """The data set of that name, one of DATASETS.

    data_dir: where the files are; by default, CIFAR and MNIST are downloaded into ./data. image_size: as in
    image_side. data_url: another address for the CIFAR archive, or for the folder of MNIST's files. seed: for
    drawing the shapes, and for splitting data of the user that have no test images. labels: a table of
    the files in a folder and their classes, if these are not its folders. recorded: the part that each image
    of a folder had in an earlier run, by its name, to be used again (see RunFolder.recorded). only: the
    classes to keep, their names separated by commas, checked before anything is decoded or downloaded where
    they are known. fit: how photos are fitted to the image size, one of photos.FITS, 'crop' by default.

    report(done_bytes, total_bytes) is called during a download and decoding(done_images, total_images) while
    photos are read; note(line) receives what was found in it and left out, or that downloaded files are not
    the official ones. strict refuses a folder with damaged files, which are left out otherwise.

    Raises UserError for an unknown name, for a size or seed that cannot be, or if anything is wrong with the
    files.
    """
    if name not in DATASETS:
        hint = did_you_mean(name, DATASETS)
        raise UserError(f"there is no data set {name!r}{hint}, expected one of {', '.join(DATASETS)}.")
    path = Path("data" if data_dir is None else data_dir)
    if data_dir is not None and name == "arrays" and not path.is_file():
        raise UserError(
            f"{data_dir} is not a file, but --data-dir expects one for --dataset arrays: name an .npz file."
        )
    if data_dir is not None and name != "arrays" and not path.is_dir():
        instead = "name one with a folder for each class"
        if name != "folder":
            instead = "create it or omit --data-dir"
        raise UserError(f"{data_dir} is not a folder, but --data-dir expects one: {instead}.")
    if data_dir is not None and name == "shapes":
        raise UserError("shapes are drawn, not read: omit --data-dir, or name the data in it with --dataset.")
    if data_url is not None and name not in DOWNLOADED:
        raise UserError(f"{name} is not downloaded: omit --data-url, or name the data with --dataset.")
    if labels is not None and name != "folder":
        raise UserError(
            f"--labels names the table of a folder's images, not of {name}: give --dataset folder."
        )
    if fit is not None and name not in PHOTOS:
        raise UserError(f"the images of {name} are not photos to be fitted: omit --fit.")
    if not isinstance(seed, Integral) or not 0 <= seed <= LARGEST_SEED:
        raise UserError(f"the seed is {seed!r}, expected a whole number, 0 or more, and below 2^64.")
    side = image_side(name, image_size)
    if name in BROUGHT and data_dir is None:
        where = "their .npz file" if name == "arrays" else "their folder"
        raise UserError(
            f"--dataset {name} needs to know where the images are: specify {where} with --data-dir."
        )
    note, decoding = note or (lambda line: None), decoding or (lambda done, total: None)
    if name == "shapes":
        check_kept(name, only, CLASSES)
        dataset = make_shapes(seed=seed)
    elif name in DOWNLOADED:
        from tinyvit.data import cifar, mnist

        module = mnist if name in mnist.SOURCES else cifar
        check_kept(name, only, module.SOURCES[name].classes)
        load = mnist.load_mnist if name in mnist.SOURCES else cifar.load_cifar
        dataset = load(name, path, data_url, report, note)
    else:  # each needs machinery of its own, and nothing else does
        if name == "arrays":
            from tinyvit.data.arrays import load_arrays

            dataset = load_arrays(path, None if image_size is None else side, seed, note)
        elif name == "parquet":
            from tinyvit.data.parquet import load_parquet

            dataset = load_parquet(path, side, seed, decoding, note, strict, only, fit)
        else:
            from tinyvit.data.folder import load_folder

            table = Path(labels) if labels else None
            dataset = load_folder(path, side, seed, decoding, note, strict, table, recorded, only, fit)
        from tinyvit.data.images_given import FEW, darkness
        from tinyvit.data.parts import without_twins

        some = dataset.train.images[:: 1 + len(dataset.train) // 500]
        if name != "arrays" and (why := darkness(np.asarray(some), FEW)):  # arrays so dark are refused
            note(why)
        dataset = without_twins(dataset, note)
    return keep_classes(dataset, class_names(only, dataset.classes)) if only else dataset
