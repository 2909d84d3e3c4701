"""Find the operation in which the first wrong number of a Vision Transformer sits, knowing only its results.

A vit.py may be cut into functions in any way, so nothing inside it can be looked at. But parameters can be
set: a gain of zero closes a branch, a large bias makes GELU the identity, queries and keys of zero make all
attention uniform. With most of the model switched off, what is still wrong must be in what is left.

The forward is compared with tinyvit's, part by part from the simplest setting to the whole; the gradients
from the head down to the patches, so that the first wrong one stands next to its cause.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tinyvit.gradcheck import random_params
from tinyvit.model import Params, ViTConfig, infer
from tinyvit.objectives import loss_and_grads

TINY = {"image": 8, "patch": 4, "width": 6, "mlp": 7, "heads": 2, "layers": 2, "classes": 3}


class Finding(NamedTuple):
    """An operation, and what is wrong with it."""

    operation: str
    what: str

    def __str__(self) -> str:
        return f"{self.operation}: {self.what}"


class Trial:
    """One small model in float64 with random parameters, two images, and their labels."""

    def __init__(self, config: dict | None = None, seed: int = 0):
        self.config = TINY if config is None else config
        self.theirs = library_config(self.config)
        rng = np.random.default_rng(seed)
        self.params = random_params(self.theirs, rng)
        size = self.config["image"]
        self.images = rng.normal(size=(2, size, size, 3))
        self.labels = rng.permutation(self.config["classes"])[:2]

    def with_params(self, **arrays: float) -> Trial:
        """The same trial with some parameters (dots written as __) set to a number; qk: queries and keys."""
        other = object.__new__(Trial)
        other.__dict__ |= self.__dict__
        other.params = copy.deepcopy(self.params)
        D = self.config["width"]
        for name, value in arrays.items():
            for target in (n for n in other.params if n.startswith(name.replace("__", "."))):
                other.params[target][...] = value
        if "qk" in arrays:
            for target in (n for n in other.params if ".qkv." in n):
                other.params[target][..., : 2 * D] = arrays["qk"]
        return other

    def logits(self, vit) -> np.ndarray:
        """Logits of the file under test."""
        result = vit.forward(self.config, plain(self.params), self.images.copy())
        assert isinstance(result, tuple), f"forward returns {type(result).__name__}, expected a tuple"
        return result[0]

    def grads(self, vit) -> dict[str, np.ndarray]:
        """Gradients of the file under test."""
        return vit.loss_and_grads(self.config, plain(self.params), self.images.copy(), self.labels.copy())[1]

    def right_logits(self) -> np.ndarray:
        """Logits of tinyvit."""
        return infer(self.theirs, self.params, self.images)

    def right_grads(self) -> Params:
        """Gradients of tinyvit."""
        grads = self.params.zeros_like()
        loss_and_grads(self.theirs, self.params, self.images, self.labels, grads)
        return grads


def library_config(config: dict) -> ViTConfig:
    """tinyvit's own description of the model of a config."""
    sizes = (config[name] for name in ("image", "patch", "width", "mlp", "heads", "layers", "classes"))
    return ViTConfig(*sizes)


def plain(params: Params) -> dict[str, np.ndarray]:
    """A dict of copies."""
    return {name: params[name].copy() for name in params}


