"""A model is a configuration and the parameters that fit it; it may know what its classes are called."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from tinyvit.model.config import ViTConfig
from tinyvit.model.layout import layout
from tinyvit.model.params import Params

M = TypeVar("M", bound="Model")


@dataclass(eq=False)
class Model:
    """config, params, and classes: the names of the logits in their order, empty where they are not known.

    position_resize is how the library that the model is from fits position embeddings to images of another
    size (see ops.resize). Raises ValueError if the parts do not fit one another. `tinyvit.Model` is this
    class with everything that one does with a model: predict, features, attention, fit, save.
    """

    config: ViTConfig
    params: Params
    classes: tuple[str, ...] = ()
    position_resize: str = "corners"

    def __post_init__(self) -> None:
        wanted = {row.name: row.shape for row in layout(self.config)}
        if self.params.shapes != wanted:
            odd = sorted(wanted.items() ^ self.params.shapes.items())[0][0]
            raise ValueError(
                f"the parameters are not those of the configuration: {odd} should have shape "
                f"{wanted.get(odd)}, but has {self.params.shapes.get(odd)}"
            )
        self.classes = tuple(self.classes)
        if self.classes and len(self.classes) != self.config.classes:
            raise ValueError(
                f"there are {len(self.classes)} names of classes for {self.config.classes} classes"
            )

    @property
    def has_head(self) -> bool:
        """Whether it classifies; a backbone without a head is given one class with zero weights."""
        return self.config.classes > 1

    @property
    def names(self) -> tuple[str, ...]:
        """What the classes are called: class 0, class 1 and so on where nobody has named them."""
        return self.classes or tuple(f"class {c}" for c in range(self.config.classes))

    def with_new_head(self: M, classes: int) -> M:
        """The same model with a head of zeros for other classes, without pre_logits (paper, section 3.2).

        Zero weights give every class the same score, so that the first step moves the head and not the
        features.
        """
        config = replace(self.config, classes=classes, pre_logits=0)
        return replace(
            self, config=config, params=self.params.carried_over(layout(config), without="head."), classes=()
        )

    def __repr__(self) -> str:
        c = self.config
        H, W = c.image_size
        return (
            f"{type(self).__name__}({c.layers} layers, width {c.width}, {c.heads} heads, patches of "
            f"{c.patch_size} x {c.patch_size}, images of {H} x {W}, {c.classes} classes, "
            f"{self.params.count:,} parameters)"
        )
