"""The pictures of a run, which the commands hand to training: training itself does not draw."""

from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.data import Dataset, make_batch, one_of_each, plan_batch
from tinyvit.data.augmentation import NAMES
from tinyvit.insight.pictures.curves import draw_curves
from tinyvit.insight.pictures.rows import SHOWN, VERSIONS, draw_augmentation, draw_patches, filled_patches
from tinyvit.model import Params, ViTConfig
from tinyvit.support.distributed import on_rank_zero
from tinyvit.training.run_data import check_fit
from tinyvit.training.settings import Settings


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