def first_wrong_forward(vit, trial: Trial) -> Finding | None:
    """The first operation whose result is not tinyvit's; None if the logits are right."""
    if _agree(trial.logits(vit), trial.right_logits()):
        return None
    closed = {}
    for i in range(trial.config["layers"]):
        closed |= {f"blocks__{i}__attn__out": 0.0, f"blocks__{i}__mlp__fc2": 0.0}
    first = {name: value for name, value in closed.items() if not name.startswith("blocks__0__attn")}
    mlp = {name: value for name, value in closed.items() if not name.startswith("blocks__0__mlp")}
    settings = (
        (closed | {"norm__weight": 0.0}, "linear", "the logits of the head, x @ W + b"),
        (
            closed | {"position": 0.0},
            "layer_norm",
            "the last LayerNorm, or the class token that it is given (row 0 of the tokens)",
        ),
        (closed, "position", "the position of the class token, row 0 of the table"),
        (
            first | {"qk": 0.0, "blocks__0__norm1__weight": 0.0},
            "attention",
            "the values, the output projection, or how the heads are put side by side",
        ),
        (
            first | {"qk": 0.0, "patch__weight": 0.0, "position": 0.5},
            "layer_norm",
            "the first LayerNorm of a block, or its skip connection",
        ),
        (first | {"qk": 0.0, "patch__weight": 0.0}, "position", "the positions of the patches"),
        (first | {"qk": 0.0}, "patchify", "the patches, or their linear projection"),
        (first, "attention", "the scores: queries, keys, the root of K, the softmax over the last axis"),
        (
            mlp | {"blocks__0__mlp__fc1": 0.0},
            "mlp",
            "the bias of its second linear layer, or the skip connection around it",
        ),
        (
            mlp | {"blocks__0__mlp__fc1__weight": 0.0, "blocks__0__mlp__fc1__bias": 30.0},
            "gelu",
            "its value at 30, which is 30 (or the linear layer after it)",
        ),
        (mlp | {"blocks__0__mlp__fc1__bias": 30.0}, "mlp", "its LayerNorm, or its first linear layer"),
        (mlp, "gelu", "its values (the tanh form is asked for)"),
    )
    for changes, operation, what in settings:
        changed = trial.with_params(**changes)
        got = changed.logits(vit)
        if _agree(got, changed.right_logits()):
            continue
        return _half_a_norm(changed, got) or _bad_skip(vit, changed, got) or Finding(operation, what)
    return Finding("blocks", "each part is right by itself: look at their order and at what is handed on")


def _half_a_norm(trial: Trial, got: np.ndarray) -> Finding | None:
    """The last LayerNorm, where the logits are those of one that leaves out its gain or its bias."""
    for part, neutral in (("weight", 1.0), ("bias", 0.0)):
        if _agree(got, trial.with_params(**{f"norm__{part}": neutral}).right_logits()):
            return Finding("layer_norm", f"norm.{part} is not used")
    return None


def _bad_skip(vit, trial: Trial, got: np.ndarray) -> Finding | None:
    """The skip connections, where the tokens get lost or a closed branch is not closed."""
    if _agree(got, trial.with_params(norm__weight=0.0).right_logits()):  # the last LayerNorm saw zeros
        return Finding("skip connection", "with closed branches, nothing of the tokens reaches the head")
    blocks = range(trial.config["layers"])
    norms = {f"blocks__{i}__norm{j}": 0.0 for i in blocks for j in (1, 2)}
    ends = [trial.params[f"blocks.{i}.{end}.weight"] for i in blocks for end in ("attn.out", "mlp.fc2")]
    if not any(map(np.any, ends)) and not _agree(got, trial.with_params(**norms).logits(vit)):
        return Finding("skip connection", "x itself is added, not norm(x): x + branch(norm(x))")
    return None


def first_wrong_gradient(vit, trial: Trial) -> Finding | None:
    """The first operation, from the loss to the pixels, whose backward is wrong; the forward is right."""
    found = _Walk(vit, trial).down()
    if found and trial.config["layers"] > 1 and not _Walk(vit, Trial(trial.config | {"layers": 1})).wrong:
        return Finding(
            "blocks", "all is right with one block: in which order do you walk back through several?"
        )
    return found


