"""Checks of lesson 25."""

import importlib
import tracemalloc

import numpy as np
import pytest

from lessons.referee import Fault, assert_same, assert_trust, assert_untouched
from lessons.referee.fault import distinguished
from tinyvit.ops import gelu

SLOW = importlib.import_module("lessons.25_memory.slow")
SUSPECTS = importlib.import_module("lessons.25_memory.suspects")
SHAPES = ((5,), (2, 3), (2, 3, 4), (2, 3, 2, 5))


class Watched(np.ndarray):
    """An array that notes the NumPy operations that it and all made from it go through, in `seen`.

    `axes` is the most axes of an array that went through `@`, `dtypes` are those of all that went through a
    matrix product.
    """

    seen, axes, dtypes, float64_numbers = frozenset(), 0, frozenset(), set()

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        Watched.seen |= {f"{ufunc.__name__}.{method}"}
        if any(isinstance(array, np.float64) for array in inputs):
            Watched.float64_numbers.add(ufunc.__name__)
        if ufunc is np.matmul:
            Watched.axes = max(Watched.axes, *map(np.ndim, inputs))
            Watched.note_dtypes(inputs)
        plain = [array.view(np.ndarray) if isinstance(array, Watched) else array for array in inputs]
        if out is not None:
            kwargs["out"] = tuple(np.asarray(array) for array in out)
        return np.asarray(getattr(ufunc, method)(*plain, **kwargs)).view(Watched)

    def __array_function__(self, function, types, args, kwargs):
        Watched.seen |= {function.__name__}
        if function.__name__ in {"dot", "tensordot", "inner"}:
            Watched.note_dtypes(args)
            if function is not np.tensordot:  # which makes a single product of all rows
                Watched.axes = max(Watched.axes, *map(np.ndim, args[:2]))
        return super().__array_function__(function, types, args, kwargs)

    def dot(self, other, out=None):
        """The method does not go through __array_function__, but the function does."""
        return np.dot(self, other, out=out)

    @staticmethod
    def note_dtypes(factors):
        Watched.dtypes |= {array.dtype for array in factors if isinstance(array, np.ndarray)}


def peak_bytes(run):
    """The most memory that arrays made by run() take at a time."""
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.hint("by hand at x = 1: u = 0.8336, exp(-2u) = 0.1888, y = 1 / 1.1888; the constant is 0.044715")
def test_gelu_is_the_tanh_form(impl):
    for shape in SHAPES:
        x = np.random.default_rng(0).normal(0, 2, shape)
        expected, before = gelu(x, "tanh")[0], x.copy()
        y = impl.gelu_tanh(x)
        assert_untouched([before], [x])
        assert_same(y, expected, f"gelu_tanh of x {shape}")


@pytest.mark.hint(
    "with exp(-2u) a large x gives x / (1 + 0), a very negative one x / inf = 0; exp(2u) gives inf/inf"
)
def test_gelu_of_large_numbers(impl):
    for dtype in (np.float64, np.float32):
        x = np.array([-1e6, -1e3, -30.0, 30.0, 1e3, 1e6], dtype)
        expected = np.array([0.0, 0.0, 0.0, 30.0, 1e3, 1e6], dtype)
        assert_same(impl.gelu_tanh(x), expected, f"gelu_tanh of large numbers, {x.dtype}")


@pytest.mark.hint("count the operations that go through a transcendental function: one exp is enough")
def test_gelu_has_one_exp(impl):
    x = np.random.default_rng(2).normal(size=(3, 4)).view(Watched)
    Watched.seen = frozenset()
    impl.gelu_tanh(x)
    others = {"tanh", "power", "float_power", "expm1", "exp2", "sinh", "cosh"}
    found = sorted(others & {name.split(".")[0] for name in Watched.seen})
    assert not found, f"gelu_tanh calls {', '.join(found)}, expected exp alone, and no power"


