"""Checks of lesson 5."""

import numpy as np
import pytest

from lessons.referee import Fault, assert_operation, assert_same, assert_trust, assert_untouched
from tinyvit.ops import class_token, class_token_backward, position_embedding

CASES = {  # images and patch: all sizes differ within each case
    "4 images of 6 x 15 with 7 channels, P = 3": ((4, 6, 15, 7), 3),
    "1 image of 20 x 8 with 3 channels, P = 4": ((1, 20, 8, 3), 4),
    "P = 1": ((2, 3, 5, 4), 1),
    "a single patch": ((3, 2, 2, 5), 2),
}
shapes = pytest.mark.parametrize(("shape", "patch"), CASES.values(), ids=CASES)


def images(shape, dtype=np.float64):
    """Images in which every number is another one."""
    return np.arange(np.prod(shape), dtype=dtype).reshape(shape)


def by_equation_1(x, patch):
    B, H, W, C = x.shape
    y = np.empty((B, H * W // patch**2, patch * patch * C), x.dtype)
    for i, j, k in np.ndindex(H, W, C):
        (r, p), (c, q) = divmod(i, patch), divmod(j, patch)
        y[:, r * (W // patch) + c, (p * patch + q) * C + k] = x[:, i, j, k]
    return y


@pytest.mark.hint(
    "the first patch is the upper left square: 0 and 1 from the first row, 4 and 5 from the second",
    shape="one row for each patch: 4 rows of 4 numbers",
)
def test_the_worked_example(impl):
    y, _ = impl.patchify(np.arange(16.0).reshape(1, 4, 4, 1), 2)
    expected = [[[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]]
    assert_same(y, np.array(expected, dtype=float), "y")


@pytest.mark.hint(
    "after the first reshape name all six axes; which of them number the patch, and which the pixel in it?",
    shape="the image need not be square, and C need not be 3: take every size from images.shape",
    crash="the image need not be square, and C need not be 3: take every size from images.shape",
)
@shapes
def test_every_number_goes_to_its_place(impl, shape, patch):
    y, _ = impl.patchify(images(shape), patch)
    assert_same(y, by_equation_1(images(shape), patch), "y")


@pytest.mark.hint(
    "split T into patch rows and columns first, then the last axis; the transpose of patchify undoes itself",
    crash="how many patch rows and columns there are follows from shape and patch, not from T alone",
)
@shapes
def test_unpatchify_undoes_it(impl, shape, patch):
    x = impl.unpatchify(by_equation_1(images(shape), patch), shape, patch)
    assert_same(x, images(shape), "the image put together again")


@pytest.mark.hint("every gradient is carried back to the pixel it came from; it is not cut up once more")
@shapes
def test_backward(impl, shape, patch):
    x = np.random.default_rng(1).normal(size=(shape[0], *shape[1:]))
    case = {"images": x}
    assert_operation(
        lambda images: impl.patchify(images, patch), impl.patchify_backward, {"": case}, may_share=True
    )


@pytest.mark.hint("dx is a copy of dy in another order: nothing is added, and nothing is scaled")
def test_the_backward_is_exact(impl):
    shape, patch = (2, 9, 12, 5), 3
    _, cache = impl.patchify(np.zeros(shape), patch)
    dx = impl.patchify_backward(by_equation_1(images(shape), patch), cache)
    assert_same(dx, images(shape), "dimages", 0)


@pytest.mark.hint(
    "test both remainders, H % P and W % P: a reshape with -1 may fit although a side does not",
    error="an assert is left out when Python runs with -O: raise ValueError, and say what does not fit",
)
@pytest.mark.parametrize(
    ("shape", "patch"),
    [((1, 5, 4, 1), 2), ((1, 4, 5, 1), 2), ((1, 8, 6, 1), 4), ((1, 6, 8, 1), 4), ((1, 2, 8, 1), 4)],
    ids=str,
)
def test_patches_that_do_not_fit_are_refused(impl, shape, patch):
    what = f"images of shape {shape} and patches of {patch} x {patch}"
    try:
        impl.patchify(images(shape), patch)
    except ValueError:
        return
    except AssertionError as error:  # the answer says assert: its message would be empty
        raise Fault(f"{what} raise AssertionError, expected a ValueError", "error") from error
    raise Fault(f"{what} were accepted, expected a ValueError")


@pytest.mark.hint(
    "the checks above look at the same numbers: mend those first",
    dtype="reshape and transpose keep the dtype; arrays made with np.zeros or np.empty want one",
    inplace="make new arrays: what you were given belongs to somebody else",
)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_the_dtype_and_the_inputs_stay_as_they_are(impl, dtype):
    shape, patch = (3, 4, 10, 1), 2
    x = images(shape, dtype)
    before = x.copy()
    y, cache = impl.patchify(x, patch)
    assert_same(y, by_equation_1(before, patch), "y")
    patches = by_equation_1(before, patch)
    assert_same(impl.unpatchify(patches, shape, patch), before, "the image put together again")
    assert_same(impl.patchify_backward(patches, cache), before, "dimages")
    assert_untouched([before, by_equation_1(before, patch)], [x, patches], ["images", "patches"])


# Tokens

X = np.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
TOKEN = np.array([10.0, 20.0])
DZ = np.array([[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [[1.0, -1.0], [0.0, 3.0], [-2.0, 1.0]]])


def inputs(images, tokens, width, seed=0):
    """Tokens of a few images, a class token, and a table with a row for each position."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(images, tokens, width))
    return {"x": x, "token": rng.normal(size=width), "embedding": rng.normal(size=(tokens + 1, width))}


SIZES = {  # images, patches, width: never two that are equal, nor patches + 1 equal to another
    "3 images of 6 patches, width 4": (3, 6, 4),
    "5 images of 2 patches, width 7": (5, 2, 7),
    "1 image": (1, 4, 3),
    "1 patch": (4, 1, 3),
}


@pytest.mark.hint("the token is row 0 of every image, and the patches follow as rows 1 to T")
def test_the_token_stands_in_front_of_every_image(impl):
    y, _ = impl.class_token(X, TOKEN)
    expected = [[[10, 20], [1, 2], [3, 4]], [[10, 20], [5, 6], [7, 8]]]
    assert_same(y, np.array(expected, dtype=float), "y")


@pytest.mark.hint(
    "row 0 of dy belongs to the token, rows 1 to T to x",
    dtoken="the token was shown once in each image: its gradient is the sum over the images",
)
def test_the_token_backward_of_the_worked_example(impl):
    _, cache = impl.class_token(X, TOKEN)
    dx, dtoken = impl.class_token_backward(DZ, cache)
    assert_same(dx, np.array([[[0.0, 1.0], [2.0, 2.0]], [[0.0, 3.0], [-2.0, 1.0]]]), "dx")
    assert_same(dtoken, np.array([2.0, -1.0]), "dtoken")


@pytest.mark.hint(
    "take all sizes from x.shape",
    dx="rows 1 to T of dy, in their order",
    dtoken="the sum over the images of row 0 of dy: of shape (D,), and not a mean",
    dtype="np.zeros, np.ones and np.empty make float64 unless told dtype=x.dtype",
    shape="dx has a row less than dy; dtoken is as the token, (D,), without an axis of length 1",
)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_token_gradients(impl, size):
    case = inputs(*size)
    del case["embedding"]
    assert_operation(impl.class_token, impl.class_token_backward, {"": case})


@pytest.mark.hint(
    "one table is added to every image: which axis of dy does it not have?",
    dx="x is used once, with a factor of 1",
    shape="dembedding is as the table, (N, D), without an axis of length 1",
)
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_position_gradients(impl, size):
    case = inputs(*size)
    x = np.random.default_rng(3).normal(size=(size[0], *case["embedding"].shape))
    case = {"x": x, "embedding": case["embedding"]}
    assert_operation(position_embedding, impl.position_embedding_backward, {"": case})


@pytest.mark.hint("z = [token; x] + embedding: first back through the sum, then through class_token")
def test_the_whole_of_equation_1(impl):
    def forward(x, token, embedding):
        y, cache = impl.class_token(x, token)
        z, position_cache = position_embedding(y, embedding)
        return z, (cache, position_cache)

    def backward(dz, caches):
        dy, dembedding = impl.position_embedding_backward(dz, caches[1])
        return *impl.class_token_backward(dy, caches[0]), dembedding

    assert_operation(forward, backward, {"": inputs(3, 6, 4, seed=3)})


def _first_image_only(dy, cache):
    return dy[:, 1:], dy[0, 0] * len(dy)


def _share_of_each_patch(dy, cache):
    return dy[:, 1:], dy[:, 0].sum(axis=0) / (dy.shape[1] - 1)


def _patches_turned_round(dy, cache):
    return dy[:, :0:-1], dy[:, 0].sum(axis=0)


def _counted_twice(dy, cache):
    dx = dy[:, 1:].copy()
    dx[:, 0] += dy[:, 0]
    return dx, dy[:, 0].sum(axis=0)


def _spoils_dy(dy, cache):
    dtoken = dy[:, 0].sum(axis=0)
    dy[:, 0] = 0
    return dy[:, 1:], dtoken


def _added_to_the_patches_too(x, token):
    return class_token(x + token, token)


def _added_to_the_patches_too_backward(dy, cache):
    return dy[:, 1:], dy.sum(axis=(0, 1))


def _in_the_first_image_only(x, token):
    y, cache = class_token(x, token)
    y[1:, 0] = 0
    return y, cache


def _in_the_first_image_only_backward(dy, cache):
    return dy[:, 1:], dy[0, 0].copy()


def _patches_backwards(x, token):
    return class_token(x[:, ::-1], token)


def _patches_backwards_backward(dy, cache):
    return dy[:, :0:-1], dy[:, 0].sum(axis=0)


def _one_more(x, token):
    y, cache = class_token(x, token)
    return y + 1, cache


WRONG = {
    "dtoken is that of the first image, times the number of images": (class_token, _first_image_only),
    "dtoken is divided by the number of patches": (class_token, _share_of_each_patch),
    "dx has the patches in the opposite order": (class_token, _patches_turned_round),
    "the first patch gets the token's gradient as well": (class_token, _counted_twice),
    "the backward writes zeros into dy": (class_token, _spoils_dy),
    "the forward adds the token to the patches, too": (
        _added_to_the_patches_too,
        _added_to_the_patches_too_backward,
    ),
    "the forward puts zeros before all images but the first": (
        _in_the_first_image_only,
        _in_the_first_image_only_backward,
    ),
    "the forward turns the order of the patches round": (_patches_backwards, _patches_backwards_backward),
    "the forward adds 1 to every number": (_one_more, class_token_backward),
}


@pytest.mark.hint(
    "which number of images, and of patches, would hide this fault? And can a gradient check see a forward "
    "that does the wrong thing?",
    right="does your check of the values fit every size? And central differences are off by about 1e-10: "
    "demand an error below 1e-6, and not 0",
)
def test_trust_class_token(impl):
    assert_trust(impl.trust_class_token, (class_token, class_token_backward), WRONG)


@pytest.mark.hint("make new arrays: what you were given belongs to somebody else")
def test_tokens_stay_as_they_are(impl):
    x, token, dz = X.copy(), TOKEN.copy(), DZ.copy()
    _, cache = impl.class_token(x, token)
    impl.class_token_backward(dz, cache)
    impl.position_embedding_backward(dz, None)
    assert_untouched([X, TOKEN, DZ], [x, token, dz], ["x", "token", "dy"])


OVERLAPS = {
    "stride 2, P = 3": ((2, 7, 11, 4), 3, 2),
    "stride 1, P = 4": ((1, 6, 9, 3), 4, 1),
    "stride = P, a rest at two edges": ((2, 7, 11, 1), 3, 3),
    "stride 5, P = 2, with gaps": ((3, 8, 12, 1), 2, 5),
}


def overlapping(x, patch, stride):
    """Patches cut one by one."""
    B, H, W, _ = x.shape
    tops, lefts = range(0, H - patch + 1, stride), range(0, W - patch + 1, stride)
    cut = [x[:, i : i + patch, j : j + patch].reshape(B, -1) for i in tops for j in lefts]
    return np.stack(cut, axis=1)


@pytest.mark.puzzle
@pytest.mark.hint(
    "a pixel that was copied into several patches gets a gradient from each, a pixel in no patch gets 0"
)
@pytest.mark.parametrize(("shape", "patch", "stride"), OVERLAPS.values(), ids=OVERLAPS)
def test_overlapping_patches(impl, shape, patch, stride):
    rng = np.random.default_rng(2)
    size = int(np.prod(shape[1:]))
    each = overlapping(np.eye(size).reshape(size, *shape[1:]), patch, stride)  # one pixel switched on
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5)):
        dy = rng.normal(size=(shape[0], *each.shape[1:])).astype(dtype)
        before = dy.copy()
        expected = (dy.reshape(len(dy), -1) @ each.reshape(size, -1).T).reshape(shape).astype(dtype)
        assert_same(
            impl.overlapping_patches_backward(dy, shape, patch, stride), expected, "dimages", tolerance
        )
        assert_untouched([before], [dy], ["dy"])


def grid_positions(x, row_table, column_table):
    """Index by index."""
    y, (rows, columns) = x.copy(), (len(row_table), len(column_table))
    for r, c in np.ndindex(rows, columns):
        y[:, 1 + r * columns + c] += row_table[r] + column_table[c]
    return y, (rows, columns)


@pytest.mark.puzzle
@pytest.mark.hint(
    "row r of the row table is added in every image, to every patch of row r; nothing is added to the token"
)
@pytest.mark.parametrize(
    ("images", "rows", "columns", "width"),
    [(2, 3, 5, 4), (4, 5, 2, 3), (1, 1, 4, 6), (3, 4, 1, 2)],
)
def test_grid_positions(impl, images, rows, columns, width):
    rng = np.random.default_rng(5)
    shapes = {
        "x": (images, 1 + rows * columns, width),
        "row_table": (rows, width),
        "column_table": (columns, width),
    }
    case = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    backward = lambda dy, cache: impl.grid_positions_backward(dy, *cache)
    assert_operation(grid_positions, backward, {"": case})
