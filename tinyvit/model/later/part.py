"""A part that the paper's model does not have: which lists it edits, and how.

A model is assembled from lists of stages, one for each place. For each place that concerns it, a part has a
function that is given the list and returns it edited. The lists of parameters are edited in the same way.

    place            stages of the paper's model
    stem             patchify, patch, class_token, position
    block            none; what is here comes before the two branches of a block
    attention        norm1, attn, attn.out
    heads            none; stages on a pair, queries and keys, each (B, H, N, K)
    scores           none; stages on a pair, scaled queries and scores (B, H, Q, N); their backward passes
                     receive (0, dS), and return what is added to the gradient of the queries, and dS
    probabilities    none; stages on A (B, H, Q, N)
    mlp              norm2, mlp.fc1, gelu, mlp.fc2
    readout          norm, pool, head

Parameters have three places: stem, block and readout.

From attn on, the last block of a class-token model computes that token alone, and the readout gets no other.
A part that needs all tokens there sets needs_all_tokens.

The name of a parameter says where it is: in a block it begins with place.prefix; in the readout with norm,
pool, pre_logits, head or head2; at the stem with none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tinyvit.model.config import ViTConfig
from tinyvit.model.layout import ParamSpec
from tinyvit.model.stage import Stage
from tinyvit.ops import Corruption, Noise

Specs = list[ParamSpec]
Stages = list[Stage]


class Place(NamedTuple):
    """A place in a model, as in the table above. In block i, names begin with `prefix`, blocks.i."""

    kind: str
    block: int | None = None

    @property
    def prefix(self) -> str:
        return "" if self.block is None else f"blocks.{self.block}."


class Step(NamedTuple):
    """Randomness of one training step: its noise, if dropout and the like act, and its corrupted patches."""

    noise: Noise | None = None
    corruption: Corruption | None = None


EditStages = Callable[[ViTConfig, Place, Stages, Step], Stages]
EditSpecs = Callable[[ViTConfig, Place, Specs], Specs]


class Part(NamedTuple):
    """One part.

    fields are the fields of ViTConfig that ask for it, and their values in the paper's model; a part may
    instead have a name, which ViTConfig.parts asks for. If only some values of a field do, `when` says which.
    stages and specs have, for each place that the part edits, a function that does so. They are
    called only if the part is in the model; so is check, which raises UserError if the part does not fit the
    rest. multiply_adds are what the part adds to a forward pass on one image. needs_all_tokens is True if,
    after attention, it reads other tokens than the class token, as a mean over tokens does. known_to names,
    for each field, the engines and formats that have it: see model.later.fields_known_to.
    """

    fields: Mapping[str, Any] = {}
    stages: Mapping[str, EditStages] = {}
    specs: Mapping[str, EditSpecs] = {}
    multiply_adds: Callable[[ViTConfig], int] = lambda config: 0
    check: Callable[[ViTConfig], None] = lambda config: None
    known_to: Mapping[str, str] = {}
    name: str = ""
    when: Callable[[ViTConfig], bool] | None = None
    needs_all_tokens: bool = False

    def is_in(self, config: ViTConfig) -> bool:
        """True if a model has this part."""
        if self.when:
            return self.when(config)
        return self.name in config.parts or any(
            getattr(config, name) != paper for name, paper in self.fields.items()
        )


def index_of(items: list, name: str) -> int:
    """The index of the stage or parameter of that name, without the prefix of its block. KeyError if none."""
    for i, each in enumerate(items):
        if each.name == name or each.name.endswith(f".{name}"):
            return i
    raise KeyError(f"{name} is not among {', '.join(each.name for each in items)}")


def after(items: list, name: str, *new: Any) -> list:
    """The list with new items after the one called name."""
    at = index_of(items, name)
    return [*items[: at + 1], *new, *items[at + 1 :]]


def before(items: list, name: str, *new: Any) -> list:
    """The list with new items before the one called name."""
    at = index_of(items, name)
    return [*items[:at], *new, *items[at:]]


def instead(items: list, name: str, *new: Any) -> list:
    """The list with new items in the place of the one called name."""
    at = index_of(items, name)
    return [*items[:at], *new, *items[at + 1 :]]
