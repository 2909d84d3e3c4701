"""The text tower of CLIP (Radford et al. 2021) and of SigLIP (Zhai et al. 2023), forward and backward; and
CLIP's tokenizer.

    x = token table at the ids + positions                     (B, L, D)                   (1)
    x = blocks(x)                                              as of a ViT; causal in CLIP (2)
    e = LayerNorm(x) at one token, times a matrix              (B, E)                      (3)

In CLIP that token is the end token, which has seen all those before it. In SigLIP it is the last of all, and
the matrix has a bias.

Backward. Images and texts share no parameter; the gradient of (3) goes back to the rows that were read, and
that of the token table is summed over all places at which a token stood.

CLIP's tokenizer is byte pair encoding (Sennrich et al. 2016), from a text to the numbers of its tokens. A
word is at first one symbol for each of its bytes, the last of them marked as the end of the word. Of all
neighbouring symbols, the pair that was most common in the texts of training is merged into one, then the
next most common, and so on, until no pair is left that is in the list of merges. Common words become one
token, rare ones a few, and none is unknown.
"""

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tinyvit import ops
from tinyvit.backend import Array, array_module
from tinyvit.model import Params, ViTConfig, distributions
from tinyvit.model.later.assemble import block_of
from tinyvit.model.later.biases import add_with_bias, with_bias
from tinyvit.model.layout import ParamSpec, layout
from tinyvit.model.stage import Stage, backward_through, forward_through
from tinyvit.support.errors import UserError
from tinyvit.support.files import read_json, read_text


@dataclass(frozen=True)
class TextConfig:
    """length is the largest number of tokens, tokens that of the vocabulary, and dimensions is E.

    has_bias says whether the last matrix has a bias, as in SigLIP, and the other fields are those of the
    blocks, as in ViTConfig.
    """

    tokens: int
    length: int
    width: int
    mlp_width: int
    heads: int
    layers: int
    dimensions: int
    gelu: str = "quick"
    eps: float = 1e-5
    causal: bool = True
    has_bias: bool = False

    @property
    def blocks(self) -> ViTConfig:
        """The configuration of its blocks: those of a ViT, whose images do not matter."""
        return ViTConfig(
            image_size=(1, 1),
            patch_size=1,
            width=self.width,
            mlp_width=self.mlp_width,
            heads=self.heads,
            layers=self.layers,
            classes=1,
            pool="mean",
            gelu=self.gelu,
            eps=self.eps,
            position="none",
            causal=self.causal,
        )


def text_layout(config: TextConfig) -> tuple[ParamSpec, ...]:
    """The table of parameters, as model.layout has one for images."""
    D = config.width
    ends = [ParamSpec("projection.weight", (D, config.dimensions), distributions.lecun_normal)]
    ends += [ParamSpec("projection.bias", (config.dimensions,))] * config.has_bias
    return (
        ParamSpec("tokens", (config.tokens, D), distributions.small_normal),
        ParamSpec("positions", (config.length, D), distributions.small_normal),
        *(row for row in layout(config.blocks) if row.name.startswith(("blocks.", "norm."))),
        *ends,
    )


class TextCache(NamedTuple):
    """The cache of a text tower."""

    config: TextConfig
    ids: Array
    read: tuple
    blocks: list
    norm: tuple
    projection: tuple


def embed_texts(config: TextConfig, params: Params, ids: Array, read: Array) -> tuple[Array, TextCache]:
    """Embeddings (B, E) of texts, and the cache.

    ids (B, L) are the numbers of their tokens, and read (B,) is the place of each text whose token is read.
    """
    xp = array_module(params.flat)
    x = params["tokens"][ids] + params["positions"][: ids.shape[1]]  # (B, L, D)             eq. 1
    x, caches = forward_through(_blocks(config), params, x)  #                               eq. 2
    at = (xp.arange(len(ids)), read)
    x, norm = ops.layer_norm(x[at], *params.group("norm"), config.eps)  # (B, D)
    e, projection = ops.linear(x, *with_bias(params, "projection"))
    return e, TextCache(config, ids, at, caches, norm, projection)  #                        eq. 3


def embed_texts_backward(de: Array, cache: TextCache, grads: Params) -> None:
    """Add every parameter's gradient to grads, given de (B, E) and the cache of embed_texts."""
    xp, config = array_module(de), cache.config
    dread, *dprojection = ops.linear_backward(de, cache.projection)
    add_with_bias(grads, "projection", *dprojection)
    dread, *dnorm = ops.layer_norm_backward(dread, cache.norm)
    grads.add("norm", *dnorm)
    dx = xp.zeros((*cache.ids.shape, config.width), dtype=de.dtype)
    dx[cache.read] = dread
    dx = backward_through(_blocks(config), dx, cache.blocks, grads)
    grads["positions"][: dx.shape[1]] += dx.sum(axis=0)
    xp.add.at(grads["tokens"], cache.ids, dx)


