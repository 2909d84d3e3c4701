"""The gradient check of a hybrid: each operation as it is called inside the model, then every parameter.

A small model takes a few training steps in float64, and the arguments of all calls of the learner's functions
are kept. Then, for each operation and each kind of call, from the smallest operations to those made of them:

    its results are compared with those of the lesson's solution, for the same arguments
    its backward is compared with central differences of its forward
    all is run in float32, to see that the dtype stays

So what is named is the operation in which the first wrong number or derivative sits.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from lessons.mine.adapters import training_config
from lessons.mine.answers import asked_in
from lessons.mine.hybrid import Broken, Hybrid
from lessons.mine.operations import OF_THE_MODEL, Operation
from lessons.referee import assert_gradient, assert_operation, assert_same, assert_untouched
from lessons.start import load
from tinyvit import model, objectives, optim
from tinyvit.data import plan_batch
from tinyvit.engine import ReferenceEngine, Training
from tinyvit.gradcheck import STEP, TOLERANCE, gradient_error, numerical_gradient, random_params
from tinyvit.model import ViTConfig
from tinyvit.ops import Noise

# No two sizes that meet agree, so that no mix-up stays hidden: 5 images, 6 patches, 7 tokens, width 8.
SMALL = ViTConfig((4, 6), 2, width=8, mlp_width=11, heads=2, layers=2, classes=9, drop_path=0.4)
BATCH, STEPS, SEED = 5, 3, 7
_DIRECTIONS = 3  # in which each parameter is pushed: a wrong number is seen along any of them


@dataclass(frozen=True)
class Fault:
    """The first thing that is wrong in a hybrid, and the operation in which it sits."""

    operation: str
    message: str


@dataclass
class Proof:
    """The result of a gradient check: the number of derivatives compared, and the first fault, if any."""

    derivatives: int
    fault: Fault | None


def prove(hybrid: Hybrid) -> Proof:
    """Check every operation of a hybrid, and the whole model."""
    proof = Proof(0, None)
    with np.errstate(all="ignore"):
        calls, crash = _calls_of_a_step(hybrid, "float64")
        model_first = [o for o in hybrid.operations if o in OF_THE_MODEL]
        training = [o for o in hybrid.operations if o not in OF_THE_MODEL]
        proof.fault = _first_fault(hybrid, model_first, calls, proof)
        if not proof.fault and not crash:
            proof.fault = _fault_of_the_model(hybrid, proof)
        proof.fault = proof.fault or _first_fault(hybrid, training, calls, proof) or crash
        if not proof.fault:
            calls, crash = _calls_of_a_step(hybrid, "float32")
            proof.fault = _first_fault(hybrid, hybrid.operations, calls, None) or crash
    return proof


def _calls_of_a_step(hybrid: Hybrid, dtype: str) -> tuple[dict[str, list[tuple]], Fault | None]:
    """The arguments of every kind of call of the learner's functions in a few steps of a small model.

    If that fails, the calls up to there, and how it failed.
    """
    rng, config = np.random.default_rng(SEED), training_config(SMALL, hybrid.own)
    images = rng.integers(0, 256, (9, *config.image_size, 3), dtype=np.uint8)
    labels = rng.integers(0, config.classes, 9)
    batch = rng.standard_normal((BATCH, *config.image_size, 3)).astype(dtype)
    params, start = random_params(config, rng, dtype), random_params(config, rng, dtype)
    with hybrid.recording() as calls, hybrid.in_place():
        try:
            optimizer = optim.AdamW(params, weight_decay=0.1)
            engine = ReferenceEngine(config, params, training=Training(images, labels, optimizer, clip=0.5))
            for step in range(1, STEPS + 1):
                plan = plan_batch(SEED, step, rng.integers(0, 9, BATCH), padding=2, flip=True)
                engine.step(plan, optim.learning_rate(step, STEPS + 2, 0.01, 1))
            optim.clip_norm(engine.grads, 1e6)  # more than it has
            if "train_on_batch" in hybrid.own:
                hybrid.own["train_on_batch"](config, start, batch, labels[:BATCH], 4, 0.01)
        except Broken as error:
            return calls, Fault(error.operation, str(error))
        except Exception as error:  # a learner's result does not fit the next line of the library
            return calls, Fault("ViT", _told(error))
    return calls, None


def _first_fault(
    hybrid: Hybrid, operations: list[Operation], calls: dict[str, list[tuple]], proof: Proof | None
) -> Fault | None:
    """The first operation with a wrong result; without a proof to count in, derivatives are left out."""
    for operation in operations:
        for name in operation.functions:
            if name in _BACKWARDS or (name == "train_on_batch" and not proof):
                continue  # a backward is checked with its forward; Adam makes much of float32's rounding
            for args, kwargs in calls.get(name, ()):
                try:
                    _compare(hybrid, name, args, kwargs)
                    if name in _WITH_A_BACKWARD and proof:
                        _differentiate(hybrid, operation, args, kwargs, proof)
                except AssertionError as error:
                    return Fault(operation.name, f"{name}: {error}")
                except Broken as error:
                    return Fault(error.operation, str(error))
                except Exception as error:
                    return Fault(operation.name, f"{name}: {_told(error)}")
    return None


_WITH_A_BACKWARD = {
    "patchify": "patchify_backward",
    "linear": "linear_backward",
    "class_token": "class_token_backward",
    "layer_norm": "layer_norm_backward",
    "single_head": "single_head_backward",
    "attention": "attention_backward",
    "gelu": "gelu_backward",
    "mlp": "mlp_backward",
    "drop_path": "drop_path_backward",
    "block": "block_backward",
    "cross_entropy": "cross_entropy_backward",
}
# The model's own backward is checked last, parameter by parameter.
_BACKWARDS = {*_WITH_A_BACKWARD.values(), "backward"}


def _compare(hybrid: Hybrid, name: str, args: tuple, kwargs: dict) -> None:
    """Assert that a function gives what the solution gives, and leaves its arguments as they are."""
    rightly, given = copy.deepcopy(args), copy.deepcopy(args)
    right = _results(name, _solution(name)(*rightly, **copy.deepcopy(kwargs)), rightly)
    with hybrid.in_place():
        results = _results(name, hybrid.own[name](*given, **copy.deepcopy(kwargs)), given)
    if len(results) != len(right):
        raise AssertionError(f"{len(results)} results, expected {len(right)}")
    names = _RESULTS.get(name, ("y",))
    for which, got, expected in zip(names, results, right, strict=True):
        single = any(getattr(a, "dtype", None) == np.float32 for a in (expected, *args))
        got = float(got) if type(expected) is float else got  # a norm may be one of NumPy's numbers
        assert_same(got, expected, which, 1e-4 if single else _ALLOWED.get((name, which), 1e-9))
    if name != "train_on_batch":  # which changes what it is given: that is what it is for
        assert_untouched(*([a for a in each if isinstance(a, np.ndarray)] for each in (args, given)))


_ALLOWED = {("clip_norm", "g"): 1e-5}  # 1e-6 may be added to a norm, lest it be 0 (lesson 9, clip 1)
_RESULTS = {
    "unpatchify": ("images",),
    "position_embedding_backward": ("dx", "dembedding"),
    "softmax_backward": ("dx",),
    "adamw_step": ("w", "m", "v"),
    "clip_norm": ("g", "the norm"),
    "learning_rate": ("the rate",),
    "train_on_batch": ("the list of losses", "the trained parameters"),
}


def _results(name: str, returned: Any, args: tuple) -> tuple:
    """The results of a function, without the cache of a forward."""
    if name in _WITH_A_BACKWARD or name == "forward":
        if not isinstance(returned, tuple | list) or len(returned) != 2:
            raise AssertionError("expected two results, y and a cache")
        return tuple(returned[:1])
    if name == "train_on_batch":
        return np.asarray(returned, dtype=float), args[1].flat
    return tuple(returned) if isinstance(returned, tuple | list) else (returned,)


def _differentiate(hybrid: Hybrid, operation: Operation, args: tuple, kwargs: dict, proof: Proof) -> None:
    """Assert that a backward is right for the arguments of a call."""
    name = operation.functions[0]
    arrays, rebuild = _arrays_of(hybrid.own[name], args)
    forward, backward = hybrid.own[name], hybrid.own[_WITH_A_BACKWARD[name]]

    def run(*values):
        return forward(*(copy.copy(a) if isinstance(a, Noise) else a for a in rebuild(values)), **kwargs)

    def gradients(dy, cache):
        if name == "cross_entropy":
            return (backward(cache) * float(dy),)
        found = backward(dy, cache)
        if name == "block":
            dx, named = found
            return dx, *(named[parameter] for parameter in args[1])
        return found

    with hybrid.in_place():
        assert_operation(run, gradients, {"as called in the model": arrays}, may_share=True)
    proof.derivatives += sum(array.size for array in arrays.values())


def _arrays_of(function: Callable, args: tuple) -> tuple[dict[str, np.ndarray], Callable]:
    """The arrays with a gradient among a call's arguments by name, and how to put others in their place."""
    names = list(inspect.signature(function).parameters)
    if isinstance(args[1] if len(args) > 1 else None, dict):  # a block's parameters
        arrays = {names[0]: args[0]} | args[1]

        def rebuild(values):
            return values[0], dict(zip(args[1], values[1:], strict=True)), *args[2:]

        return arrays, rebuild
    count = 0
    while count < len(args) and isinstance(args[count], np.ndarray) and args[count].dtype.kind == "f":
        count += 1
    return dict(zip(names, args[:count], strict=False)), lambda values: (*values, *args[count:])


