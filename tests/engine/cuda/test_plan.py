"""The plan of a step: every gradient is written once, nothing is read before it is written."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.random_models import configs, options, plan_of, step_of
from tests.helpers import tiny_config
from tinyvit import model, ops
from tinyvit.engine.cuda.launch import Buffer, Product
from tinyvit.engine.cuda.plan import Options, Update, plan_inference, plan_step
from tinyvit.engine.cuda.plan.draft import Draft
from tinyvit.engine.cuda.workspace import buffers_of, plan_workspace
from tinyvit.gradcheck import random_params
from tinyvit.model import Params, layout, preset
from tinyvit.model.stage import infer_through
from tinyvit.ops import Noise


def read_and_written(step):
    return {b.name for b in step.reads}, {b.name for b in step.writes}


@settings(max_examples=60)
@given(config=configs(), options=options(), batch=st.integers(1, 9))
def test_nothing_is_read_before_it_is_written(config, options, batch):
    plan = plan_of(config, batch, options)
    written = set(plan.outside)
    for step in plan.steps:
        reads, writes = read_and_written(step)
        assert reads <= written, step.label
        assert reads | writes == {buffer.name for buffer in buffers_of(step)}, step.label
        written |= writes
    assert written == set(plan.arrays)


@settings(max_examples=60)
@given(config=configs(), options=options(), batch=st.integers(1, 9))
def test_every_gradient_is_written_exactly_once(config, options, batch):
    plan = plan_of(config, batch, options)
    count = np.zeros(plan.arrays["grads"].size, int)
    for step in plan.steps:
        if isinstance(step, Product) and step.c.name == "grads":
            assert step.accumulate != options.fresh
            count[step.c.start : step.c.start + step.c.size] += 1
    for _, rows, columns, target, _ in plan.constants["jobs"]:
        assert rows > 0
        count[target : target + columns] += 1
    assert (count == 1).all()


@settings(max_examples=60)
@given(config=configs(), batch=st.integers(1, 4))
def test_it_draws_as_often_as_the_reference(config, batch):
    params = random_params(config, np.random.default_rng(0), "float32")
    noise = Noise(1, 2)
    drawn = ops.draw_corruption(noise, batch, config.patches, 0.5, np) if config.predicts_patches else None
    images = np.zeros((batch, *config.image_size, 3), np.float32)
    infer_through(model.stages(config, noise, drawn), params, images)
    plan = plan_step(config, batch, Options(noise=True))
    assert plan.draws == noise._draws
    assert 1 + plan.draws <= plan.arrays["keys"].shape[0] if plan.draws else "keys" not in plan.arrays


@settings(max_examples=60)
@given(config=configs(), options=options(), batch=st.integers(1, 9))
def test_no_two_arrays_that_are_needed_at_the_same_time_share_memory(config, options, batch):
    plan = plan_of(config, batch, options)
    workspace = plan_workspace(plan)
    assert set(workspace.places) == set(plan.arrays) - plan.outside
    owner = {}  # of each stretch of 256 bytes, while the steps go by
    for number, step in enumerate(plan.steps):
        for name in {buffer.name for buffer in buffers_of(step)} - plan.outside:
            place = workspace.places[name]
            assert place.start % 256 == 0 and place.stop <= workspace.size
            assert place.stop - place.start >= plan.arrays[name].nbytes
            stretches = range(place.start, place.stop, 256)
            if number == place.first:
                owner.update(dict.fromkeys(stretches, name))
            assert {owner[stretch] for stretch in stretches} == {name}, f"{name} was overwritten"


def test_most_of_the_workspace_is_what_the_backward_needs():
    config = preset("Ti/4", 32, 10)
    plan = plan_step(config, 512, Options("bf16", dataset=(50_000, 32, 32, 3)))
    workspace = plan_workspace(plan)
    places = workspace.places.values()
    needed = max(
        sum(p.stop - p.start for p in places if p.first <= step <= p.last) for step in range(len(plan.steps))
    )
    assert needed <= workspace.size < 1.02 * needed
    largest = dict(workspace.largest(3))
    assert largest.keys() >= {"blocks.h", "blocks.g"}


def test_inference_needs_a_fraction_of_the_memory_of_training():
    config = preset("Ti/4", 32, 10)
    training = plan_workspace(plan_step(config, 500, Options("bf16"))).size
    inference = plan_workspace(plan_inference(config, 500, Options("bf16"))).size
    assert inference < training / 6


def test_a_result_is_not_overwritten():
    plan = plan_inference(tiny_config(pool="mean"), 3, Options(), "features")
    place = plan_workspace(plan).places[plan.result.name]
    assert place.last >= len(plan.steps)
    assert plan.result.shape == (3, 12)


def test_the_last_block_computes_the_class_token_only():
    config = tiny_config(layers=3)
    plan = step_of(config, batch=7)
    assert plan.arrays["blocks.1.h"].shape == (7 * 5, 20)
    assert plan.arrays["blocks.2.h"].shape == (7, 20)
    assert plan.arrays["blocks.2.qkv"].shape == (7 * 5, 36)
    mean = step_of(replace(config, pool="mean"), batch=7)
    assert mean.arrays["blocks.2.h"].shape == (7 * 4, 20)


def test_activations_and_products_are_bfloat16_and_all_that_stays_is_float32():
    config = tiny_config(dropout=0.1, attention_dropout=0.1, pre_logits=8)
    plan = step_of(config, precision="bf16", noise=True, update=Update("adamw"))
    for step in plan.steps:
        if isinstance(step, Product):
            assert step.a.dtype == step.b.dtype == "bfloat16", step.label
            assert step.c.dtype == ("float32" if step.c.name == "grads" else "bfloat16"), step.label
    dtypes = {name: plan.arrays[name].dtype for name in ("params", "grads", "m", "v", "loss", "partials")}
    assert set(dtypes.values()) == {"float32"}


def test_the_number_of_launches_does_not_depend_on_the_batch():
    config = preset("S/4", 32, 10)
    plans = [plan_step(config, batch, Options("bf16", update=Update("adamw"))) for batch in (1, 128, 2048)]
    assert len({plan.launches for plan in plans}) == 1
    assert plans[0].launches < 270
    small, large = plans[0].bytes_moved, plans[2].bytes_moved
    assert small < large < 2048 * small


@settings(max_examples=25)
@given(config=configs(), options=options(), batch=st.integers(2, 3000))
def test_what_is_compiled_does_not_depend_on_the_batch(config, options, batch):
    found = [
        {
            (step.file, step.function)
            for step in plan_of(config, count, options).steps
            if hasattr(step, "file")
        }
        for count in (1, batch)
    ]
    assert found[0] == found[1]


def test_a_smaller_card_gets_fewer_blocks_that_leave_sums():
    plans = [plan_step(preset("Ti/4", 32, 10), 512, Options(multiprocessors=n)) for n in (132, 20)]
    for kernel, y in (("layer_norm_backward", 0), ("bias_gelu", 1)):
        large, small = (
            {s.grid[y] for s in plan.steps if getattr(s, "function", "").startswith(kernel)} for plan in plans
        )
        assert max(small) < max(large) / 6
    assert plans[1].arrays["partials"].size < plans[0].arrays["partials"].size


def test_more_images_than_a_grid_can_have_are_refused():
    with pytest.raises(ValueError, match=r"attention.* has 3 x 70,000 blocks, expected at most 65,535"):
        plan_inference(preset("Ti/4", 32, 10), 70_000, Options())


def test_more_threads_than_an_int_can_number_are_refused():
    """A thread of make_patches makes one value where patches have an odd side."""
    config = replace(preset("nano/7", 224, 10), width=64, layers=1)
    options = Options("bf16", dataset=(20_000, 224, 224, 3), update=Update("adamw"))
    plan_step(config, 14_000, options)
    with pytest.raises(
        ValueError, match=r"make_patches.* threads, expected at most 2,147,483,647: give fewer"
    ):
        plan_step(config, 14_300, options)


def test_multiply_adds_of_a_step_are_three_times_those_of_inference():
    config = preset("Ti/4", 32, 10)
    products = [
        sum(step.multiply_adds for step in plan.steps if isinstance(step, Product))
        for plan in (plan_step(config, 8, Options()), plan_inference(config, 8, Options()))
    ]
    patches = 8 * config.patches * prod((config.patch_size, config.patch_size, 3, config.width))
    assert products[0] == 3 * products[1] - patches  # nobody needs the gradient of the pixels


def test_what_would_read_or_write_beside_its_array_is_refused_before_it_is_launched():
    a = Buffer("a", (4, 6))
    assert a.view(18, 2, 3).size == 6
    with pytest.raises(ValueError, match=r"has 24 numbers: none for \(2, 3\) at 19"):
        a.view(19, 2, 3)
    Product(a, Buffer("b", (6, 5)), Buffer("c", (4, 5)))
    for b, c in (((5, 6), (4, 5)), ((6, 5), (5, 4))):
        with pytest.raises(ValueError, match=r"\(4, 6\) times .* does not give"):
            Product(a, Buffer("b", b), Buffer("c", c))
    draft = Draft(tiny_config(), 2, Options())
    draft.array("x", 3)
    with pytest.raises(ValueError, match="two arrays named x"):
        draft.array("x", 4)


def test_what_is_learned_before_the_patches_lies_in_memory_in_the_order_of_the_tokens():
    config = tiny_config(class_token=True, registers=3)
    params, first = Params.zeros(layout(config)), Draft(config, 2, Options()).parameters["class_token"].start
    params.flat[first : first + 4 * config.width] = np.arange(4 * config.width)
    ours = np.concatenate([params["class_token"][None], params["registers"]])
    np.testing.assert_array_equal(ours.reshape(-1), np.arange(4 * config.width))
