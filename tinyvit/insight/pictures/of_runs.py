"""The pictures of a run, which the commands hand to training: training itself does not draw.

Rows of images show what augmentation makes of them, and what a model without labels predicts in them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tinyvit import model, ops
from tinyvit.backend import Array, array_module
from tinyvit.data import Dataset, make_batch, one_of_each, plan_batch
from tinyvit.data.augment import NAMES
from tinyvit.engine import in_batches
from tinyvit.insight.pictures.colours import INK, QUIET
from tinyvit.insight.pictures.curves import draw_curves
from tinyvit.insight.pictures.sheet import File, Sheet, cut
from tinyvit.model import Params, ViTConfig
from tinyvit.model.stage import infer_through
from tinyvit.objectives import masked_patches
from tinyvit.support.distributed import on_rank_zero
from tinyvit.training.run_data import check_fit
from tinyvit.training.settings import Settings

SPACE, MARGIN = 16, 32  # between images, and around them, in points

SHOWN, VERSIONS = 6, 6  # images, and versions of each
SIDE = 128  # width of an image
HEAD = 64
LINE, TEXT = 17, 13  # of captions: from one to the next, and their size
MOST_LINES = 4


def draw_augmentation(
    versions: np.ndarray,
    names: Sequence[str],
    captions: Sequence[Sequence[Sequence[str]]],
    path: File,
    title: str,
) -> None:
    """Draw a row for each image to a PNG at path.

    versions uint8 (n, 1 + v, H, W, 3) are the images, each followed by what was made of it; names are written
    below the images, and captions[row][version], some lines, below the versions.
    """
    n, columns, H, W = versions.shape[:4]
    lines = max([1, *(min(len(caption), MOST_LINES) for row in captions for caption in row)])
    high = round(SIDE * H / W)
    down = high + lines * LINE + SPACE
    sheet = Sheet(2 * MARGIN + columns * (SIDE + SPACE) - SPACE, HEAD + n * down + MARGIN - SPACE, smooth=1)
    sheet.title(title, MARGIN)
    for row, (name, of_row) in enumerate(zip(names, captions, strict=True)):
        for column, caption in enumerate([[name], *of_row]):
            left, top = MARGIN + column * (SIDE + SPACE), HEAD + row * down
            picture = Image.fromarray(versions[row, column])
            picture.thumbnail((SIDE, SIDE * H))  # only ever smaller
            sheet.image(left, top, picture, SIDE)
            for number, line in enumerate(_shortened(caption)):
                at = top + high + LINE / 2 + 2 + number * LINE
                sheet.text(left, at, cut(line, SIDE, TEXT), TEXT, QUIET if column else INK, "lm")
    sheet.save(path)


def _shortened(caption: Sequence[str]) -> list[str]:
    if len(caption) <= MOST_LINES:
        return list(caption)
    return [*caption[: MOST_LINES - 1], f"and {len(caption) - MOST_LINES + 1} more"]


PATCHES_SIDE, PATCHES_HEAD = 160, 96  # width of an image, and the room above the first row
COLUMNS = ("image", "corrupted", "predicted", "true")


def draw_patches(versions: np.ndarray, path: File, title: str) -> None:
    """Draw a row for each image to a PNG at path; versions (n, 4, H, W, 3) uint8 are those of COLUMNS."""
    H, W = versions.shape[2:4]
    across, down = PATCHES_SIDE + SPACE, PATCHES_SIDE * H / W + SPACE
    height = round(PATCHES_HEAD + len(versions) * down + MARGIN - SPACE)
    sheet = Sheet(2 * MARGIN + len(COLUMNS) * across - SPACE, height, smooth=1)
    sheet.title(title, MARGIN)
    for column, name in enumerate(COLUMNS):
        left = MARGIN + column * across
        sheet.text(left, PATCHES_HEAD - 18, name, 15, QUIET, "lm")
        for row, pixels in enumerate(versions[:, column]):
            sheet.image(left, round(PATCHES_HEAD + row * down), pixels, PATCHES_SIDE)
    sheet.save(path)


GREY = 0.75  # what corrupted patches are painted with, from -1 to 1


def filled_patches(
    config: ViTConfig, params: Params, images: np.ndarray, target: str, corrupt: float, seed: int
) -> np.ndarray:
    """Four versions of uint8 images (n, H, W, 3) at the model's size: uint8 (n, 4, height, width, 3).

    They are the image itself; with its corrupted patches painted grey; with what the model predicts in their
    place; and with what is true there, in the same form, such as one colour for each patch. The corruption is
    the one with which images are evaluated.
    """
    xp, P = array_module(params.flat), config.pixels_per_patch
    corruption = masked_patches.fixed_corruption(config, len(images), corrupt, seed, xp)

    def compute(batch: Array, *rows: Array) -> Array:
        chosen = rows[0]
        stages = model.stages(config, corruption=ops.Corruption(*rows))
        predicted = infer_through(stages, params, batch)  # (B, n, C)
        if target != "pixels":
            predicted = predicted.reshape(*chosen.shape, -1, masked_patches.colours(config)).argmax(axis=3)
        truth = masked_patches.true_patches(config, batch, chosen, target)
        whole, _ = ops.patchify(batch, P)  # (B, T, P*P*3)
        versions = [whole]
        for painted in (GREY, *(masked_patches.as_pixels(config, v, target) for v in (predicted, truth))):
            version = whole.copy()
            version[xp.arange(len(batch))[:, None], chosen] = painted
            versions.append(version)
        pictures = [ops.unpatchify(version, batch.shape, P) for version in versions]
        return xp.rint((xp.stack(pictures, axis=1).clip(-1, 1) + 1) * 127.5).astype(xp.uint8)

    return in_batches(compute, config, params, images, *corruption)


class RunPictures:
    """Draws curves, predicted patches and augmented images; each raises UserError or OSError on failure."""

    def curves(
        self, records: list[dict[str, Any]], path: Path, title: str, best_epoch: int, accuracy: str
    ) -> None:
        """Draw the losses and accuracies of the epochs."""
        draw_curves(records, path, title, best_epoch, accuracy)

    def patches(
        self, config: ViTConfig, params: Params, dataset: Dataset, settings: Settings, path: Path
    ) -> None:
        """Draw what a model that learns without labels predicts of some test images."""
        assert settings.target, "this run learns without labels"
        images = np.asarray(dataset.test.images[:SHOWN])
        versions = filled_patches(config, params, images, settings.target, settings.corrupt, settings.seed)
        draw_patches(versions, path, f"{settings.dataset}  ·  {settings.model}  ·  {settings.target}")

    def augmentation(self, settings: Settings, dataset: Dataset, path: Path) -> None:
        """Draw training images as the model would be shown them."""
        draw_augmentation_of(settings, dataset, path)


@on_rank_zero
def draw_augmentation_of(settings: Settings, dataset: Dataset, path: Path) -> None:
    """Draw a sheet of training images, as they are and as steps with these settings would change them.

    The images come from as many classes as possible. Each column is a batch of its own. Raises UserError if
    the settings do not suit the data, or the picture cannot be written.
    """
    check_fit(settings, dataset)
    data, classes = dataset.train, len(dataset.classes)
    size, dtype = data.images.shape[1:3], np.dtype("float32")
    chosen = one_of_each(data.labels, SHOWN)
    columns, done = [np.asarray(data.images[chosen])], []
    for step in range(1, VERSIONS + 1):
        plan = plan_batch(settings.seed, step, chosen, **settings.augmentation())
        x, _ = make_batch(data.images, data.labels, plan, dtype, size, classes)
        columns.append((x * 127.5 + 127.5).round().clip(0, 255).astype(np.uint8))
        done.append([[NAMES[kind].replace("_", " ") for kind in kinds] for kinds in plan.operations["kind"]])
    names = [dataset.classes[label] for label in data.labels[chosen]]
    title = f"{settings.dataset}: training images, and what the model would be shown"
    draw_augmentation(
        np.stack(columns, axis=1), names, np.moveaxis(np.array(done), 0, 1).tolist(), path, title
    )
