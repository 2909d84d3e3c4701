"""The parameters that learn, their rates, and those that stay: freezing, layer-wise rates and LoRA."""

import numpy as np
import pytest

from tests.helpers import tiny_config
from tinyvit.data import plan_batch
from tinyvit.engine import CpuEngine, ReferenceEngine, Training
from tinyvit.gradcheck import random_params
from tinyvit.model import Params, layout, preset
from tinyvit.objectives import loss_and_grads
from tinyvit.optim import LoRA, SubsetOptimizer, frozen_blocks, make_optimizer, rates
from tinyvit.support.errors import UserError
from tinyvit.training.learning import make_learning
from tinyvit.training.settings import Settings

CONFIG = tiny_config(layers=3, layer_scale=0.1, qk_norm=True)
NAMES = [row.name for row in layout(CONFIG)]


def draw(seed=1):
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, (20, 8, 8, 3), dtype=np.uint8)
    return random_params(CONFIG, rng, "float64"), images, rng.integers(0, CONFIG.classes, 20)


def learner(params, optimizer="adamw", **learning):
    """The optimiser of what learns, and how many blocks are frozen."""
    what = {"optimizer": optimizer, "weight_decay": 0.1, **learning}
    return make_learning(Settings(dataset="shapes", model="", **what), CONFIG, params)


def frozen_names(freeze):
    return {name for name, rate in rates(layout(CONFIG), CONFIG.layers, freeze).items() if not rate}


def trained(engine, optimizer="adamw", clip=0.5, steps=3, **learning):
    """The parameters after some steps, and those before."""
    params, images, labels = draw()
    before = {name: params[name].copy() for name in params}
    stepper, frozen = learner(params, optimizer, **learning)
    training = Training(images, labels, stepper, clip, frozen=frozen)
    more = {} if engine is ReferenceEngine else {"threads": 2, "micro_batch": 2}
    made = engine(CONFIG, params, training=training, **more)
    found = [made.step(plan_batch(3, step, np.arange(10)), 0.01) for step in range(1, steps + 1)]
    return before, params, [float(norm) for _, norm in found], made


@pytest.mark.parametrize(
    ("freeze", "expected"),
    [
        ("head", lambda name: name.startswith("head.")),
        ("stem", lambda name: not name.startswith(("blocks.", "norm.", "head."))),
        ("blocks.1", lambda name: name.startswith("blocks.1.")),
        ("blocks.0-1", lambda name: name.startswith(("blocks.0.", "blocks.1."))),
        ("blocks, norm", lambda name: name.startswith(("blocks.", "norm."))),
        ("backbone", lambda name: not name.startswith("head.")),
        ("blocks.0.attn", lambda name: name.startswith("blocks.0.attn.")),
        (
            "matrices",
            lambda name: not name.startswith("head.") and (not name.endswith("bias") and "norm" not in name),
        ),
    ],
)
def test_parts_that_are_frozen_go_by_name(freeze, expected):
    assert frozen_names(freeze) == {name for name in NAMES if expected(name)}


@pytest.mark.parametrize("freeze", ["blocks.3", "blocks.1-0", "block", "", "stem,,head", "blocks.0.att"])
def test_a_part_that_is_not_there_is_an_error_that_names_it(freeze):
    with pytest.raises(UserError, match="--freeze has"):
        frozen_names(freeze)


def test_a_resnet_has_no_blocks_to_freeze():
    config = preset("resnet-nano", 32, 3)
    for freeze, said in (("blocks.0", "the model has no blocks"), ("foo", "matrices, or the beginning")):
        with pytest.raises(UserError, match=said):
            rates(layout(config), 0, freeze)


def test_something_has_to_learn():
    with pytest.raises(UserError, match="whole model"):
        frozen_names("backbone,head")


@pytest.mark.parametrize(
    ("freeze", "blocks"),
    [
        (None, None),
        ("blocks", None),
        ("stem", 0),
        ("stem,blocks.1", 0),
        ("stem,blocks.0", 1),
        ("backbone", 3),
    ],
)
def test_the_backward_pass_ends_below_the_first_part_that_learns(freeze, blocks):
    assert frozen_blocks(rates(layout(CONFIG), 3, freeze), 3) == blocks


