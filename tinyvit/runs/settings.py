"""Everything that fixes a training run, in one flat record: config.json holds it, --resume reads it."""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, get_type_hints

from tinyvit.errors import UserError


@dataclass(frozen=True)
class Settings:
    """A run, completely: the same settings on the same machine give the same weights.

    Sizes are in images, times in epochs. steps, if given, is how many updates there are in all: epochs is
    then as many as they take, the last one cut short. validation is how many training images are held out to
    choose the best epoch by, 0 to use the test set for that. crop_padding is how far, in pixels, a random
    crop may move. accumulate cuts a batch into so many parts, computed one after another, when memory is
    short.

    For fine-tuning, weights is the run folder, file or known name to start from (model is then its name),
    heads their number where the file does not tell, resolution the side of the images that the model is
    given, in pixels, if not that of the weights, and position_resize how its position embedding is fitted to
    them.
    """

    dataset: str
    model: str
    data_dir: str | None = None
    image_size: int | None = None
    validation: int = 0
    pool: str = "token"
    epochs: int = 10
    steps: int | None = None
    batch_size: int = 128
    accumulate: int = 1
    optimizer: str = "adamw"
    lr: float = 1e-3
    weight_decay: float = 0.05
    warmup_epochs: float = 1.0
    decay: str = "cosine"
    clip: float = 1.0
    smoothing: float = 0.0
    dropout: float = 0.0
    drop_path: float = 0.0
    crop_padding: int = 0
    flip: bool = False
    weights: str | None = None
    heads: int | None = None
    resolution: int | None = None
    position_resize: str | None = None
    seed: int = 0
    device: str = "auto"
    threads: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """For a JSON file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        """Settings(**values); raises UserError for a name or a type that is not one of a setting."""
        types = get_type_hints(cls)
        remedy = "Use the version of tinyvit that wrote it, or start a new run."
        if unknown := sorted(values.keys() - types.keys()):
            raise UserError(
                f"config.json has settings this version does not know: {', '.join(unknown)}. {remedy}"
            )
        needed = {field.name for field in fields(cls) if field.default is MISSING}
        if missing := sorted(needed - values.keys()):
            raise UserError(f"config.json lacks the settings {', '.join(missing)}. {remedy}")
        for name, value in values.items():
            if not isinstance(value, types[name] | int if types[name] is float else types[name]):
                raise UserError(f"config.json has {value!r} for the setting {name}. {remedy}")
        return cls(**values)