class _Walk:
    """The parameters from the head down to the patches."""

    def __init__(self, vit, trial: Trial):
        self.vit, self.trial = vit, trial
        self.wrong = self._wrong(trial)

    def down(self) -> Finding | None:
        return (
            self._head()
            or next(filter(None, map(self._block, reversed(range(self.trial.config["layers"])))), None)
            or self._stem()
        )

    def _head(self) -> Finding | None:
        if {"head.weight", "head.bias"} <= self.wrong:
            return Finding("cross_entropy", "the gradient of the logits")
        return (
            self._misplaced("head", "cross_entropy", "the gradients of the images are in the wrong order")
            or self._layer("linear", "head")
            or self._arriving("norm", Finding("linear", "the head's dx, which belongs to row 0"))
            or self._misplaced("norm", "linear", "the head's dx is right, but it is not in row 0")
            or self._layer("layer_norm", "norm")
            or self._misplaced(
                f"blocks.{self.trial.config['layers'] - 1}.mlp.fc2",
                "layer_norm",
                "dx of the last LayerNorm is right, but it is not in row 0 of its image",
            )
        )

    def _block(self, i: int) -> Finding | None:
        b, last = f"blocks.{i}", i == self.trial.config["layers"] - 1
        above = self._top if last else partial(self._joint, f"blocks.{i + 1}.norm1")
        return (
            self._arriving(f"{b}.mlp.fc2", above)
            or self._layer("linear", f"{b}.mlp.fc2")
            or self._arriving(f"{b}.mlp.fc1", partial(self._gelu, b))
            or self._layer("linear", f"{b}.mlp.fc1")
            or self._arriving(f"{b}.norm2", Finding("linear", f"dx of {b}.mlp.fc1"))
            or self._layer("layer_norm", f"{b}.norm2")
            or self._arriving(f"{b}.attn.out", partial(self._joint, f"{b}.norm2"))
            or self._layer("linear", f"{b}.attn.out")
            or self._attention(b)
            or self._arriving(f"{b}.norm1", Finding("linear", f"dx of {b}.attn.qkv"))
            or self._layer("layer_norm", f"{b}.norm1")
        )

    def _stem(self) -> Finding | None:
        if "position" in self.wrong and {"class_token", "patch.bias"} & self.wrong:
            return self._joint("blocks.0.norm1")
        if "position" in self.wrong:
            return Finding("position", "the gradient of the table, summed over the images only")
        if "class_token" in self.wrong:
            return Finding("class_token", "the gradient of the token, summed over the images")
        if {"patch.bias", "patch.weight"} <= self.wrong:
            return Finding("class_token", "the gradient that it leaves for the patches, without row 0")
        return self._layer("linear", "patch")

    def _arriving(self, name: str, cause: Finding | Callable[[], Finding]) -> Finding | None:
        """A layer whose two gradients are both wrong was given a wrong dy, by the operation above it."""
        if not {f"{name}.weight", f"{name}.bias"} <= self.wrong:
            return None
        return cause() if callable(cause) else cause

    def _layer(self, operation: str, name: str) -> Finding | None:
        """A layer of which one gradient is right was given the right dy: the other one is its own fault."""
        for part in ("weight", "bias"):
            if f"{name}.{part}" in self.wrong:
                return Finding(operation, f"the gradient of {name}.{part}")
        return None

    def _top(self) -> Finding:
        """The last LayerNorm, or something that should come later? Only the last MLP is left open."""
        last = self.trial.config["layers"] - 1
        closed = {f"blocks__{i}__attn__out__weight": 0.0 for i in range(last + 1)}
        closed |= {f"blocks__{i}__mlp__fc2__weight": 0.0 for i in range(last)}
        b = f"blocks.{last}.mlp.fc2"
        if not {f"{b}.weight", f"{b}.bias"} & self._wrong(self.trial.with_params(**closed)):
            return Finding("blocks", "walk back from the MLP of the last block, then to its attention")
        return Finding("layer_norm", "dx of the last LayerNorm, which is zero except in row 0")

    def _misplaced(self, name: str, operation: str, what: str) -> Finding | None:
        """The right gradient in a wrong row: with all tokens alike, this does not show."""
        weight, bias = f"{name}.weight", f"{name}.bias"
        if weight not in self.wrong or bias in self.wrong:
            return None
        alike = self.trial.with_params(patch=0.0, class_token=0.0, position=0.0)
        return Finding(operation, what) if weight not in self._wrong(alike) else None

    def _gelu(self, b: str) -> Finding:
        """GELU or the layer above it? Far from zero GELU is the identity: the other layer is on its own."""
        opened = self._wrong(self.trial.with_params(**{_key(f"{b}.mlp.fc1.bias"): 30.0}))
        if f"{b}.mlp.fc1.bias" in opened:
            return Finding("linear", f"dx of {b}.mlp.fc2")
        return Finding("gelu", "its derivative")

    def _joint(self, norm: str) -> Finding:
        """LayerNorm or the skip connection around it? A last matrix of zero closes the branch."""
        b = norm.rsplit(".", 1)[0]
        end = "attn.out" if norm.endswith("norm1") else "mlp.fc2"
        closed = self._wrong(self.trial.with_params(**{_key(f"{b}.{end}.weight"): 0.0}))
        below = "position" if norm == "blocks.0.norm1" else f"{b}.attn.out.bias"
        if norm.endswith("norm1") and norm != "blocks.0.norm1":
            below = f"blocks.{int(b.split('.')[1]) - 1}.mlp.fc2.bias"
        if below in closed:
            return Finding("skip connection", f"around {norm}: dy is added to the dx of its branch")
        grads = self.trial.grads(self.vit)
        if _agree(np.atleast_2d(grads[below]).sum(axis=0), grads[f"{b}.{end}.bias"]):
            return Finding("skip connection", f"around {norm}: dy goes on, without the dx of its branch")
        return Finding("layer_norm", f"dx of {norm}, or its sum with dy is not what the next backward gets")

    def _attention(self, b: str) -> Finding | None:
        weight, bias = f"{b}.attn.qkv.weight", f"{b}.attn.qkv.bias"
        if not {weight, bias} & self.wrong:
            return None
        q, k, v = self._thirds(self.trial, weight)
        if not (q or k or v):
            return Finding("linear", f"the gradient of {bias}")
        if bias not in self.wrong:  # A has rows that add up to 1: dv = dy is right in the sum over the tokens
            if v and not (q or k):
                return Finding("attention", "the gradient of the values: is A in it?")
            if v:
                return Finding("linear", f"the gradient of {weight}")
        if self._another_order(weight):
            return Finding("attention", "the gradients of q, k and v are right, but in the wrong order")
        if v:
            uniform = self.trial.with_params(qk=0.0)
            if not self._thirds(uniform, weight)[2]:
                return Finding("attention", "the gradient of the values: is A transposed?")
            return Finding("attention", "dx of the output projection, or how the heads are separated again")
        if q and k:
            return Finding("attention", "the gradient of the scores: dA, softmax's backward, the root of K")
        return Finding("attention", f"the gradient of the {'queries' if q else 'keys'}")

    def _another_order(self, name: str) -> bool:
        got = np.split(self.trial.grads(self.vit)[name], 3, axis=-1)
        right = np.split(self.trial.right_grads()[name], 3, axis=-1)
        return all(any(_agree(g, r) for g in got) for r in right)

    def _thirds(self, trial: Trial, name: str) -> list[bool]:
        got, right = trial.grads(self.vit)[name], trial.right_grads()[name]
        parts = zip(np.split(got, 3, axis=-1), np.split(right, 3, axis=-1), strict=True)
        return [not _agree(g, r) for g, r in parts]

    def _wrong(self, trial: Trial) -> set[str]:
        got, right = trial.grads(self.vit), trial.right_grads()
        return {name for name in right if not _agree(got[name], right[name])}


def _agree(got: np.ndarray, right: np.ndarray) -> bool:
    scale = max(1e-3, float(np.abs(right).max()))
    return np.shape(got) == right.shape and bool(np.abs(got - right).max() <= 1e-6 * scale)


def _key(name: str) -> str:
    return name.replace(".", "__")
