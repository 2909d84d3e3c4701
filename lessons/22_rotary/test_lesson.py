"""Checks of lesson 22."""

import numpy as np
import pytest

from lessons.referee import Fault, assert_operation, assert_same, assert_untouched
from lessons.referee.gradients import named, outcome
from tinyvit.gradcheck import numerical_gradient


def compared(got, expected, name, mistakes, tolerance=1e-9):
    """assert_same, but a mistake that gives these very numbers is named: dict of words -> wrong result."""
    same = lambda a, b: np.shape(a) == b.shape and np.allclose(a, b, tolerance, tolerance)
    for words, wrong in mistakes.items():
        if same(got, wrong) and not same(expected, wrong):
            raise Fault(f"{name} {words}", name, got=got)
    assert_same(got, expected, name, tolerance)


def angles_of(grid, K, theta, step=4, first=0):
    """The definition of the angles, patch by patch and point by point."""
    speeds = [theta ** (-step * n / K) for n in range(K // 4)]
    places = [(r + first, c + first) for r, c in np.ndindex(*grid)]
    return np.array([[r * f for f in speeds] + [c * f for f in speeds] for r, c in places])


@pytest.mark.hint(
    "the first K/4 angles of a patch are its row times the frequencies, the others its column times the same "
    "ones; the patches are in reading order",
    shape="a row for every patch, gh * gw of them, and K/2 angles in each: K/4 of its row, K/4 of its column",
)
@pytest.mark.parametrize(
    ("grid", "K", "theta"), [((3, 2), 12, 100.0), ((2, 5), 8, 16.0), ((4, 7), 32, 100.0), ((3, 5), 4, 9.0)]
)
def test_angles_number_by_number(impl, grid, K, theta):
    F, right = K // 4, angles_of(grid, K, theta)
    mistakes = {
        "have the columns before the rows": np.roll(right, F, axis=1),
        "have the rows and the columns side by side, frequency by frequency": right.reshape(-1, 2, F)
        .swapaxes(1, 2)
        .reshape(right.shape),
        "fall too slowly from point to point: with K/4 frequencies, the power is -4n/K": angles_of(
            grid, K, theta, 2
        ),
        "count rows and columns from 1": angles_of(grid, K, theta, 4, 1),
        "have the wrong sign everywhere": -right,
    }
    compared(impl.place_angles(grid, K, theta), right, f"the angles of a grid {grid}", mistakes)


@pytest.mark.hint("theta is 100 unless something else is asked for")
def test_theta_is_100_if_not_given(impl):
    assert_same(impl.place_angles((2, 3), 8), angles_of((2, 3), 8, 100.0), "the angles without a theta")


def turned(x, angles):
    """The definition: each point is a complex number, and times e^(ia) it turns by a."""
    half, T = x.shape[-1] // 2, angles.shape[-2]
    points = x[..., :half] + 1j * x[..., half:]
    points[:, :, -T:] *= np.exp(1j * angles)
    return np.concatenate([points.real, points.imag], axis=-1)


def wrongly_turned(x, angles):
    """The results of the mistakes that are made most often, by the words for them."""
    K, T = x.shape[-1], len(angles)
    pairs = [*range(0, K, 2), *range(1, K, 2)]
    neighbours = np.empty_like(x)
    neighbours[..., pairs] = turned(x[..., pairs], angles)
    others = x.shape[2] - T
    alone = np.concatenate([np.zeros((others, K // 2)), angles])
    a, (x1, x2) = alone, (x[..., : K // 2], x[..., K // 2 :])
    y1, y2 = x1 * np.cos(a) - x2 * np.sin(a), x2 * np.cos(a) + x1 * np.sin(a)
    too = np.concatenate([np.repeat(angles[:1], others, axis=0), angles])
    first = np.concatenate([turned(x[:, :, :T], angles), x[:, :, T:]], axis=2)
    join = lambda *halves: np.concatenate(halves, axis=-1)
    return {
        "turns neighbours together: point n is x_n and x_{n + K/2}": neighbours,
        "turns the other way, by -a: look at the signs of both sines": turned(x, -angles),
        "has x2 sin a with the wrong sign in y1": join(x1 * np.cos(a) + x2 * np.sin(a), y2),
        "has x1 sin a with the wrong sign in y2": join(y1, x2 * np.cos(a) - x1 * np.sin(a)),
        "takes the new y1 for x1 when it works out y2": join(y1, x2 * np.cos(a) + y1 * np.sin(a)),
        "turns the class token too, like the first patch": turned(x, too),
        "turns the first T tokens, the class token among them: the last T are the patches": first,
        "is x: nothing turns": x,
    }


@pytest.mark.hint(
    "draw the point (2, 1), and turn the paper by 90 degrees against the clock: it comes to (-1, 2)"
)
def test_a_quarter_turn_by_hand(impl):
    x = np.array([[[[2.0, 5.0, 1.0, 6.0]]]])  # the points (2, 1), which turns, and (5, 6)
    angles = np.array([[np.pi / 2, 0.0]])
    y, _ = outcome(impl.turn_patches(x.copy(), angles))
    compared(y, np.array([[[[-1.0, 5.0, 2.0, 6.0]]]]), "y", wrongly_turned(x, angles))


SIZES = {  # B, H, N, T, K
    "patches alone": (2, 3, 5, 5, 8),
    "a class token": (2, 3, 7, 6, 8),
    "a class token and four registers": (3, 2, 9, 4, 12),
    "one patch, one head": (2, 1, 2, 1, 4),
}


def inputs(seed, B, H, N, T, K):
    rng = np.random.default_rng(seed)
    return rng.normal(0.5, 1, (B, H, N, K)), rng.uniform(-4, 4, (T, K // 2))


every_size = pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)


@pytest.mark.hint(
    "x1 is the first half of a head's numbers and x2 the second; angles has a row for each of the last T",
    crash="the angles are (T, K/2): which part of x (B, H, N, K) has that shape at its end?",
)
@every_size
def test_values_point_by_point(impl, size):
    x, angles = inputs(1, *size)
    y, _ = outcome(impl.turn_patches(x.copy(), angles))
    compared(y, turned(x, angles), "y", wrongly_turned(x, angles))


@pytest.mark.hint("turned by the same frequencies, two places differ by the same angles wherever they are")
def test_scores_depend_on_the_difference_of_the_places_alone(impl):
    q, k = np.random.default_rng(2).normal(size=(2, 1, 1, 1, 8))
    angles = angles_of((4, 5), 8, 100.0)
    y, _ = outcome(impl.turn_patches(np.repeat(q, 20, axis=2), angles))
    z, _ = outcome(impl.turn_patches(np.repeat(k, 20, axis=2), angles))
    scores = (y[0, 0] @ z[0, 0].T).reshape(4, 5, 4, 5)
    for down, across in ((0, 0), (1, 2), (3, 1)):
        got = [scores[r, c, r + down, c + across] for r, c in np.ndindex(4 - down, 5 - across)]
        assert_same(
            np.array(got), np.full(len(got), got[0]), f"q.k of places {down} down and {across} across"
        )


@pytest.mark.hint("the new array needs x's dtype: np.empty_like(x), or x.copy()")
def test_dtype_of_x(impl):
    x, angles = inputs(3, 1, 2, 4, 3, 8)
    y, cache = outcome(impl.turn_patches(x.astype(np.float32), angles))
    for name, got in (("y", y), ("dx", named(impl.turn_patches_backward(y, cache), {"x": x})["x"])):
        if got.dtype != np.float32:
            raise Fault(f"{name} has dtype {got.dtype} for x of float32 and angles of float64", name, "dtype")


@pytest.mark.hint("turn the gradient of the last T tokens by the opposite angles; that of the others passes")
@every_size
def test_the_gradient_is_turned_back(impl, size):
    x, angles = inputs(4, *size)
    dy = inputs(5, *size)[0]
    _, cache = outcome(impl.turn_patches(x, angles))
    lost = turned(dy, -angles)
    lost[:, :, : -len(angles)] = 0
    folded = np.arcsin(np.sin(angles))  # the same sine, and a cosine that is not negative
    mistakes = {
        "is dy turned by the angles of the forward: it has to be turned back": turned(dy, angles),
        "is dy as it came: it has to be turned back": dy,
        "is 0 for the tokens that do not turn: what passes forward passes backward": lost,
        "is right for angles up to a quarter turn: a cosine made of the sine has lost its sign": turned(
            dy, -folded
        ),
    }
    got = named(impl.turn_patches_backward(dy, cache), {"x": x})["x"]
    compared(got, turned(dy, -angles), "dx", mistakes)


@pytest.mark.hint(
    "the matrix of a rotation has an inverse that is its transpose: the rotation back",
    cache="write nothing to what the cache holds",
)
@every_size
def test_gradients(impl, size):
    x, angles = inputs(6, *size)
    forward = lambda x: impl.turn_patches(x, angles)
    assert_operation(forward, impl.turn_patches_backward, {"": {"x": x}})


@pytest.mark.hint("make new arrays: what you were given belongs to somebody else")
def test_nothing_given_is_changed(impl):
    x, angles = inputs(7, 2, 2, 5, 4, 8)
    dy = np.ones_like(x)
    before = [array.copy() for array in (x, angles, dy)]
    _, cache = outcome(impl.turn_patches(x, angles))
    impl.turn_patches_backward(dy, cache)
    assert_untouched(before, [x, angles, dy], ("x", "angles", "dy"))


def learned_inputs(seed, grid, B, H, K):
    rng, T = np.random.default_rng(seed), grid[0] * grid[1]
    q, k = rng.normal(size=(2, B, H, T, K))
    return {"q": q, "k": k, "frequencies": rng.normal(0.3, 0.7, (2, H, K // 2))}


def angles_by_head(frequencies, grid):
    """(H, T, K/2), patch by patch."""
    turns = [r * frequencies[0] + c * frequencies[1] for r, c in np.ndindex(*grid)]
    return np.stack(turns, axis=1)


GRIDS = {"2 x 3": ((2, 3), 2, 2, 8), "3 x 2, one head": ((3, 2), 3, 1, 4), "a column": ((4, 1), 1, 3, 8)}
every_grid = pytest.mark.parametrize("case", GRIDS.values(), ids=GRIDS)


@pytest.mark.puzzle
@pytest.mark.hint(
    "frequencies[0] times the row and frequencies[1] times the column, for each head: (H, T, K/2)"
)
@every_grid
def test_learned_scores(impl, case):
    grid, arrays = case[0], learned_inputs(8, *case)
    q, k, F = arrays.values()
    angles, swapped = angles_by_head(F, grid), angles_by_head(F[::-1], grid)
    scores = lambda a, b: turned(q, a) @ turned(k, b).swapaxes(-1, -2)
    mistakes = {
        "comes of turned queries, and keys that do not turn": scores(angles, 0 * angles),
        "comes of turned keys, and queries that do not turn": scores(0 * angles, angles),
        "has rows and columns exchanged: frequencies[0] belongs to the row": scores(swapped, swapped),
        "comes of keys that turn the other way": scores(angles, -angles),
        "is divided by the square root of K": scores(angles, angles) / q.shape[-1] ** 0.5,
    }
    S, _ = outcome(impl.learned_scores(*arrays.values(), grid))
    compared(S, scores(angles, angles), "S", mistakes)


@pytest.mark.puzzle
@pytest.mark.hint(
    "a frequency turns both: what a push of it does to the queries and what it does to the keys add up"
)
def test_a_frequency_turns_queries_and_keys(impl):
    grid, arrays = GRIDS["2 x 3"][0], learned_inputs(10, *GRIDS["2 x 3"])
    q, k, F = arrays.values()
    dS = np.random.default_rng(11).normal(size=(2, 2, 6, 6))
    _, cache = outcome(impl.learned_scores(q, k, F.copy(), grid))
    got = named(impl.learned_scores_backward(dS, cache), arrays)["frequencies"]

    def pushed(of_queries, of_keys):
        y, z = turned(q, angles_by_head(of_queries, grid)), turned(k, angles_by_head(of_keys, grid))
        return (y @ z.swapaxes(-1, -2) * dS).sum()

    of_both = numerical_gradient(lambda: pushed(F, F), F)
    fixed = F.copy()
    of_queries = numerical_gradient(lambda: pushed(F, fixed), F)
    of_keys = of_both - of_queries
    mistakes = {
        "has the part of the queries alone: the keys turn too": of_queries,
        "has the part of the keys alone: the queries turn too": of_keys,
        "has the part of the keys with the wrong sign": of_queries - of_keys,
        "has the wrong sign everywhere": -of_both,
    }
    compared(got, of_both, "dfrequencies", mistakes, 1e-6)


@pytest.mark.puzzle
@pytest.mark.hint(
    "start from the gradients of the turned queries and of the turned keys",
    dfrequencies="when its angle grows, a turned point (y1, y2) moves in the direction (-y2, y1); queries "
    "and keys, all images and all patches share a frequency",
    dtype="np.indices has whole numbers, which make float64 of float32: astype(q.dtype)",
)
@every_grid
def test_learned_gradients(impl, case):
    forward = lambda q, k, frequencies: impl.learned_scores(q, k, frequencies, case[0])
    assert_operation(forward, impl.learned_scores_backward, {"": learned_inputs(9, *case)})
