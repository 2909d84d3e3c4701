"""From the bytes of a data set, or from images, to patches: the kernels against tinyvit.data and .ops."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.cuda.cases import instances, storage
from tests.engine.cuda.run import assert_agrees, rounded, run
from tests.helpers import seeds
from tinyvit.data import crop_and_flip, make_batch, normalise, plan_batch
from tinyvit.engine.cuda.calls.stem import make_patches, patchify
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.uploads import plan_tables
from tinyvit.ops import patchify as cut

KERNELS = instances("make_patches", "patchify")
grids = st.tuples(st.integers(1, 3), st.integers(1, 3), st.sampled_from([1, 3, 4]))  # rows, columns, P


@settings(max_examples=40)
@given(grid=grids, batch=st.integers(1, 5), dtype=storage(), seed=seeds())
def test_patches_of_a_batch_are_those_of_its_cropped_and_mirrored_images(grid, batch, dtype, seed):
    rng = np.random.default_rng(seed)
    rows, columns, P = grid
    H, W = rows * P, columns * P
    images = rng.integers(0, 256, (4, H, W, 3), np.uint8)
    indices, flip = rng.integers(0, 4, batch), rng.integers(0, 2, batch)
    down, right = rng.integers(1 - H, H, batch), rng.integers(1 - W, W, batch)

    launch = make_patches(
        Buffer("images", images.shape, "uint8"),
        Buffer("plan", (4, batch), "int32"),
        None,
        None,
        Buffer("patches", (batch * rows * columns, P * P * 3), dtype),
        P,
    )
    given = {"images": images, "plan": np.stack([indices, down, right, flip])}
    pixels = crop_and_flip(images, indices, down, right, flip.astype(bool))
    expected, _ = cut(normalise(pixels, np.dtype("float32")), P)
    result = run(launch, given, KERNELS)["patches"]
    np.testing.assert_array_equal(result, rounded(expected, dtype).reshape(result.shape))


@settings(max_examples=40)
@given(
    grid=grids,
    batch=st.integers(1, 5),
    dtype=storage(),
    mixes=st.sampled_from([{"erase": 1.0}, {"mixup": 0.8}, {"cutmix": 1.0}, {"mixup": 1.0, "erase": 0.5}]),
    seed=seeds(),
)
def test_patches_of_erased_and_mixed_images_are_those_of_the_reference(grid, batch, dtype, mixes, seed):
    rng = np.random.default_rng(seed)
    rows, columns, P = grid
    H, W = rows * P, columns * P
    images, labels = rng.integers(0, 256, (4, H, W, 3), np.uint8), np.zeros(4, int)
    plan = plan_batch(seed, 1, rng.integers(0, 4, batch), min(H, W) - 1, True, **mixes)
    tables = plan_tables(plan, H, W)
    launch = make_patches(
        Buffer("images", images.shape, "uint8"),
        *(
            Buffer(name, tables[name].shape, "int32") if name in tables else None
            for name in ("plan", "erasing", "mixing")
        ),
        Buffer("patches", (batch * rows * columns, P * P * 3), dtype),
        P,
    )
    pixels, _ = make_batch(images, labels, plan, np.dtype("float32"), (H, W), 1)
    expected, _ = cut(pixels, P)
    result = run(launch, {"images": images} | tables, KERNELS)["patches"]
    assert_agrees(result, rounded(expected, dtype).reshape(result.shape), dtype)


@settings(max_examples=40)
@given(
    grid=grids, channels=st.sampled_from([1, 3, 8]), batch=st.integers(1, 3), dtype=storage(), seed=seeds()
)
def test_patches_of_images_are_those_of_the_reference(grid, channels, batch, dtype, seed):
    rows, columns, P = grid
    images = np.random.default_rng(seed).standard_normal((batch, rows * P, columns * P, channels))
    expected, _ = cut(rounded(images, "float32"), P)
    launch = patchify(
        Buffer("images", images.shape),
        Buffer("patches", (batch * rows * columns, P * P * channels), dtype),
        P,
    )
    result = run(launch, {"images": images}, (*KERNELS, launch.function))["patches"]
    np.testing.assert_array_equal(result, rounded(expected, dtype).reshape(result.shape))


def test_an_image_of_the_data_set_counts_once_and_the_others_not():
    launch = make_patches(
        Buffer("images", (1000, 32, 32, 3), "uint8"),
        Buffer("plan", (4, 16), "int32"),
        None,
        None,
        Buffer("patches", (16 * 64, 48), "bfloat16"),
        4,
    )
    assert launch.function == "make_patches<__nv_bfloat16, 8>"
    assert launch.bytes_moved == 16 * (3072 + 16 + 2 * 3072)
