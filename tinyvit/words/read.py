"""Reading the text side of a folder of Hugging Face's CLIP or SigLIP."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.errors import UserError
from tinyvit.files.reading import read_json
from tinyvit.model import Params
from tinyvit.weights.arrays import NamedArrays
from tinyvit.weights.description import GELU, UNREADABLE
from tinyvit.weights.safetensors import read_safetensors
from tinyvit.weights.shards import read_shards, weights_in
from tinyvit.words.text import TextConfig, embed_texts, places_to_read, text_layout
from tinyvit.words.tokenizer import Tokenizer

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
_OF_BLOCK = {
    "norm1": "layer_norm1", "attn.out": "self_attn.out_proj", "norm2": "layer_norm2", "mlp.fc1": "mlp.fc1",
    "mlp.fc2": "mlp.fc2",
}  # fmt: skip


@dataclass(eq=False)
class Words:
    """A text tower, its tokenizer, and how alike an image and a text are found to be.

    end is the number of the end token, or None if it is the largest. The likeness of unit vectors is
    exp(scale) times their product, plus bias.
    """

    config: TextConfig
    params: Params
    tokenize: Any
    end: int | None
    scale: float
    bias: float

    def embed(self, texts: list[str]) -> np.ndarray:
        """Unit vectors (n, E) of texts."""
        ids = self.tokenize(texts)
        e, _ = embed_texts(self.config, self.params, ids, places_to_read(self.config, ids, self.end))
        return unit(e)

    def classes(self, names: list[str], templates: list[str]) -> np.ndarray:
        """Unit vectors (n, E) of classes: the mean of what all templates make of a name."""
        each = [self.embed([template.format(name) for template in templates]) for name in names]
        return unit(np.stack([vectors.mean(axis=0) for vectors in each]))

    def probabilities(self, images: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Of each class for each image, (n, C): of CLIP's they sum to 1, of SigLIP's each stands alone."""
        scores = np.exp(self.scale) * unit(images) @ classes.T + self.bias
        if not self.config.causal:
            return 1 / (1 + np.exp(-scores))
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors (n, E) of length 1."""
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def read_words(folder: Path, dtype: str = "float32") -> Words:
    """The text side of the model in a folder. Raises UserError if it is not there, or cannot be read."""
    try:
        stated = read_json(folder / "config.json")
        kind = stated["model_type"]
        text = _DEFAULTS[kind] | (stated.get("text_config_dict") or stated.get("text_config") or {})
        is_clip = kind == "clip"
        config = TextConfig(
            tokens=int(text["vocab_size"]),
            length=int(text["max_position_embeddings"]),
            width=int(text["hidden_size"]),
            mlp_width=int(text["intermediate_size"]),
            heads=int(text["num_attention_heads"]),
            layers=int(text["num_hidden_layers"]),
            dimensions=int(stated.get("projection_dim") or 512 if is_clip else _projected(text)),
            gelu=GELU[text["hidden_act"]],
            eps=float(text["layer_norm_eps"]),
            causal=is_clip,
            has_bias=not is_clip,
        )
        end = text.get("eos_token_id", 2)
    except UNREADABLE as error:
        raise UserError(
            f"{folder} does not describe a model for images and texts ({error}): choose a CLIP or SigLIP."
        ) from error
    path = Path(weights_in(folder) or folder / "model.safetensors")
    arrays = read_safetensors(path) if path.suffix == ".safetensors" else read_shards(path)
    table = NamedArrays({name.removeprefix("model."): array for name, array in arrays.items()}, str(path))
    params = Params.zeros(text_layout(config), dtype)
    for name, shape in params.shapes.items():
        params[name] = _taken(table, name, shape, is_clip)
    scale = float(table.take("logit_scale", table.shape_of("logit_scale")).reshape(-1)[0])
    bias = 0.0 if is_clip else float(table.take("logit_bias", table.shape_of("logit_bias")).reshape(-1)[0])
    return Words(config, params, _tokenizer(folder, config), None if end == 2 else int(end), scale, bias)


def _projected(text: dict[str, Any]) -> int:
    return text.get("projection_size") or text["hidden_size"]


def _taken(table: NamedArrays, name: str, shape: tuple[int, ...], is_clip: bool) -> np.ndarray:
    """One parameter, from its array, or from the three of queries, keys and values."""
    if name in ("tokens", "positions"):
        theirs = {"tokens": "token_embedding", "positions": "position_embedding"}[name]
        return table.take(f"text_model.embeddings.{theirs}.weight", shape)
    *block, layer, part = name.split(".")
    if layer == "projection":
        theirs = "text_projection" if is_clip else "text_model.head"
        array = table.take(f"{theirs}.{part}", shape[::-1])
    elif not block:
        array = table.take(f"text_model.final_layer_norm.{part}", shape)
    elif layer == "qkv":
        prefix = f"text_model.encoder.layers.{block[1]}.self_attn."
        third = (shape[-1] // 3, *shape[:-1])
        array = np.concatenate([table.take(f"{prefix}{x}_proj.{part}", third) for x in "qkv"])
    else:
        theirs = _OF_BLOCK[".".join((*block[2:], layer))]
        array = table.take(f"text_model.encoder.layers.{block[1]}.{theirs}.{part}", shape[::-1])
    return array.T


def _tokenizer(folder: Path, config: TextConfig) -> Any:
    """A function from texts to the numbers of their tokens, (n, L)."""
    if config.causal:
        clip = Tokenizer.load(folder)
        return lambda texts: _padded([clip.encode(text, config.length) for text in texts])
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
    tokenizer.enable_truncation(config.length)
    padding = tokenizer.token_to_id("<pad>") or tokenizer.token_to_id("</s>") or 1
    tokenizer.enable_padding(length=config.length, pad_id=padding)
    return lambda texts: np.array([tokenizer.encode(text.lower()).ids for text in texts])


def _padded(ids: list[list[int]]) -> np.ndarray:
    """Rows of equal length; what follows the end token is seen by no token that is read."""
    longest = max(map(len, ids))
    return np.array([row + [row[-1]] * (longest - len(row)) for row in ids])