def test_rates_fall_from_the_head_to_the_stem():
    found = rates(layout(CONFIG), 3, decay=0.5)
    names = ("head.weight", "norm.bias", "blocks.2.attn.out.weight", "blocks.0.norm1.weight", "patch.weight")
    assert [found[name] for name in names] == [1, 0.5, 0.5, 0.125, 0.0625]


@pytest.mark.parametrize("engine", [ReferenceEngine, CpuEngine])
@pytest.mark.parametrize("optimizer", ["adamw", "sgd", "muon"])
@pytest.mark.parametrize("freeze", ["backbone", "stem,blocks.0-1", "blocks.1", "matrices", "stem"])
def test_what_is_frozen_stays_and_the_rest_learns_as_if_nothing_were(freeze, optimizer, engine):
    """Without clipping, whatever learns takes the first step that it would take if everything learned."""
    _, everything, *_ = trained(ReferenceEngine, optimizer, clip=np.inf, steps=1)
    before, after, *_ = trained(engine, optimizer, clip=np.inf, steps=1, freeze=freeze)
    for name in NAMES:
        if name in frozen_names(freeze):
            np.testing.assert_array_equal(after[name], before[name], name)
        elif "qkv.bias" not in name:  # of which the keys' gradient is only rounding
            np.testing.assert_allclose(after[name], everything[name], atol=1e-9, err_msg=name)


@pytest.mark.parametrize("learning", [{"freeze": "stem,blocks.0"}, {"layer_decay": 0.5}, {"lora": 2}])
def test_engines_agree(learning):
    (_, one, norms, _), (_, other, their_norms, _) = (
        trained(e, "sgd", **learning) for e in (ReferenceEngine, CpuEngine)
    )
    np.testing.assert_allclose(one.flat, other.flat, atol=1e-12)
    np.testing.assert_allclose(norms, their_norms, rtol=1e-9)


def test_the_norm_that_is_clipped_is_that_of_what_learns():
    before, after, norms, engine = trained(ReferenceEngine, "sgd", clip=1e-3, steps=1, freeze="matrices")
    learns = [name for name in NAMES if name not in frozen_names("matrices")]
    moved = np.sqrt(sum(((after[name] - before[name]) ** 2).sum() for name in learns))
    assert moved == pytest.approx(0.01 * 1e-3, rel=1e-2)
    expected = np.sqrt(sum((engine.grads[name] ** 2).sum() for name in learns))
    assert norms[0] == pytest.approx(expected, rel=1e-9)


def test_nothing_is_written_into_the_gradients_of_what_is_below():
    *_, engine = trained(CpuEngine, freeze="stem,blocks.0-1")
    for name in NAMES:
        assert bool(engine.grads[name].any()) == (name.startswith(("blocks.2.", "norm.", "head."))), name


def test_an_optimiser_keeps_nothing_for_what_is_frozen():
    params, *_ = draw()
    stepper, _ = learner(params, freeze="backbone")
    head = sum(params[name].size for name in NAMES if name.startswith("head."))
    assert sum(array.size for array in stepper.state.values()) == 2 * head


def test_rates_multiply_the_learning_rate():
    before, after, *_ = trained(ReferenceEngine, "sgd", clip=np.inf, steps=1, layer_decay=0.5)
    _, plain, *_ = trained(ReferenceEngine, "sgd", clip=np.inf, steps=1)
    for name, rate in rates(layout(CONFIG), 3, decay=0.5).items():
        np.testing.assert_allclose(
            after[name] - before[name], rate * (plain[name] - before[name]), atol=1e-12
        )


def lora(params, rank=2, alpha=3.0, optimizer="sgd"):
    found = rates(params.rows, 3, "backbone")
    return LoRA(lambda own: make_optimizer(optimizer, own), params, found, rank, alpha, seed=5)


@pytest.mark.parametrize(("alpha", "scale"), [(None, 1), (4.0, 1), (2.0, 0.5), (16.0, 4)])
def test_what_lora_learns_counts_in_full_unless_alpha_says_otherwise(alpha, scale):
    stepper, _ = learner(draw()[0], "sgd", lora=4, lora_alpha=alpha)
    assert stepper.scale == scale


