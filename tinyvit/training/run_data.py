"""The data set of a run: loaded, split as the settings say, and checked against the run's classes."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tinyvit.data import (
    BROUGHT,
    PHOTOS,
    Dataset,
    ImageSet,
    hold_out,
    is_at_hand,
    load_dataset,
    take_share,
)
from tinyvit.data.dataset import Rows
from tinyvit.model import Params, ViTConfig
from tinyvit.support.distributed import current, on_rank_zero, one_per_machine_first
from tinyvit.support.errors import UserError
from tinyvit.support.figures import counted
from tinyvit.support.limits import MOST_EPOCHS
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings

if TYPE_CHECKING:
    from tinyvit.support.shell.progress import Progress

_AT_A_TIME = 500  # images, of which the checksum is made


@on_rank_zero
def check_not_among_classes(out: Path | None, settings: Settings) -> None:
    """Raise UserError if the folder of a new run would be one of the data's class folders, or in one."""
    data, run = Path(settings.data_dir or ""), out or Path("runs")  # as RunFolder.claim has it
    if settings.dataset != "folder" or settings.labels or settings.data_dir is None or not data.is_dir():
        return
    from tinyvit.data.folder_files import folders_of_parts

    for folder in folders_of_parts(data).values():
        if Path(os.path.realpath(run)).is_relative_to(os.path.realpath(folder)):
            raise UserError(
                f"the run folder {run} would be in {folder}, where every folder is a class: choose one "
                "elsewhere with --out."
            )


@one_per_machine_first
def load_data(
    settings: Settings,
    data_url: str | None,
    progress: Progress,
    in_detail: bool = True,
    strict: bool = False,
    recorded: Mapping[str, str] | None = None,
) -> Dataset:
    """The data set of some settings; in_detail, lines that stay say what the user's data contain.

    recorded is the split of an earlier run, which is used instead of a new one (see RunFolder.recorded).
    """
    count = progress.count("images")

    def passing(done: int, total: int) -> None:
        count(done, total) if done < total else progress.clear()

    dataset = load_dataset(
        settings.dataset,
        settings.data_dir,
        settings.image_size,
        data_url,
        settings.seed,
        progress.download(settings.dataset),
        count if in_detail else passing,
        progress.note if in_detail else None,
        strict,
        settings.labels,
        recorded,
        settings.only,
        settings.fit,
    )
    if settings.validation and not recorded:
        dataset = hold_out(dataset, settings.validation, settings.seed)
        if settings.dataset in BROUGHT:
            from tinyvit.data.parts import without_twins

            note = progress.note if in_detail else (lambda line: None)
            dataset = without_twins(dataset, note, is_again=True)
    if settings.fraction < 1 and "train" not in (recorded or {}).values():
        dataset = take_share(dataset, settings.fraction, settings.seed)
    reduced = settings.only or settings.validation or settings.fraction < 1
    if in_detail and reduced and settings.dataset in BROUGHT:
        progress.note(_what_is_used(dataset))
    return dataset


def _what_is_used(dataset: Dataset) -> str:
    """One line about what a run uses of the images that were found."""
    validation = f", {len(dataset.validation):,} for validation" if dataset.validation else ""
    return (
        f"of these, {len(dataset.classes):,} classes are used: {len(dataset.train):,} images to train on"
        f"{validation} and {len(dataset.test):,} to test on"
    )


def load_data_of_run(run: RunFolder, data_dir: Path | None, progress: Progress, config: ViTConfig) -> Dataset:
    """The data set that a run was trained on, with the same split; data_dir says where it is if it has moved.

    Photos are read as they were for training, or at the size of a model for images of another size. If the
    files have changed, a note says which. Raises UserError if their classes are not those of the run.
    """
    settings = run.settings()
    if data_dir is None and settings.data_dir and not Path(settings.data_dir).exists():
        raise UserError(
            f"the data of {run.path} are no longer in {settings.data_dir}: specify where with --data-dir."
        )
    where = settings if data_dir is None else replace(settings, data_dir=str(data_dir))
    if where.dataset in PHOTOS and config.image_size != run.model().image_size:
        where = replace(where, image_size=max(config.image_size))
    if data_dir and where.labels and not Path(where.labels).exists():  # it may have moved with them
        table = Path(where.labels).name
        found = next((each / table for each in (data_dir, data_dir.parent) if (each / table).exists()), None)
        where = replace(where, labels=str(found or where.labels))
    recorded = run.recorded() if where.dataset == "folder" else {}
    dataset = load_data(where, None, progress, in_detail=False, recorded=recorded)
    check_classes(run, dataset)
    if changes := _changes(recorded, dataset):
        progress.note(f"since {run.path} was trained, {where.data_dir} has changed: {'; '.join(changes)}")
    elif _have_changed(run, dataset):
        doubt = ": some of those that count as test images now may have been trained on"
        progress.note(
            f"the image files in {where.data_dir} have changed since {run.path} was trained"
            f"{'' if recorded else doubt}"
        )
    return dataset


def _changes(recorded: Mapping[str, str], dataset: Dataset) -> list[str]:
    """The images of a data set that are new since a run recorded its own, and those that are gone."""
    from tinyvit.data.folder_files import NEW, composed
    from tinyvit.data.parts import listed

    if "train" not in recorded.values():  # not a folder, or by a version that did not record what is not new
        return []
    used = {composed(name): name for name in dataset.file_names()}
    unused = {composed(name) for name in dataset.left_out}
    new = [name for key, name in sorted(used.items()) if key not in recorded]
    apart = sorted(name for name, why in dataset.left_out.items() if why == NEW)
    gone = [name for name, part in recorded.items() if part and name not in used.keys() | unused]
    return [
        f"{counted(len(names), 'image')} {what} ({listed(names)})"
        for names, what in ((new, "new"), (apart, "new and left out"), (gone, "gone"))
        if names
    ]


