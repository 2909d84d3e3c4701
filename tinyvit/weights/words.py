"""The text side of CLIP and SigLIP: from words to the space that they share with images."""

import string
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.model import Params
from tinyvit.ops import softmax
from tinyvit.support.errors import UserError
from tinyvit.support.files import read_json
from tinyvit.weights.arrays import NamedArrays, zeros_for
from tinyvit.weights.description import GELU, UNREADABLE, stated_in
from tinyvit.weights.naming import CLIP
from tinyvit.weights.read import read_arrays, weights_in
from tinyvit.weights.text import TextConfig, Tokenizer, embed_texts, places_to_read, text_layout
from tinyvit.weights.torch_names import sources_of, to_ours

# What config.json omits, by Hugging Face's type of the whole model.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "clip": {
        "vocab_size": 49408, "max_position_embeddings": 77, "hidden_size": 512, "intermediate_size": 2048,
        "num_attention_heads": 8, "num_hidden_layers": 12, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-5,
    },
    "siglip": {
        "vocab_size": 32000, "max_position_embeddings": 64, "hidden_size": 768, "intermediate_size": 3072,
        "num_attention_heads": 12, "num_hidden_layers": 12, "hidden_act": "gelu_pytorch_tanh",
        "layer_norm_eps": 1e-6,
    },
}  # fmt: skip
_TABLES = {"tokens": "token_embedding", "positions": "position_embedding"}
_NAMES = replace(CLIP, norm="final_layer_norm")  # SigLIP's blocks have the same names