def test_the_gradients_of_both_factors_are_those_of_the_loss():
    """Central differences through the whole model, in A and in B, at factors that are not at their start."""
    rng = np.random.default_rng(2)
    params, _, labels = draw()
    x, targets = rng.normal(size=(4, 8, 8, 3)), labels[:4]
    stepper = lora(params)
    factors = stepper.groups[0].params
    names = [name for name in factors if name not in params]
    for name in names:
        factors[name] = 0.2 * rng.normal(size=factors[name].shape)
    starts = {name: params[name].copy() for name in params}

    def merge():
        for i in range(3):
            for part, width in (("qkv", 3), ("out", 1)):
                name, D = f"blocks.{i}.attn.{part}.weight", CONFIG.width
                for n in range(width):
                    product = factors[f"{name}.{n}.a"] @ factors[f"{name}.{n}.b"]
                    columns = slice(n * D, (n + 1) * D)
                    params[name][:, columns] = starts[name][:, columns] + 3.0 / 2 * product

    def loss():
        merge()
        return float(loss_and_grads(CONFIG, params, x, targets, params.zeros_like()))

    merge()
    grads = params.zeros_like()
    loss_and_grads(CONFIG, params, x, targets, grads)
    stepper.select_grads(grads)
    for name in names:
        flat, found = factors[name].reshape(-1), stepper.groups[0].grads[name].reshape(-1)
        place = rng.integers(flat.size)
        old = flat[place]
        flat[place] = old + 1e-5
        above = loss()
        flat[place] = old - 1e-5
        slope = (above - loss()) / 2e-5
        flat[place] = old
        assert abs(slope - found[place]) / max(abs(slope) + abs(found[place]), 1e-3) < 1e-6, name


def test_lora_begins_where_the_model_is_and_changes_it_by_little_rank():
    before, after, *_ = trained(ReferenceEngine, "sgd", steps=1, lora=2)
    for name in NAMES:
        if ".attn." not in name or not name.endswith("weight"):
            assert (after[name] == before[name]).all() != name.startswith("head."), name
    before, after, *_ = trained(ReferenceEngine, "adamw", steps=4, lora=2)
    D = CONFIG.width
    for i in range(3):
        change = after[f"blocks.{i}.attn.qkv.weight"] - before[f"blocks.{i}.attn.qkv.weight"]
        assert [np.linalg.matrix_rank(change[:, n * D : (n + 1) * D], tol=1e-9) for n in range(3)] == [
            2,
            2,
            2,
        ]


@pytest.mark.parametrize("learning", [{"freeze": "stem,blocks.0"}, {"layer_decay": 0.5}, {"lora": 2}])
def test_the_state_is_all_that_is_needed_to_go_on(learning):
    """Two steps, a copy of weights and state into a new optimiser, and a third step: the same bits."""
    _, expected, *_ = trained(ReferenceEngine, steps=3, **learning)
    _, params, _, engine = trained(ReferenceEngine, steps=2, **learning)
    _, images, labels = draw()
    fresh, _, _ = draw()
    stepper, frozen = learner(fresh, **learning)
    fresh.flat[...] = params.flat
    for name, array in stepper.state.items():
        array[...] = engine.training.optimizer.state[name]
    training = Training(images, labels, stepper, 0.5, frozen=frozen)
    ReferenceEngine(CONFIG, fresh, training=training).step(plan_batch(3, 3, np.arange(10)), 0.01)
    np.testing.assert_array_equal(fresh.flat, expected.flat)


def test_what_does_not_go_together_is_refused():
    with pytest.raises(UserError, match="omit"):
        learner(draw()[0], lora=2, layer_decay=0.5)


def test_an_optimiser_of_a_subset_says_how_much_learns():
    params = Params.zeros(layout(CONFIG), "float64")
    stepper = SubsetOptimizer(
        lambda own: make_optimizer("sgd", own), params, rates(params.rows, 3, "backbone")
    )
    head = params["head.weight"].size + params["head.bias"].size
    assert stepper.summary() == f"{head} numbers learn, and {params.count:,} are in the model"