def _fault_of_the_model(hybrid: Hybrid, proof: Proof) -> Fault | None:
    """Compare the gradient of every parameter with the slopes of the loss along random directions."""
    rng = np.random.default_rng(SEED)
    config = training_config(SMALL, hybrid.own)
    params = random_params(config, rng)
    images = rng.standard_normal((2, *config.image_size, 3))
    labels = rng.integers(0, config.classes, 2)
    grads = params.zeros_like()

    def loss() -> float:
        logits, _ = model.forward(config, params, images, Noise(SEED, 1))
        return _solution("cross_entropy")(logits, labels)[0]

    def slope(array: np.ndarray, direction: np.ndarray) -> float:
        here = array.copy()
        array += STEP * direction
        above = loss()
        array[...] = here - STEP * direction
        below = loss()
        array[...] = here
        return (above - below) / (2 * STEP)

    with hybrid.in_place():
        try:
            objectives.loss_and_grads(config, params, images, labels, grads, noise=Noise(SEED, 1))
            for name in reversed(list(params)):
                directions = rng.standard_normal((_DIRECTIONS, *params[name].shape))
                by_hand = np.array([(grads[name] * each).sum() for each in directions])
                pushed = np.array([slope(params[name], each) for each in directions])
                if not gradient_error(by_hand, pushed) < TOLERANCE:
                    whole = numerical_gradient(loss, params[name])
                    assert_gradient(grads[name], whole, f"the gradient of {name}")
        except AssertionError as error:
            return Fault("ViT", str(error))
        except Broken as error:
            return Fault(error.operation, str(error))
    proof.derivatives += params.count
    return None


@cache
def _solution(name: str) -> Callable:
    return getattr(load(asked_in(name) / "solution.py"), name)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