@pytest.mark.hint(
    "the first operation makes the array; after that y *= ..., y -= ..., np.exp(y, out=y) and so on"
)
def test_gelu_makes_one_array(impl):
    x = np.random.default_rng(1).standard_normal((300, 100), dtype=np.float32)
    impl.gelu_tanh(x[:2])  # so that nothing is counted that is made only once
    numbers = Watched.float64_numbers = set()
    impl.gelu_tanh(x[:2].view(Watched))
    assert not numbers, (
        f"gelu_tanh combines a float32 array with a float64 number in {', '.join(sorted(numbers))}: NumPy "
        "converts there and back, through memory of its own (np.sqrt gives a float64, math.sqrt does not)"
    )
    arrays = peak_bytes(lambda: impl.gelu_tanh(x)) / x.nbytes
    assert arrays < 1.5, (
        f"gelu_tanh had {arrays:.1f} new arrays of the size of x at a time, expected 1: the result"
    )


@pytest.mark.hint("every call has to make a new array to work in: that array becomes the result")
def test_every_gelu_has_an_array_of_its_own(impl):
    rng = np.random.default_rng(5)
    x, other = rng.normal(size=(2, 3, 4))
    first = impl.gelu_tanh(x)
    before = first.copy()
    impl.gelu_tanh(other)
    assert np.array_equal(first, before), "the result of one call of gelu_tanh was overwritten by the next"
    assert not np.may_share_memory(first, x), "the result of gelu_tanh shares its memory with x"


@pytest.mark.hint(
    "the mean of each row: over the last axis, divided by its length D; the axis is kept, with length 1"
)
def test_row_means(impl):
    for shape in (*SHAPES, (3, 1), (1, 6)):
        x = np.random.default_rng(2).normal(3, 2, shape)
        before = x.copy()
        assert_same(impl.row_means(x), x.mean(axis=-1, keepdims=True), f"row_means of x {shape}", 1e-12)
        assert_untouched([before], [x])
    view = np.random.default_rng(6).normal(size=(4, 5, 3)).swapaxes(0, 2)
    assert_same(impl.row_means(view), view.mean(axis=-1, keepdims=True), "row_means of a transposed x", 1e-12)


@pytest.mark.hint(
    "reshape x itself (no np.asarray, no np.ascontiguousarray) to (-1, D), multiply by a column (D, 1) of "
    "1/D, and reshape the result to (..., 1)"
)
def test_row_means_is_a_product(impl):
    x = np.random.default_rng(3).normal(size=(2, 3, 4)).view(Watched)
    Watched.seen, Watched.axes = frozenset(), 0
    impl.row_means(x)
    adders = {"add.reduce", "add.accumulate", "einsum", "average", "mean", "sum", "nanmean", "cumsum"}
    found = sorted(Watched.seen & adders)
    assert not found, f"row_means adds up with {', '.join(found)}, expected a matrix product"
    assert Watched.seen & {"matmul.__call__", "dot", "tensordot", "inner"}, (
        "no matrix product of x was seen in row_means "
        "(np.asarray and np.ascontiguousarray hide x from this check: omit them)"
    )
    axes = Watched.axes
    assert axes <= 2, f"row_means multiplies an array of {axes} axes, one by one, expected all rows at once"


@pytest.mark.hint(
    "np.full((D, 1), 1 / D, dtype=x.dtype): without dtype the column is float64, and so is the product"
)
def test_float32_stays_float32(impl):
    x = np.random.default_rng(4).standard_normal((2, 3, 4), dtype=np.float32)
    assert_same(impl.gelu_tanh(x), gelu(x)[0], "gelu_tanh(x)", 1e-5)
    assert_same(impl.row_means(x), x.mean(axis=-1, keepdims=True), "row_means(x)", 1e-5)
    Watched.dtypes = frozenset()
    impl.row_means(x.view(Watched))
    assert np.dtype("float64") not in Watched.dtypes, (
        "row_means multiplies in float64, and all of a float32 x is converted for that; expected float32"
    )


