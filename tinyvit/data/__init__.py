"""Data sets: everything that turns files, downloads or a seed into images and labels."""

from numbers import Integral
from pathlib import Path

from tinyvit.data.augment import crop_and_flip, draw_augmentation, normalise, to_input
from tinyvit.data.augmentation import POLICIES, make_policy
from tinyvit.data.dataset import (
    Counter,
    Dataset,
    ImageSet,
    Note,
    class_names,
    hold_out,
    keep_classes,
    one_of_each,
    take_share,
)
from tinyvit.data.plan import (
    BatchPlan,
    balancing,
    epoch_order,
    indices_of_batch,
    make_batch,
    plan_batch,
)
from tinyvit.data.shapes import make_shapes
from tinyvit.errors import UserError
from tinyvit.limits import LARGEST_SEED, MOST_PIXELS

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

DATASETS = ("shapes", "cifar10", "cifar100", "folder")


def image_side(name: str, image_size: int | None = None) -> int:
    """Height and width of a data set's images: image_size for a folder (64 by default), 32 for all others.

    Raises UserError if the images of the data set cannot have that size.
    """
    if name == "folder":
        side = 64 if image_size is None else image_size
        if not isinstance(side, Integral) or not 1 <= side <= MOST_PIXELS:
            raise UserError(f"the image size is {side!r}, expected a whole number from 1 to {MOST_PIXELS:,}.")
        return side
    if image_size not in (None, 32):
        raise UserError(f"the images of {name} are 32 pixels wide, not {image_size}: omit --image-size.")
    return 32


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
) -> Dataset:
    """The data set called 'shapes', 'cifar10', 'cifar100' or 'folder'.

    data_dir: where the files are; by default, CIFAR is downloaded into ./data. image_size: as in image_side.
    data_url: another address for the CIFAR archive. seed: for drawing the shapes, and for splitting a folder
    that has no test images of its own.

    report(done_bytes, total_bytes) is called during a download and decoding(done_images, total_images) while
    a folder is read; note(line) receives what was found in it and left out, or that CIFAR's files are not the
    official ones. strict refuses a folder with damaged files, which are left out otherwise.

    Raises UserError for an unknown name, for a size or seed that cannot be, or if anything is wrong with the
    files.
    """
    if name not in DATASETS:
        raise UserError(f"there is no data set {name!r}, expected one of {', '.join(DATASETS)}.")
    if data_dir is not None and not Path(data_dir).is_dir():
        instead = "create it or omit --data-dir"
        if name == "folder":
            instead = "name one with a folder for each class"
        raise UserError(f"{data_dir} is not a folder, but --data-dir expects one: {instead}.")
    if data_dir is not None and name == "shapes":
        raise UserError("shapes are drawn, not read: omit --data-dir, or name the data in it with --dataset.")
    if data_url is not None and name in ("shapes", "folder"):
        raise UserError(f"{name} is not downloaded: omit --data-url, or name the data with --dataset.")
    if not isinstance(seed, Integral) or not 0 <= seed <= LARGEST_SEED:
        raise UserError(f"the seed is {seed!r}, expected a whole number, 0 or more, and below 2^64.")
    side = image_side(name, image_size)
    if name == "folder":
        if data_dir is None:
            raise UserError(
                "--dataset folder needs to know where the images are: specify their folder with --data-dir."
            )
        from tinyvit.data.folder import load_folder  # here, as each data set needs its own machinery alone

        return load_folder(Path(data_dir), side, seed, decoding, note, strict)
    if name == "shapes":
        return make_shapes(seed=seed)
    from tinyvit.data.cifar import load_cifar

    return load_cifar(name, Path("data" if data_dir is None else data_dir), data_url, report, note)
