"""Checks of lesson 8."""

import numpy as np
import pytest

from lessons.referee import assert_operation, assert_same, assert_trust, assert_untouched
from tinyvit.ops import class_token, class_token_backward, position_embedding

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
    "row 0 of dy belongs to the token, rows 1 to T to x",
    dtoken="the token was shown once in each image: its gradient is the sum over the images",
)
def test_the_token_backward_of_the_worked_example(impl):
    _, cache = impl.class_token(X, TOKEN)
    dx, dtoken = impl.class_token_backward(DZ, cache)
    assert_same(dx, np.array([[[0.0, 1.0], [2.0, 2.0]], [[0.0, 3.0], [-2.0, 1.0]]]), "dx")
    assert_same(dtoken, np.array([2.0, -1.0]), "dtoken")


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
}


@pytest.mark.hint(
    "which number of images, and of patches, would hide this fault? And can a gradient check see a forward "
    "that does the wrong thing?",
    right="does your check of the values fit every size? And central differences are off by about 1e-10: "
    "demand an error below 1e-6, and not 0",
)
def test_trust_class_token(impl):
    assert_trust(impl.trust_class_token, (class_token, class_token_backward), WRONG)


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


@pytest.mark.hint("make new arrays: what you were given belongs to somebody else")
def test_inputs_stay_as_they_are(impl):
    x, token, dz = X.copy(), TOKEN.copy(), DZ.copy()
    _, cache = impl.class_token(x, token)
    impl.class_token_backward(dz, cache)
    impl.position_embedding_backward(dz, None)
    assert_untouched([X, TOKEN, DZ], [x, token, dz], ["x", "token", "dy"])