@pytest.mark.hint(
    "copy what you give and what you get, call both functions a second time with other numbers, and compare",
    right="a right pair leaves x, dy, y and dx alone, and may do what it likes to arrays that nobody sees",
    forward_in_x="compare x before and after the forward",
    backward_in_dy="compare dy before and after the backward",
    backward_in_the_cache="compare x before and after the backward, or call the backward twice",
    backward_in_its_own_cache="call the backward twice with the same dy and the same cache",
    gradients_share_an_array="keep dx, run both on another x, and look at dx before any other call",
    results_share_an_array="keep y, run the forward on another x, and look at y before any other call",
    remembered_outside="run the forward on another x, and then the backward with the first cache",
    y_is_the_cache="y belongs to the caller: write to it, and then call the backward",
    two_axes_only="try x with three axes",
)
def test_trust_in_place(impl):
    assert_trust(impl.trust_in_place, SUSPECTS.RIGHT, SUSPECTS.wrong(), "pair")


def state(count, dtype="float64", seed=7):
    """w, g, m and v of Adam, m and v not zero."""
    rng = np.random.default_rng(seed)
    w, g, m = rng.normal(size=(3, count)).astype(dtype)
    return w, g, m, (rng.random(count) + 0.1).astype(dtype)


def assert_close(got, right, name, when, tolerance):
    """As assert_same, for arrays that are too long to be searched for what is the matter with them."""
    if not np.allclose(got, right, rtol=tolerance, atol=tolerance):
        at = int(np.abs(got - right).argmax())
        wanted, came = distinguished(right[at], got[at])
        raise Fault(f"{name} is wrong {when}, at {at}: expected {wanted}, got {came}", name, got=got.copy())


@pytest.mark.puzzle
@pytest.mark.hint(
    "the bias corrections are two numbers, the same for all of w; the last stretch may be a short one",
    m="m moves towards g by 1 - beta1 of the way",
    v="v moves towards the square of g by 1 - beta2 of the way",
)
@pytest.mark.parametrize("count", [5, 70_001])
def test_adam_in_pieces_is_adam(impl, count):
    w, g, m, v = state(count)
    expected, gradient = [w.copy(), m.copy(), v.copy()], g.copy()
    settings = {"beta1": 0.8, "beta2": 0.95, "eps": 0.01}
    for step, more in ((1, {}), (2, settings), (9, settings)):
        expected = SLOW.adam_as_written(expected[0], g, *expected[1:], step, 0.03, **more)
        assert impl.adam_in_pieces(w, g, m, v, step, 0.03, **more) is None, (
            "adam_in_pieces returns something, expected that it writes to w, m and v"
        )
        for name, got, right in zip(("w", "m", "v"), (w, m, v), expected, strict=True):
            assert_close(got, right, name, f"after step {step} of {count} numbers", 1e-9)
    assert np.array_equal(g, gradient), "adam_in_pieces changed g, which is only to be read"


@pytest.mark.puzzle
@pytest.mark.hint("an array as long as a stretch, made once; every operation writes into it or into w, m, v")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_adam_in_pieces_has_hardly_any_memory_of_its_own(impl, dtype):
    w, g, m, v = state(400_000, dtype)
    impl.adam_in_pieces(*state(10, dtype), 1, 1e-3)  # so that nothing is counted that is made only once
    most = peak_bytes(lambda: impl.adam_in_pieces(w, g, m, v, 1, 1e-3))
    assert most <= 256 * 1024, (
        f"adam_in_pieces had {most / 1024:,.0f} KiB in arrays of its own at a time, expected at most 256"
    )
    expected = SLOW.adam_as_written(*state(400_000, dtype), 1, 1e-3)[0]
    assert_close(w, expected, "w", f"in {dtype}", 1e-5)


@pytest.mark.puzzle
@pytest.mark.hint(
    "Python needs about a microsecond for each operation: make each stretch thousands of numbers long"
)
def test_adam_in_pieces_is_not_cut_too_finely(impl):
    class Counted(np.ndarray):
        calls = 0

        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
            Counted.calls += 1
            plain = [a.view(np.ndarray) if isinstance(a, Counted) else a for a in inputs]
            if out is not None:
                kwargs["out"] = tuple(np.asarray(a) for a in out)
            return getattr(ufunc, method)(*plain, **kwargs)

    w, g, m, v = (array.view(Counted) for array in state(100_000, "float32"))
    impl.adam_in_pieces(w, g, m, v, 1, 1e-3)
    assert Counted.calls <= 2_000, (
        f"{Counted.calls:,} operations for 100,000 numbers: the pieces are too short"
    )
