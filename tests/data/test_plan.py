"""The plan of a batch: what is random about training is as random as it should be, and repeatable."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import seeds
from tinyvit.backend import to_numpy
from tinyvit.data import (
    balancing,
    crop_and_flip,
    epoch_order,
    indices_of_batch,
    make_batch,
    make_policy,
    normalise,
    plan_batch,
)
from tinyvit.data.augment import apply_operations, crop_and_resize
from tinyvit.data.mixing import erase, mix_images
from tinyvit.data.plan import _PURPOSES, _draws
from tinyvit.ops import Noise

FIELDS = ("indices", "down", "right", "flip", "operations")
RANDAUGMENT = make_policy("randaugment", rounds=2, magnitude=12.0)


def draws(plan):
    """Everything random about a plan, as bytes."""
    return tuple(getattr(plan, name).tobytes() for name in FIELDS)


def crops(plan):
    """The crops of a plan, as bytes."""
    return tuple(each.tobytes() for each in plan.crops)


@given(seed=seeds(), step=st.integers(1, 10**6), count=st.integers(1, 30), parts=st.integers(1, 40))
def test_the_parts_of_a_plan_are_the_whole_of_it_in_order(seed, step, count, parts):
    whole = plan_batch(seed, step, np.arange(100, 100 + count), 3, True, policy=RANDAUGMENT, scale=0.5)
    cut = whole.parts(parts)
    assert len(cut) == min(parts, count)
    assert max(map(len, cut)) - min(map(len, cut)) <= 1
    for name in FIELDS:
        joined = np.concatenate([getattr(part, name) for part in cut])
        np.testing.assert_array_equal(joined, getattr(whole, name))
    for joined, each in zip(zip(*(part.crops for part in cut), strict=True), whole.crops, strict=True):
        np.testing.assert_array_equal(np.concatenate(joined), each)
    starts = np.cumsum([0, *map(len, cut)])
    for part, first in zip(cut, starts[:-1].tolist(), strict=True):
        assert (part.seed, part.step, part.first) == (seed, step, first)


def test_parts_of_a_part_know_where_they_stand_in_the_whole_batch():
    (_, second) = plan_batch(1, 2, np.arange(10)).parts(2)
    assert [part.first for part in second.parts(2)] == [5, 8]


def test_the_noise_of_a_part_is_that_of_its_images_in_the_whole():
    whole = plan_batch(1, 2, np.arange(10))
    together = whole.noise().uniform((10, 4), np)
    apart = [part.noise().uniform((len(part), 4), np) for part in whole.parts(3)]
    np.testing.assert_array_equal(np.concatenate(apart), together)
    np.testing.assert_array_equal(together, Noise(1, 2).uniform((10, 4), np))


@given(seed=seeds(), step=st.integers(1, 10**6))
def test_the_same_seed_and_step_make_the_same_plan_whatever_was_planned_before(seed, step):
    indices = np.arange(64)
    first = plan_batch(seed, step, indices, 4, True, policy=RANDAUGMENT)
    plan_batch(seed, step + 1, indices, 4, True)
    epoch_order(seed, 0, 9)
    assert draws(plan_batch(seed, step, indices, 4, True, policy=RANDAUGMENT)) == draws(first)


def test_operations_do_not_depend_on_where_the_windows_are():
    drawn = []

    def policy(rng, count):
        drawn.append(rng.random(4))

    plan_batch(1, 2, np.arange(4), 2, True, policy=policy)
    assert (drawn[0] != _draws(1, "augmentation", 2).random(4)).all()


def test_every_step_and_every_seed_augments_in_its_own_way():
    """100 steps of 10 seeds: were the step or the seed ignored, the same plan would return."""
    indices = np.arange(64)
    found = {draws(plan_batch(seed, step, indices, 4, True)) for seed in range(10) for step in range(1, 101)}
    assert len(found) == 1000


def test_every_epoch_and_every_seed_has_an_order_of_its_own():
    found = {epoch_order(seed, epoch, 50).tobytes() for seed in range(10) for epoch in range(100)}
    assert len(found) == 1000


@given(seed=seeds(), epoch=st.integers(0, 1000), count=st.integers(1, 200))
def test_an_epoch_visits_every_image_once_and_the_same_seed_in_the_same_order(seed, epoch, count):
    order = epoch_order(seed, epoch, count)
    assert sorted(order.tolist()) == list(range(count))
    np.testing.assert_array_equal(epoch_order(seed, epoch, count), order)


@given(count=st.integers(1, 60), size=st.integers(1, 20), repeats=st.integers(1, 5), epoch=st.integers(0, 99))
def test_repeated_images_come_in_the_same_batch_and_an_epoch_is_as_long(count, size, repeats, epoch):
    order = epoch_order(7, epoch, count, repeats)
    assert len(order) == count
    once = epoch_order(7, epoch, count)
    np.testing.assert_array_equal(order, [once[i // repeats] for i in range(count)])
    for k in range(-(-count // size)):
        dealt = indices_of_batch(order, k, size, repeats)
        assert sorted(dealt) == sorted(order[k * size : (k + 1) * size])


def test_repeated_images_are_not_mixed_with_themselves():
    order = epoch_order(0, 0, 1000, 3)
    for k in range(20):
        dealt = indices_of_batch(order, k, 50, 3)
        assert (dealt != np.roll(dealt, -1)).all()
        assert len(set(dealt)) <= 18


def test_without_repeats_a_batch_is_the_next_piece_of_the_order():
    order = epoch_order(0, 0, 20)
    assert indices_of_batch(order, 2, 8).tolist() == order[16:].tolist()


@given(seed=seeds(), weights=st.lists(st.sampled_from([0.0, 0.1, 1.0, 7.5]), min_size=1, max_size=40))
def test_an_image_comes_as_often_as_its_weight_says(seed, weights):
    weights = np.array([*weights, 1.0])
    count, wanted = len(weights), weights * len(weights) / weights.sum()
    counts = [np.bincount(epoch_order(seed, epoch, count, 1, weights), minlength=count) for epoch in (0, 1)]
    for found in counts:
        assert found.sum() == count
        assert (np.abs(found - wanted) < 1 + 1e-9).all()
        assert not found[weights == 0].any()


def test_on_average_the_weights_are_exact_and_equal_ones_are_a_permutation():
    weights = np.array([5.0, 1, 1, 2, 1, 1, 1])
    counts = [np.bincount(epoch_order(0, epoch, 7, 1, weights), minlength=7) for epoch in range(4000)]
    np.testing.assert_allclose(np.mean(counts, axis=0), 7 * weights / 12, atol=0.03)
    assert sorted(epoch_order(0, 3, 50, 1, np.full(50, 0.3))) == list(range(50))
    found = {epoch_order(0, epoch, 7, 1, np.ones(7)).tobytes() for epoch in range(50)}
    assert len(found) > 40  # in another order every time


def test_balanced_classes_come_equally_often():
    labels = np.repeat([0, 1, 2], [900, 90, 10])
    counts = [np.bincount(labels[epoch_order(1, epoch, 1000, 1, balancing(labels))]) for epoch in range(50)]
    np.testing.assert_allclose(np.mean(counts, axis=0), 1000 / 3, atol=1.5)
    assert np.abs(np.array(counts) - 1000 / 3).max() < 20


def test_every_image_may_come_first():
    first = {int(epoch_order(0, epoch, 5)[0]) for epoch in range(100)}
    assert first == set(range(5))


def test_nothing_is_made_of_the_numbers_of_something_else():
    """Epoch 7 and step 7 differ in their purpose alone."""
    drawn = {_draws(0, purpose, 7).random() for purpose in _PURPOSES}
    assert len(drawn) == len(_PURPOSES) >= 5


def mirrored(flip, count=20_000):
    """The share of images that plans of 100 steps mirror."""
    plans = [plan_batch(5, step, np.arange(count // 100), 2, flip) for step in range(1, 101)]
    return np.concatenate([plan.flip for plan in plans]).mean()


def test_with_flips_half_of_the_images_are_mirrored_and_without_none():
    """The share of 20,000 tosses strays by 0.0035, one time in three."""
    assert abs(mirrored(flip=True) - 0.5) < 5 * 0.5 / np.sqrt(20_000)
    assert mirrored(flip=False) == 0


def test_whether_images_are_mixed_or_erased_does_not_move_anything_else():
    everything = plan_batch(0, 1, np.arange(100), 3, True, mixup=0.8, cutmix=1.0, erase=0.5)
    plain, erased, mixed = (
        plan_batch(0, 1, np.arange(100), 3, True, **more)
        for more in ({}, {"erase": 0.5}, {"mixup": 0.8, "cutmix": 1.0})
    )
    assert draws(everything) == draws(plain) == draws(erased) == draws(mixed)
    np.testing.assert_array_equal(everything.erasing, erased.erasing)
    np.testing.assert_array_equal(everything.mixing, mixed.mixing)
    assert plain.mixing is plain.erasing is erased.mixing is mixed.erasing is None


def test_every_step_mixes_and_erases_in_its_own_way():
    plans = [plan_batch(0, step, np.arange(8), mixup=0.8, erase=1.0) for step in range(1, 101)]
    assert len({plan.mixing.lam.tobytes() for plan in plans}) == 100
    assert len({plan.erasing.key.tobytes() for plan in plans}) == 100


def test_every_step_and_every_seed_crops_and_jitters_in_its_own_way():
    plans = [
        plan_batch(seed, step, np.arange(8), scale=0.3, jitter=0.4) for seed in (0, 1) for step in (1, 2)
    ]
    again = plan_batch(1, 2, np.arange(8), scale=0.3, jitter=0.4)
    assert len(set(map(crops, plans))) == len({plan.operations.tobytes() for plan in plans}) == 4
    assert (crops(again), draws(again)) == (crops(plans[-1]), draws(plans[-1]))


def test_jitter_comes_before_other_operations_and_moves_neither_them_nor_crops():
    """The cropping of images moves nothing either."""
    indices = np.arange(50)
    plain = plan_batch(0, 1, indices, 0, True, policy=RANDAUGMENT)
    cropped = plan_batch(0, 1, indices, 0, True, policy=RANDAUGMENT, scale=0.3)
    jittered = plan_batch(0, 1, indices, 0, True, policy=RANDAUGMENT, scale=0.3, jitter=0.4)
    assert draws(cropped) == draws(plain) and plain.crops is None and crops(jittered) == crops(cropped)
    alone = plan_batch(0, 1, indices, jitter=0.4).operations
    np.testing.assert_array_equal(jittered.operations, np.concatenate([alone, plain.operations], axis=1))


def test_a_batch_of_crops_has_the_size_of_the_model_and_is_changed_mixed_and_erased_there():
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (9, 8, 6, 3), dtype=np.uint8), rng.integers(0, 5, 9)
    mixes = {"mixup": 0.8, "cutmix": 1.0, "erase": 0.5}
    plan = plan_batch(1, 2, np.arange(9), flip=True, policy=RANDAUGMENT, scale=0.3, jitter=0.4, **mixes)
    x, targets = make_batch(images, labels, plan, np.dtype("float64"), (15, 12), 5)
    boxes = crop_and_resize(images, plan.indices, plan.crops.boxes(8, 6), plan.flip, (15, 12))
    pixels = normalise(apply_operations(boxes, plan.operations), np.dtype("float64"))
    erase(pixels, plan.erasing)
    np.testing.assert_allclose(x, mix_images(pixels, pixels[:1], plan.mixing), atol=1e-12)
    own = np.eye(5)[labels]
    share = plan.mixing.shares(15, 12)[:, None]
    np.testing.assert_allclose(targets, (1 - share) * own + share * np.roll(own, -1, axis=0), atol=1e-12)


def test_by_default_images_are_taken_as_they_are():
    plan = plan_batch(0, 1, np.arange(1000))
    assert not plan.flip.any() and not plan.down.any() and not plan.right.any()
    assert plan.operations.shape == (1000, 0)


def test_whether_images_are_flipped_does_not_move_the_crops():
    with_flips, without = (plan_batch(0, 1, np.arange(100), 3, flip) for flip in (True, False))
    np.testing.assert_array_equal(with_flips.down, without.down)
    np.testing.assert_array_equal(with_flips.right, without.right)


def test_a_policy_moves_neither_crops_nor_flips():
    with_policy, without = (
        plan_batch(0, 1, np.arange(100), 3, True, **more) for more in ({"policy": RANDAUGMENT}, {})
    )
    for name in ("indices", "down", "right", "flip"):
        np.testing.assert_array_equal(getattr(with_policy, name), getattr(without, name))
    assert with_policy.operations.shape == (100, 2)


def test_every_step_and_every_seed_draws_operations_of_its_own():
    plans = (
        plan_batch(seed, step, np.arange(64), policy=RANDAUGMENT)
        for seed in range(5)
        for step in range(1, 41)
    )
    assert len({plan.operations.tobytes() for plan in plans}) == 200


@given(seed=seeds(), step=st.integers(1, 10**6), padding=st.integers(0, 12))
def test_windows_move_by_the_padding_and_no_further(seed, step, padding):
    plan = plan_batch(seed, step, np.arange(2000), padding)
    for shift in (plan.down, plan.right):
        assert (shift.min(), shift.max()) == (-padding, padding)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_batch_is_what_its_plan_asks_for(dtype):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (9, 8, 6, 3), dtype=np.uint8), rng.integers(0, 5, 9)
    plan = plan_batch(1, 2, np.array([8, 0, 3, 8]), 2, True, policy=RANDAUGMENT)
    x, y = make_batch(images, labels, plan, np.dtype(dtype), (8, 6))
    window = crop_and_flip(images, plan.indices, plan.down, plan.right, plan.flip)
    pixels = apply_operations(window.copy(), plan.operations)
    assert (pixels != window).any()
    np.testing.assert_array_equal(x, normalise(pixels, np.dtype(dtype)))
    np.testing.assert_array_equal(y, labels[[8, 0, 3, 8]])
    assert x.dtype == dtype


@given(seed=seeds(), parts=st.integers(2, 4))
@settings(max_examples=25)
def test_a_batch_made_in_parts_is_the_batch(seed, parts):
    rng = np.random.default_rng(seed)
    images, labels = rng.integers(0, 256, (9, 8, 6, 3), dtype=np.uint8), rng.integers(0, 5, 9)
    before = images.copy()
    crops = {"scale": 0.3, "jitter": 0.5} if seed % 2 else {"padding": 2}
    plan = plan_batch(seed, 3, rng.integers(0, 9, 12), flip=True, policy=RANDAUGMENT, **crops)
    whole, _ = make_batch(images, labels, plan, np.dtype("float32"), (8, 6))
    pieces = [make_batch(images, labels, part, np.dtype("float32"), (8, 6))[0] for part in plan.parts(parts)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    np.testing.assert_array_equal(images, before)


def test_a_function_of_the_user_s_changes_each_image_alike_in_any_parts_of_a_batch():
    def noisy(image, rng):
        return (image + rng.integers(0, 50, image.shape)).astype(np.uint8)

    images, labels = np.full((9, 8, 6, 3), 100, np.uint8), np.arange(9)
    make = partial(make_batch, images, labels, dtype=np.dtype("float32"), size=(8, 6), classes=9)
    for mixup in (0.0, 0.8):  # by which the last image of a part is mixed with the first of the next
        plan = plan_batch(1, 3, np.arange(9), mixup=mixup, own=noisy)
        whole = make(plan=plan)[0]
        np.testing.assert_array_equal(np.concatenate([make(plan=part)[0] for part in plan.parts(4)]), whole)
        assert len({image.tobytes() for image in whole}) == 9
        assert (make(plan=plan_batch(1, 4, np.arange(9), mixup=mixup, own=noisy))[0] != whole).any()
    assert (images == 100).all()


def test_a_batch_is_made_for_the_image_size_of_the_model():
    images, labels = np.full((3, 8, 6, 3), 255, dtype=np.uint8), np.arange(3)
    x, _ = make_batch(images, labels, plan_batch(1, 2, np.arange(3)), np.dtype("float32"), (16, 12))
    np.testing.assert_allclose(x, np.ones((3, 16, 12, 3)), rtol=1e-6)


def test_a_batch_is_made_where_the_images_are(gpu):
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, (9, 8, 6, 3), dtype=np.uint8), rng.integers(0, 5, 9)
    plan = plan_batch(1, 2, rng.integers(0, 9, 60), 2, True, policy=RANDAUGMENT)
    assert len(np.unique(plan.operations["kind"])) == 14  # everything that can be drawn
    here = make_batch(images, labels, plan, np.dtype("float32"), (8, 6))
    asarray = gpu.xp.asarray
    there = make_batch(asarray(images), asarray(labels), plan, np.dtype("float32"), (8, 6))
    for a, b in zip(there, here, strict=True):
        assert isinstance(a, gpu.xp.ndarray)
        np.testing.assert_allclose(to_numpy(a), b, rtol=1e-6)
