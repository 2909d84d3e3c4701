"""The operations of augmentation: the kernel against tinyvit.data.augment, to the bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lessons.cuda_on_cpu import checking
from tests.engine.cuda.run import run
from tests.helpers import seeds, some_images
from tinyvit.data import crop_and_flip, make_policy, plan_batch
from tinyvit.data.augment import NAMES, apply_operations, operations_of
from tinyvit.engine.cuda.calls.augment import augment, fits, operation_tables, shared_bytes
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.uploads import plan_tables

sides = st.integers(1, 20)


def augmented(images, plan, operations):
    """The kernel's result for images (n, H, W, 3), a plan (4, S) and operations (S, rounds)."""
    H, W = images.shape[1:3]
    tables = {"plan": plan, "operations": operation_tables(operations, H, W)}
    launch = augment(
        Buffer("images", images.shape, "uint8"),
        *(Buffer(name, table.shape, "int32") for name, table in tables.items()),
        Buffer("augmented", (plan.shape[1], H, W, 3), "uint8"),
    )
    result = run(launch, {"images": images} | tables)["augmented"]
    return result.reshape(launch.writes[0].shape)


def operations_for(rng, kinds):
    """Operations of these kinds, of any strength there is."""
    strengths = np.clip(rng.uniform(-0.3, 1.3, kinds.shape), 0, 1)  # often none or all of it
    return operations_of(kinds, strengths, rng.choice((-1, 1), kinds.shape))


def as_they_are(count):
    """A plan that takes so many images as they are."""
    return np.stack([np.arange(count), *np.zeros((3, count), int)])


@given(height=sides, width=sides, seed=seeds())
def test_every_operation_gives_the_bytes_of_the_reference(height, width, seed):
    rng = np.random.default_rng(seed)
    images = some_images(rng, len(NAMES), height, width)
    operations = operations_for(rng, np.arange(len(NAMES))[:, None])
    found = augmented(images, as_they_are(len(NAMES)), operations)
    expected = apply_operations(images.copy(), operations)
    for name, result, right in zip(NAMES, found, expected, strict=True):
        np.testing.assert_array_equal(result, right, name)


@given(height=sides, width=sides, rounds=st.integers(1, 5), batch=st.integers(1, 4), seed=seeds())
def test_several_operations_follow_one_another_on_what_the_window_shows(height, width, rounds, batch, seed):
    rng = np.random.default_rng(seed)
    images = some_images(rng, 3, height, width)
    indices, flip = rng.integers(0, 3, batch), rng.integers(0, 2, batch)
    down, right = rng.integers(1 - height, height, batch), rng.integers(1 - width, width, batch)
    operations = operations_for(rng, rng.integers(0, len(NAMES), (batch, rounds)))
    found = augmented(images, np.stack([indices, down, right, flip]), operations)
    pixels = crop_and_flip(images, indices, down, right, flip.astype(bool))
    np.testing.assert_array_equal(found, apply_operations(pixels, operations))


@pytest.mark.parametrize("name", ["brightness", "colour", "contrast", "sharpness", "autocontrast"])
def test_products_and_sums_are_rounded_one_by_one(name):
    """A fused multiply-add would change some byte: at AutoAugment's factors, 1.1 and the like, the
    rounded product is often a whole number, and the exact one a little less or more.
    """
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (60, 16, 16, 3), np.uint8)
    images[:, :, :, 0] = np.arange(256).reshape(16, 16)
    images[:, :, :, 1] = np.clip(images[:, :, :, 1], rng.integers(0, 120, (60, 1, 1)), 140)
    kinds = np.full((60, 1), NAMES.index(name))
    operations = operations_of(kinds, rng.integers(0, 10, kinds.shape) / 9, rng.choice((-1, 1), kinds.shape))
    found = augmented(images, as_they_are(60), operations)
    np.testing.assert_array_equal(found, apply_operations(images.copy(), operations))


@settings(max_examples=20)
@given(
    height=st.integers(1, 9),
    width=st.integers(1, 9),
    augment=st.sampled_from(["randaugment", "autoaugment"]),
    mixup=st.sampled_from([0.0, 0.8]),
    seed=seeds(),
)
def test_the_tables_of_a_plan_have_the_image_after_the_last_too_and_no_thread_disturbs_another(
    height, width, augment, mixup, seed
):
    rng = np.random.default_rng(seed)
    images = some_images(rng, 4, height, width)
    padding = min(height, width) - 1
    policy = make_policy(augment, rounds=3)
    plan = plan_batch(seed, 1, rng.integers(0, 4, 3), padding, True, policy=policy, mixup=mixup)
    tables = plan_tables(plan, height, width)
    planned = [plan, plan.after] if mixup else [plan]
    operations = np.concatenate([each.operations for each in planned])
    np.testing.assert_array_equal(tables["operations"], operation_tables(operations, height, width))
    with checking(seed=seed % 100):
        found = augmented(images, tables["plan"], operations)
    pixels = [
        apply_operations(crop_and_flip(images, p.indices, p.down, p.right, p.flip), p.operations)
        for p in planned
    ]
    np.testing.assert_array_equal(found, np.concatenate(pixels))


def test_a_block_has_room_for_two_images_and_the_tables():
    assert shared_bytes(32, 32) == 3844 + 2 * 3072
    assert fits(96, 96, 101_376) and not fits(128, 128, 101_376) and fits(128, 128, 166_912)
    images = np.random.default_rng(0).integers(0, 256, (1, 96, 128, 3), np.uint8)  # more than 48 KB
    operations = operations_of(np.array([[NAMES.index("rotate"), NAMES.index("equalize")]]), 0.5, 1)
    found = augmented(images, as_they_are(1), operations)
    np.testing.assert_array_equal(found, apply_operations(images.copy(), operations))


def test_an_image_of_the_data_set_counts_once_and_the_others_not():
    launch = augment(
        Buffer("images", (1000, 32, 32, 3), "uint8"),
        Buffer("plan", (4, 16), "int32"),
        Buffer("operations", (2, 7, 16), "int32"),
        Buffer("augmented", (16, 32, 32, 3), "uint8"),
    )
    assert launch.bytes_moved == 16 * (3072 + 16 + 2 * 28 + 3072)
