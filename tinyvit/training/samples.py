"""A few test images as files in the run folder, to try the model on."""

import re
from collections.abc import Callable
from functools import partial

import numpy as np
from PIL import Image

from tinyvit.data import Dataset, one_of_each
from tinyvit.distributed import by_first
from tinyvit.runs.folder import RunFolder

_MOST = 10


@by_first
def write_samples(run: RunFolder, dataset: Dataset, note: Callable[[str], None]) -> None:
    """Write the first test image of each class, of ten at most, as samples/CLASS.png, unless it is there.

    What cannot be written is mentioned through note(text) and does not stop the run.
    """
    images, labels = dataset.test.images, dataset.test.labels
    try:
        for i in one_of_each(labels, min(_MOST, len(np.unique(labels)))):
            name = re.sub(r"[/\\]", "_", dataset.classes[labels[i]])
            run.add_sample(f"{name}.png", partial(Image.fromarray(images[i]).save, format="PNG"))
    except (OSError, ValueError) as error:  # a UserError is a ValueError
        note(f"test images were not written to {run.samples_path}, but training continues: {error}")
