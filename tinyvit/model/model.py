"""A model: a configuration, parameters to match, and the names of the classes if they are known."""

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tinyvit.model.config import ViTConfig
from tinyvit.model.layout import layout
from tinyvit.model.params import Params
from tinyvit.support.errors import UserError

M = TypeVar("M", bound="Model")


class Positions(NamedTuple):
    """The position embeddings, by name, of a model with that config, and the bytes of the resized ones."""

    config: ViTConfig
    tables: dict[str, np.ndarray]
    resized: dict[str, bytes]


@dataclass(eq=False)
class Model:
    """config, params, and classes: the class names in the order of the logits, empty if they are unknown.

    position_resize is how the library that the model comes from resizes position embeddings for images of
    another size (see ops.resize), and original what they were before, if they have been resized. photo_fit is
    how its source says that photos become images for it, a data.photos.PhotoFit, or None; texts is the
    folder with the side of texts, if it is a model for images and texts (weights.words). Raises ValueError
    if the parts do not match. `tinyvit.Model` extends this class with everything there is to do with a model:
    predict, features, attention, fit, save.
    """

    config: ViTConfig
    params: Params
    classes: tuple[str, ...] = ()
    position_resize: str = "corners"
    photo_fit: Any = None
    texts: Path | None = field(default=None, kw_only=True, repr=False)
    original: Positions | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        wanted = {row.name: row.shape for row in layout(self.config)}
        if self.params.shapes != wanted:
            odd = sorted(wanted.items() ^ self.params.shapes.items())[0][0]
            raise ValueError(
                f"the parameters do not match the configuration: {odd} should have shape "
                f"{wanted.get(odd)}, but has {self.params.shapes.get(odd)}"
            )
        self.classes = tuple(self.classes)
        if self.classes and len(self.classes) != self.config.classes:
            raise ValueError(f"there are {len(self.classes)} class names for {self.config.classes} classes")

    @property
    def has_head(self) -> bool:
        """True if it can classify; a backbone without a head has one class with zero weights."""
        return self.config.classes > 1 and self.config.predicts == "image"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the classes: class 0, class 1 and so on if they have none.

        Classes that share a name, such as ImageNet's two cranes, are told apart by their numbers: crane (134)
        and crane (517).

        Raises UserError if somebody has set `classes` to what is not one text for each class.
        """
        count = self.config.classes
        try:
            names = tuple(self.classes)
        except TypeError:
            raise UserError(
                f"model.classes is {self.classes!r}, expected one text for each class: set model.classes "
                "again, or to () for none."
            ) from None
        if names and len(names) != count:
            raise UserError(
                f"the number of class names is {len(names)}, expected {count}, one for each class: set "
                "model.classes again, or to () for none."
            )
        if unfit := [name for name in names if not isinstance(name, str)]:
            raise UserError(f"a class is called {unfit[0]!r}, expected text: set model.classes to texts.")
        shared = {name for name, times in Counter(names).items() if times > 1}
        names = tuple(f"{name} ({c})" if name in shared else name for c, name in enumerate(names))
        return names or tuple(f"class {c}" for c in range(count))

    def with_new_head(self: M, classes: int) -> M:
        """The same model with a new head of zeros for other classes, without pre_logits (paper, section 3.2).

        A model that predicted patches, or an embedding, then classifies images, without mask token or texts.
        With zero weights no gradient reaches the features at first, so the first step changes only the head,
        apart from weight decay.
        """
        config = replace(self.config, classes=classes, pre_logits=0, predicts="image", head_bias=True)
        params = self.params.copy_to(layout(config), exclude=("head.", "head2."))
        return replace(self, config=config, params=params, classes=(), texts=None)

    def __repr__(self) -> str:
        c = self.config
        P = c.pixels_per_patch
        H, W = c.image_size
        layers = "1 layer" if c.layers == 1 else f"{c.layers} layers"
        heads = "1 head" if c.heads == 1 else f"{c.heads} heads"
        classes = f"{c.classes} classes" if self.has_head else "no head"
        classes = "a head for patches" if c.predicts_patches else classes
        shape = f"{layers}, width {c.width}, {heads}, patches of {P} x {P}"
        if not c.has_transformer:
            shape = f"ResNet with stages of {', '.join(map(str, c.resnet or ()))} units, width {c.width}"
        return (
            f"{type(self).__name__}({shape}, images of {H} x {W}, {classes}, "
            f"{self.params.count:,} parameters)"
        )
