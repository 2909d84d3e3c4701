"""Checks of lesson 8."""

import numpy as np
import pytest

from lessons.referee import assert_gradients, assert_same, assert_untouched
from tinyvit.ops import position_embedding

X = np.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
TOKEN = np.array([10.0, 20.0])
DZ = np.array([[[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]], [[1.0, -1.0], [0.0, 3.0], [-2.0, 1.0]]])


def inputs(seed=0, images=3, tokens=4, width=5):
    """Tokens of a few images, a class token, and a table with a row for each place."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(images, tokens, width))
    return x, rng.normal(size=width), rng.normal(size=(tokens + 1, width))


@pytest.mark.hint("the token is row 0 of every image, and the patches follow as rows 1 to T")
def test_the_token_stands_in_front_of_every_image(impl):
    y, _ = impl.class_token(X, TOKEN)
    expected = [[[10, 20], [1, 2], [3, 4]], [[10, 20], [5, 6], [7, 8]]]
    assert_same(y, np.array(expected, dtype=float), "y")


@pytest.mark.hint(
    "row 0 of dy belongs to the token, rows 1 to T to x; the token was shown once in each image"
)
def test_the_token_backward_of_the_worked_example(impl):
    _, cache = impl.class_token(X, TOKEN)
    dx, dtoken = impl.class_token_backward(DZ, cache)
    assert_same(dx, np.array([[[0.0, 1.0], [2.0, 2.0]], [[0.0, 3.0], [-2.0, 1.0]]]), "dx")
    assert_same(dtoken, np.array([2.0, -1.0]), "dtoken")


@pytest.mark.hint("dtoken is the sum over the images of row 0 of dy: of shape (D,), and not a mean")
def test_token_gradients(impl):
    x, token, _ = inputs(1)
    assert_gradients(impl.class_token, impl.class_token_backward, {"x": x, "token": token})


@pytest.mark.hint("one table is added to every image: which axis of dy does it not have?")
def test_position_gradients(impl):
    x, _, embedding = inputs(2, tokens=4)
    x = np.concatenate([x, x[:, :1]], axis=1)  # (3, 5, 5)
    assert_gradients(position_embedding, impl.position_embedding_backward, {"x": x, "embedding": embedding})


@pytest.mark.hint("z = [token; x] + embedding: first back through the sum, then through the putting in front")
def test_the_whole_of_equation_1(impl):
    def forward(x, token, embedding):
        y, cache = impl.class_token(x, token)
        z, position_cache = position_embedding(y, embedding)
        return z, (cache, position_cache)

    def backward(dz, caches):
        dy, dembedding = impl.position_embedding_backward(dz, caches[1])
        return *impl.class_token_backward(dy, caches[0]), dembedding

    assert_gradients(forward, backward, dict(zip(("x", "token", "embedding"), inputs(3), strict=True)))


@pytest.mark.hint("np.zeros, np.ones and np.empty make float64 unless told dtype=x.dtype")
def test_float32_stays_float32_and_inputs_stay_whole(impl):
    x, token, _ = (array.astype(np.float32) for array in inputs(4))
    before = x.copy(), token.copy()
    y, cache = impl.class_token(x, token)
    dy = y.copy()
    dx, dtoken = impl.class_token_backward(dy, cache)
    through, dembedding = impl.position_embedding_backward(dy, None)
    results = {"y": y, "dx": dx, "dtoken": dtoken, "dx of the sum": through, "dembedding": dembedding}
    for name, array in results.items():
        assert array.dtype == np.float32, f"{name} has dtype {array.dtype}, expected float32"
    assert_untouched([*before, y], [x, token, dy])
