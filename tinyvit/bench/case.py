"""One case to time: a model, a batch, and how it is computed."""

from dataclasses import asdict, dataclass

import numpy as np

from tinyvit.model import ViTConfig, preset

CLASSES = 10  # for small images; large images have 1000, as in ImageNet


@dataclass(frozen=True)
class Case:
    """One case to time; mode is 'train' (a whole step, with clipping and AdamW) or 'infer' (only logits).

    device is 'cpu' or 'gpu'. On a CPU, all is computed in float32 on so many threads; on a GPU, precision is
    fp32, tf32 or bf16, and threads have no meaning.
    """

    model: str
    image_size: int
    batch: int
    mode: str
    threads: int
    precision: str = "fp32"
    device: str = "cpu"

    @property
    def config(self) -> ViTConfig:
        """The model; ten classes for small images, 1000 for large ones."""
        return preset(self.model, self.image_size, CLASSES if self.image_size < 200 else 1000)

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Random images (B, H, W, 3) uint8 and labels (B,); their contents do not affect the time."""
        rng = np.random.default_rng(0)
        shape = (self.batch, self.image_size, self.image_size, 3)
        images = rng.integers(0, 256, shape, dtype=np.uint8)
        return images, rng.integers(0, self.config.classes, self.batch)

    def as_dict(self) -> dict:
        """The fields, for JSON; Case(**fields) restores the case."""
        return asdict(self)
