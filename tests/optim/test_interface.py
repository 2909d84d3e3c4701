"""The interface of optimisers: whatever has its members trains, and no caller looks behind it."""

import ast
from pathlib import Path

import numpy as np
import pytest

import tinyvit
from tests.helpers import tiny_config
from tinyvit.data import plan_batch
from tinyvit.engine import CpuEngine, ReferenceEngine, Training
from tinyvit.gradcheck import random_params
from tinyvit.optim import OPTIMIZERS, SGD, AdamW, LoRA, SubsetOptimizer, rates
from tinyvit.optim.interface import Optimizer


class Inherits(Optimizer):
    """SGD, as a learner would write it."""

    def __init__(self, params):
        self.params, self.m = params, params.zeros_like().flat

    @property
    def state(self):
        return {"m": self.m}

    def step(self, grads, lr, step):
        self.m[...] = 0.9 * self.m + grads.flat
        self.params.flat[...] -= lr * self.m


# Has all members of the interface, and no base class.
HasMembers = type("HasMembers", (), {**vars(Optimizer), **vars(Inherits), "__abstractmethods__": frozenset()})


def of_a_subset(make, freeze):
    return lambda params: SubsetOptimizer(make, params, rates(params.rows, 2, freeze, decay=0.5))


def trained(engine, make):
    """The engine, after three steps on a tiny model."""
    config, rng = tiny_config(layers=2), np.random.default_rng(1)
    params = random_params(config, rng, "float64")
    images, labels = rng.integers(0, 256, (20, 8, 8, 3), dtype=np.uint8), rng.integers(0, config.classes, 20)
    made = engine(config, params, training=Training(images, labels, make(params), clip=0.5))
    for step in range(1, 4):
        made.step(plan_batch(3, step, np.arange(10)), 0.01)
    return made


@pytest.mark.parametrize("engine", [ReferenceEngine, CpuEngine])
@pytest.mark.parametrize("make", [Inherits, HasMembers])
def test_an_optimiser_of_the_users_own_trains_with_every_engine_and_within_others(engine, make):
    for own, ours in [(make, SGD), (of_a_subset(make, "stem"), of_a_subset(SGD, "stem"))]:
        found, expected = trained(engine, own), trained(ReferenceEngine, ours)
        np.testing.assert_allclose(found.params.flat, expected.params.flat, atol=1e-12)
        state = found.training.optimizer.state
        assert state.keys() == expected.training.optimizer.state.keys() and all(map(np.any, state.values()))


def test_an_optimiser_needs_a_step_and_a_state():
    with pytest.raises(TypeError, match="abstract"):
        type("NoStep", (Optimizer,), {"state": {}})()
    assert type("Stateless", (Optimizer,), {"state": {}, "step": lambda *args: None})().state == {}


def test_kernels_are_those_of_one_class_and_are_not_inherited():
    assert {name: made.kernels for name, made in OPTIMIZERS.items()} == {name: name for name in OPTIMIZERS}
    others = Inherits, type("Other", (AdamW,), {}), SubsetOptimizer, LoRA
    assert [made.kernels for made in others] == [None] * 4


def test_nothing_outside_of_optim_asks_which_class_an_optimiser_is():
    classes = {made.__name__ for made in (*OPTIMIZERS.values(), SubsetOptimizer, LoRA)}
    root = Path(tinyvit.__file__).parent
    asking = []
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_question = isinstance(node, ast.Compare | ast.MatchClass) or (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", "") in ("isinstance", "issubclass", "type", "hasattr", "getattr")
            )
            if not is_question or path.parent == root / "optim":
                continue
            names = {getattr(each, "id", getattr(each, "attr", None)) for each in ast.walk(node)}
            if names & (classes if isinstance(node, ast.Compare) else classes | {"optimizer"}):
                asking.append(f"{path.relative_to(root)}:{node.lineno}")
    assert asking == []