def needs_download(run: RunFolder, data_dir: Path | None) -> bool:
    """True if load_data_of_run would have to download the data of a run first."""
    settings = run.settings()
    return not is_at_hand(settings.dataset, Path(data_dir or settings.data_dir or "data"))


@on_rank_zero
def check_classes(run: RunFolder, dataset: Dataset) -> None:
    """Raise UserError if the classes of the data are not those of the run, unless it learns without them."""
    if run.settings().target is None and dataset.classes != run.classes():
        raise UserError(
            f"the classes of the data ({len(dataset.classes)}) are not those {run.path} was trained on "
            f"({len(run.classes())}): {_first_difference(dataset.classes, run.classes())}. Point --data-dir "
            "at the data of the run."
        )


def _first_difference(found: tuple[str, ...], expected: tuple[str, ...]) -> str:
    """The difference between the classes found and those expected, in words that name the first of them."""
    there, wanted = set(found), set(expected)
    differences = [f"{name!r} is missing" for name in expected if name not in there][:1]
    differences += [f"{name!r} is new" for name in found if name not in wanted][:1]
    if differences:
        return ", and ".join(differences)
    place = next(c for c, name in enumerate(expected) if found[c] != name)
    return f"their order differs: class {place} is {found[place]!r} instead of {expected[place]!r}"


@on_rank_zero
def check_files(run: RunFolder, dataset: Dataset) -> None:
    """Raise UserError if the images of a run that is to be resumed are not those that it was started with."""
    if _have_changed(run, dataset):
        raise UserError(
            f"the image files have changed since {run.path} was started: to resume it, restore them. To "
            "train on the new ones, start a run, or continue from this model with tinyvit.finetune."
        )


def _have_changed(run: RunFolder, dataset: Dataset) -> bool:
    """True if the image files have other names or sizes than those of the run, as far as that is known."""
    return bool(run.data() and dataset.files) and run.data() != dataset.files


def start_alike(dataset: Dataset, config: ViTConfig, params: Params) -> None:
    """Have all ranks start from the numbers of rank 0, whatever each machine drew or read. A collective.

    Raises UserError on all ranks if one of them has other data, or another model, than the first.
    """
    ranks = current()
    if ranks.size == 1:
        return
    ranks.check_same((_checksums(dataset), dataset.classes), "the images and labels")
    ranks.check_same(str(config), "the models")
    if not ranks.is_first:
        params.flat.fill(0)
    ranks.all_reduce(params.flat)


def _checksums(dataset: Dataset) -> tuple:
    """For each part of the data: the shape of its images, and checksums of the pixels and of the labels."""
    parts = [part for part in (dataset.train, dataset.validation, dataset.test) if part is not None]
    return tuple((part.images.shape, _checksum(part.images), zlib.crc32(part.labels.data)) for part in parts)


def _checksum(images: np.ndarray | Rows) -> int:
    """A checksum of all pixels, read a few images at a time."""
    checksum = 0
    for start in range(0, len(images), _AT_A_TIME):
        checksum = zlib.crc32(np.asarray(images[start : start + _AT_A_TIME]).data, checksum)
    return checksum


def check_fit(settings: Settings, dataset: Dataset) -> None:
    """Raise UserError if the settings do not suit a run on these data."""
    check_batches(settings, dataset.train)
    if settings.epochs > MOST_EPOCHS:
        epochs = f"{settings.epochs:,} epochs"
        given = f"{settings.steps:,} steps are {epochs}, more" if settings.steps else f"{epochs} are more"
        raise UserError(
            f"{given} than the {MOST_EPOCHS:,} whose results a checkpoint has room for: give fewer "
            f"--{'steps' if settings.steps else 'epochs'}. In a run with a smaller --batch-size, each epoch "
            "has more steps."
        )


def check_batches(settings: Settings, images: ImageSet) -> None:
    """Raise UserError if there are no such batches of these images, or no such crops."""
    count, (H, W) = len(images), images.images.shape[1:3]
    batch = f"a batch of {counted(settings.batch_size, 'image')}"
    if settings.batch_size > count:
        raise UserError(
            f"{batch} cannot be drawn from {count:,}: give a smaller "
            + ("--batch-size." if settings.fraction == 1 else "--batch-size or a larger --fraction.")
        )
    if settings.ranks > settings.batch_size:
        raise UserError(
            f"{batch} cannot be shared by {settings.ranks:,} processes: "
            "give a larger --batch-size, or start fewer."
        )
    if settings.accumulate > settings.batch_size:
        raise UserError(
            f"{batch} cannot be computed in {settings.accumulate:,} parts: give a smaller --accumulate."
        )
    if settings.repeats > settings.batch_size:
        raise UserError(
            f"{batch} cannot hold an image {settings.repeats:,} times: "
            "give a smaller --repeats or a larger --batch-size."
        )
    if settings.crop_padding >= min(H, W):
        raise UserError(
            f"crops cannot move by {settings.crop_padding:,} pixels on images of {H} x {W}: give a "
            f"--crop-padding below {min(H, W)}."
        )