@dataclass(eq=False)
class Words:
    """A text tower, its tokenizer, and how alike an image and a text are found to be.

    end is the number of the end token, or None if it is the largest. The likeness of unit vectors is
    exp(scale) times their product, plus bias.
    """

    config: TextConfig
    params: Params
    tokenize: Callable[[list[str]], np.ndarray]
    end: int | None
    scale: float
    bias: float

    def embed(self, texts: list[str]) -> np.ndarray:
        """Unit vectors (n, E) of texts."""
        ids = self.tokenize(texts)
        e, _ = embed_texts(self.config, self.params, ids, places_to_read(self.config, ids, self.end))
        return unit(e)

    def classes(self, names: list[str], templates: list[str]) -> np.ndarray:
        """Unit vectors (n, E) of classes: for each name the mean over all templates, with the name for {}.

        Raises UserError for a single class of a CLIP, which is sure of it whatever an image shows.
        """
        if self.config.causal and len(names) == 1:
            raise UserError(
                f"{names[0]!r} is the only class, and a CLIP shares out 100% among its classes: name at "
                "least two (--classes), such as what else the image may show."
            )
        embeddings = [self.embed([template.replace("{}", name) for template in templates]) for name in names]
        return unit(np.stack([vectors.mean(axis=0) for vectors in embeddings]))

    def probabilities(self, images: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Of each class for each image, (n, C): of CLIP's they sum to 1, of SigLIP's each stands alone."""
        scores = np.exp(self.scale) * unit(images) @ classes.T + self.bias
        return softmax(scores)[0] if self.config.causal else 1 / (1 + np.exp(-scores))


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors (n, E) of length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def read_words(folder: Path) -> Words:
    """The text side of the model in a folder. Raises UserError if it is not there, or cannot be read."""
    try:
        stated = read_json(folder / "config.json")
        kind = stated["model_type"]
        text = _DEFAULTS[kind] | (stated.get("text_config_dict") or stated.get("text_config") or {})
        is_clip = kind == "clip"
        projected: Any = text.get("projection_size", text["hidden_size"])
        if is_clip:  # whose text_config often states another
            projected = stated.get("projection_dim") or 512
        config = TextConfig(
            tokens=int(text["vocab_size"]),
            length=int(text["max_position_embeddings"]),
            width=int(text["hidden_size"]),
            mlp_width=int(text["intermediate_size"]),
            heads=int(text["num_attention_heads"]),
            layers=int(text["num_hidden_layers"]),
            dimensions=int(projected),
            gelu=GELU[text["hidden_act"]],
            eps=float(text["layer_norm_eps"]),
            causal=is_clip,
            has_bias=not is_clip,
        )
        end = text.get("eos_token_id")
        end = 2 if end is None else int(end)
        if min(config.tokens, config.length, config.dimensions) < 1:
            raise ValueError("sizes below 1")
        rows = text_layout(config)
    except UNREADABLE as error:
        raise UserError(
            f"{folder} does not describe a model for images and texts ({error}): choose a CLIP or SigLIP."
        ) from error
    path = weights_in(folder) or folder / "model.safetensors"
    arrays = read_arrays(path)
    table = NamedArrays({name.removeprefix("model."): array for name, array in arrays.items()}, str(path))
    params = zeros_for(table, rows, "the text side that its config.json describes", "float32")
    for name, shape in params.shapes.items():
        parts = [table.take(theirs, s) for theirs, s in _sources(name, shape, config)]
        params[name] = to_ours(name, np.concatenate(parts), shape)
    scale, bias = (_number(table, name) for name in ("logit_scale", "logit_bias"))
    if not (np.isfinite(params.flat).all() and np.isfinite([scale, bias]).all()):
        raise UserError(f"{path} contains numbers that are not finite: download it again.")
    return Words(config, params, tokenizer_of(folder, config), None if end == 2 else end, scale, bias)


def _sources(name: str, shape: tuple[int, ...], config: TextConfig) -> list[tuple[str, tuple]]:
    """The names and shapes of the arrays that make up a parameter."""
    if name in _TABLES:
        return [(f"text_model.embeddings.{_TABLES[name]}.weight", shape)]
    if name.startswith("projection."):
        theirs = "text_projection" if config.causal else "text_model.head"
        return [(name.replace("projection", theirs), shape[::-1])]
    return [(f"text_model.{theirs}", s) for theirs, s in sources_of(name, shape, config.blocks, _NAMES)]


def _number(table: NamedArrays, name: str) -> float:
    """A single number; 0 if the model has none, as a CLIP has no bias."""
    if name not in table:
        return 0.0
    shape = table.shape_of(name)
    return table.take(name, shape if shape == (1,) else ()).item()


def tokenizer_of(folder: Path, config: TextConfig) -> Callable[[list[str]], np.ndarray]:
    """A function from texts to the numbers of their tokens, (n, L). Raises UserError if it cannot be read."""
    tokenize = (_tokenizer_of_clip if config.causal else _tokenizer_of_siglip)(folder, config.length)

    def checked(texts: list[str]) -> np.ndarray:
        ids = tokenize(texts)
        if not 0 <= ids.min() <= ids.max() < config.tokens:
            raise UserError(
                f"the tokenizer in {folder} makes numbers from {ids.min()} to {ids.max()}, but the model "
                f"knows {config.tokens:,} tokens: download both again."
            )
        return ids

    return checked


def _tokenizer_of_clip(folder: Path, length: int) -> Callable[[list[str]], np.ndarray]:
    clip = Tokenizer.load(folder)
    return lambda texts: _padded([clip.encode(text, length) for text in texts])


def _tokenizer_of_siglip(folder: Path, length: int) -> Callable[[list[str]], np.ndarray]:
    try:
        from tokenizers import Tokenizer as OfFile  # here, as only SigLIP's needs the package
    except ImportError:
        raise UserError(
            "the texts of SigLIP need the package tokenizers: install it with pip install tokenizers."
        ) from None
    try:
        tokenizer = OfFile.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # the package raises Exception itself
        raise UserError(
            f"{folder / 'tokenizer.json'} cannot be read ({error}): download it again."
        ) from error
    tokenizer.enable_truncation(length)
    stated = stated_in(folder / "tokenizer_config.json")
    pad_token, kind = stated.get("pad_token", "</s>"), stated.get("tokenizer_class", "SiglipTokenizer")
    pad_token = pad_token.get("content") if isinstance(pad_token, dict) else pad_token
    padding = tokenizer.token_to_id(str(pad_token))
    if padding is None:
        raise UserError(
            f"the tokenizer.json in {folder} lacks the token that texts are padded with: download it."
        )
    tokenizer.enable_padding(length=length, pad_id=padding)
    is_first = str(kind).startswith("SiglipTokenizer")  # not of SigLIP 2, which keeps punctuation
    plain = without_punctuation if is_first else str
    return lambda texts: np.array([tokenizer.encode(plain(text.lower())).ids for text in texts])


def without_punctuation(text: str) -> str:
    """The text as SigLIP's tokenizer reads it: without ASCII punctuation, with single blanks."""
    return " ".join(text.translate(dict.fromkeys(map(ord, string.punctuation))).split())


def _padded(ids: list[list[int]]) -> np.ndarray:
    """Rows of equal length; what follows the end token is seen by no token that is read."""
    longest = max(map(len, ids))
    return np.array([row + [row[-1]] * (longest - len(row)) for row in ids])
