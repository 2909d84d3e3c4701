"""What is timed: a model, a batch, training or inference, on so many threads."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from tinyvit.model import ViTConfig, preset

CLASSES = 10  # of the made-up labels; for large images 1000, as ImageNet has


@dataclass(frozen=True)
class Case:
    """One thing to time; mode 'train' (a whole step, with clipping and AdamW) or 'infer' (logits alone)."""

    model: str
    image_size: int
    batch: int
    mode: str
    threads: int

    @property
    def config(self) -> ViTConfig:
        """The model; ten classes for small images, 1000 for large ones."""
        return preset(self.model, self.image_size, CLASSES if self.image_size < 200 else 1000)

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Random images (B, H, W, 3) uint8 and labels (B,): what they show does not change the time."""
        rng = np.random.default_rng(0)
        shape = (self.batch, self.image_size, self.image_size, 3)
        images = rng.integers(0, 256, shape, dtype=np.uint8)
        return images, rng.integers(0, self.config.classes, self.batch)

    def as_dict(self) -> dict:
        """For JSON; Case(**it) is this case again."""
        return asdict(self)