def _blocks(config: TextConfig) -> list[Stage]:
    return [block_of(config.blocks, i) for i in range(config.layers)]


def places_to_read(config: TextConfig, ids: np.ndarray, end: int | None) -> np.ndarray:
    """The place of each text's token that is read, (B,): its first end token, or the last of all.

    Without an end token, as in OpenAI's files, it is the largest number, which is that of the end.
    """
    if not config.causal:
        return np.full(len(ids), ids.shape[1] - 1)
    return ids.argmax(axis=1) if end is None else (ids == end).argmax(axis=1)


START, END = "<|startoftext|>", "<|endoftext|>"
_SHORT_FORMS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")


class Tokenizer:
    """numbers holds the number of every token; ranks how early each pair of symbols is merged.

    source is where they come from, for messages.
    """

    def __init__(self, numbers: dict[str, int], ranks: dict[tuple[str, str], int], source: str):
        self.numbers, self.ranks, self.source = numbers, ranks, source
        self._tokens_of = lru_cache(maxsize=10_000)(self._merged)

    @classmethod
    def load(cls, folder: Path) -> "Tokenizer":
        """The tokenizer in a folder of Hugging Face's: vocab.json and merges.txt, or tokenizer.json."""
        try:
            if (folder / "vocab.json").is_file():
                numbers = read_json(folder / "vocab.json")
                lines = read_text(folder / "merges.txt").split("\n")[1:]  # the first is a comment
            else:
                model = read_json(folder / "tokenizer.json")["model"]
                numbers, lines = model["vocab"], model["merges"]
            pairs = [line.split(" ") if isinstance(line, str) else line for line in lines if line]
            ranks = {(one, other): rank for rank, (one, other) in enumerate(pairs)}
            if odd := next((t for t, number in numbers.items() if type(number) is not int), None):
                raise ValueError(f"token {odd!r} has no number")
            if missing := next((token for token in (START, END) if token not in numbers), None):
                raise ValueError(f"it lacks {missing}")
            return cls(numbers, ranks, str(folder))
        except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise UserError(
                f"{folder} has no tokenizer that can be read ({error}): expected vocab.json and merges.txt, "
                "or tokenizer.json. Download them too."
            ) from error

    def encode(self, text: str, length: int) -> list[int]:
        """The numbers of a text's tokens, with those of start and end around them, truncated to `length`."""
        tokens = [token for word in split_words(text) for token in self._tokens_of(word)]
        try:
            numbers = [self.numbers[token] for token in tokens]
        except KeyError as error:
            raise UserError(
                f"the tokenizer in {self.source} has no token {error}: download it again."
            ) from None
        return [self.numbers[START], *numbers[: length - 2], self.numbers[END]]

    def _merged(self, word: str) -> tuple[str, ...]:
        """The tokens of a word."""
        if word in (START, END):
            return (word,)
        symbols = [_BYTES[byte] for byte in word.encode("utf-8")]
        symbols[-1] += "</w>"
        while len(symbols) > 1:
            best = min(pairwise(symbols), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
            if best not in self.ranks:
                break
            merged, i = [], 0
            while i < len(symbols):
                together = tuple(symbols[i : i + 2]) == best
                merged.append("".join(best) if together else symbols[i])
                i += 2 if together else 1
            symbols = merged
        return tuple(symbols)


def split_words(text: str) -> list[str]:
    """The words of a text in lower case: letters, single digits, other signs, and short forms such as 's."""
    text = " ".join(unicodedata.normalize("NFC", text).split()).lower()
    words, i = [], 0
    while i < len(text):
        special = next((s for s in (START, END, *_SHORT_FORMS) if text.startswith(s, i)), "")
        j = i + max(1, len(special))
        kind = _kind(text[i])
        while not special and kind in "LO" and j < len(text) and _kind(text[j]) == kind:
            j += 1
        if kind != " ":
            words.append(text[i:j])
        i = j
    return words


def _kind(character: str) -> str:
    """L for letters, N for digits and other numbers, a blank for white space, O for all others."""
    if character.isspace():
        return " "
    kind = unicodedata.category(character)[0]
    return kind if kind in "LN" else "O"


def _printable_bytes() -> list[str]:
    """A character that can be printed for each byte: itself if it can, otherwise one from 256 on (GPT-2)."""
    own = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = iter(range(256, 512))
    return [chr(byte) if byte in own else chr(next(others)) for byte in range(256)]


_BYTES = _printable_bytes()
