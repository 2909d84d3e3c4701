"""Checks of lesson 27."""

import importlib

import numpy as np
import pytest

from lessons.referee import Fault, assert_same, assert_untouched
from lessons.referee.gradients import several
from lessons.referee.values import assert_form

CARDS = importlib.import_module("lessons.27_gpu.cards")
TOY = importlib.import_module("lessons.27_gpu.device")


def program(rng, kernels):
    """Kernels with random steps on the arrays a to f, some of which are overwritten on the way."""
    names = "abcdef"
    return [
        [
            (str(rng.choice(list(names))), [str(n) for n in rng.choice(list(names), rng.integers(0, 4))])
            for _ in range(rng.integers(1, 4))
        ]
        for _ in range(kernels)
    ]


def will_be_read(name, later, kept):
    """True if the array of this name is read again, before something else takes its place."""
    for steps in later:
        for result, operands in steps:
            if name in operands:
                return True
            if result == name:
                return False
    return name in kept


def bytes_of(kernels, nbytes, kept):
    """The bytes moved, array by array, from the first kernel to the last."""
    moved = 0
    for number, steps in enumerate(kernels):
        for name in nbytes:
            first = next((i for i, (result, _) in enumerate(steps) if result == name), len(steps))
            if any(name in operands for _, operands in steps[: first + 1]):
                moved += nbytes[name]
            if first < len(steps) and will_be_read(name, kernels[number + 1 :], kept):
                moved += nbytes[name]
    return moved


def assert_traffic(impl, kernels, nbytes, kept, what):
    """Assert that launches and bytes of these kernels are right, as two whole numbers."""
    before = repr((kernels, nbytes, kept))
    launches, moved = several(impl.traffic, ("launches", "bytes"), kernels, nbytes, kept)
    assert repr((kernels, nbytes, kept)) == before, "traffic changed what it was given"
    if launches != len(kernels):
        raise Fault(f"launches are wrong {what}: expected {len(kernels)}, got {launches}", "launches")
    expected = bytes_of(kernels, nbytes, kept)
    if moved != expected:
        raise Fault(f"bytes are wrong {what}: expected {expected:,}, got {moved:,}", "bytes", got=moved)


@pytest.mark.hint(
    "a kernel is one launch; it reads what one of its steps needs and none of them has made before, and "
    "writes what it has made and somebody reads later"
)
@pytest.mark.parametrize(
    ("kernels", "kept", "what"),
    [
        ([[("y", ["x"])]], ["y"], "for y from x"),
        ([[("y", ["x", "x"])]], ["y"], "for y = x * x"),
        ([[("h", ["x"])], [("y", ["h"])]], ["y"], "for h from x, then y from h"),
        ([[("h", ["x"]), ("y", ["h"])]], ["y"], "for the same in one kernel"),
        ([[("h", ["x"]), ("y", ["h"])]], ["y", "h"], "for one kernel if h is kept too"),
        ([[("h", ["x"]), ("y", ["h", "x"])], [("z", ["h"])]], ["y", "z"], "if a second kernel reads h too"),
        ([[("x", ["x", "h"])]], ["x"], "for x += h"),
        ([[("y", ["x"]), ("x", ["y"]), ("z", ["x"])]], ["z"], "for a kernel that overwrites what it read"),
        ([[("h", ["x"])], [("h", ["y"])], [("z", ["h"])]], ["z"], "if h is overwritten before it is read"),
        ([[("h", ["x"])], [("y", ["x"])], [("z", ["h"])]], ["y", "z"], "if h is read two kernels later"),
        ([[("h", ["x"])], [("y", ["x"])]], ["y"], "if nobody reads h"),
        ([], [], "for no kernels"),
    ],
)
def test_traffic_by_hand(impl, kernels, kept, what):
    assert_traffic(impl, kernels, {"x": 1_000, "h": 200, "y": 30, "z": 4}, kept, what)


@pytest.mark.hint("go from the last kernel to the first, with a set of the names that will still be read")
def test_traffic_of_random_programs(impl):
    nbytes = {name: 10**i for i, name in enumerate("abcdef")}
    for seed in range(60):
        rng = np.random.default_rng(seed)
        kernels = program(rng, int(rng.integers(1, 6)))
        kept = [str(name) for name in rng.choice(list("abcdef"), 2, replace=False)]
        assert_traffic(impl, kernels, nbytes, kept, f"for {kernels} with {kept} kept")


def operation(multiply_adds, bytes_moved, waits=False):
    return CARDS.Operation("it", multiply_adds, bytes_moved, waits)


SMALL = CARDS.Card("small", bytes_a_second=10.0, flop_a_second=40.0, launch_seconds=2.0)


@pytest.mark.hint(
    "the host never waits for the card unless it is told to; an operation begins when it is launched and the "
    "one before it has ended. Data sheets count a multiply-add as two FLOP"
)
@pytest.mark.parametrize(
    ("operations", "expected", "what"),
    [
        ([(0, 50)], [(2, 7)], "of 50 bytes"),
        ([(100, 10)], [(2, 7)], "of 100 multiply-adds"),
        ([(60, 50)], [(2, 7)], "of 60 multiply-adds and 50 bytes, which go on at the same time"),
        ([(0, 50), (0, 10), (0, 10)], [(2, 7), (7, 8), (8, 9)], "that are launched while the card is busy"),
        ([(0, 5), (0, 5), (0, 5)], [(2, 2.5), (4, 4.5), (6, 6.5)], "that end before the next is launched"),
        ([(0, 50, True), (0, 10)], [(2, 7), (9, 10)], "after the first of which the host waits"),
        ([(0, 50), (0, 10, True), (0, 10)], [(2, 7), (7, 8), (10, 11)], "with a wait after the second"),
    ],
)
def test_timeline_by_hand(impl, operations, expected, what):
    times = impl.timeline([operation(*each) for each in operations], SMALL)
    noun = "an operation" if len(operations) == 1 else "operations"
    assert_same(times, np.array(expected, float), f"the timeline of {noun} {what}", 1e-12)


@pytest.mark.hint(
    "n operations are launched after launch, 2 launch, 3 launch, ...; waiting moves the host's clock"
)
def test_timeline_of_many(impl):
    rng = np.random.default_rng(0)
    card = CARDS.Card("other", 3.0, 7.0, 0.4)
    sizes = rng.exponential(1.0, (30, 2))
    durations = np.maximum(2 * sizes[:, 0] / 7, sizes[:, 1] / 3)
    ends = [  # the latest of: some operation was launched, and all after it followed at once
        max(0.4 * (first + 1) + durations[first : last + 1].sum() for first in range(last + 1))
        for last in range(30)
    ]
    expected = np.stack([ends - durations, ends], axis=1)
    times = impl.timeline([operation(*map(float, pair)) for pair in sizes], card)
    assert_same(times, expected, "the timeline of 30 operations", 1e-12)
    waiting = impl.timeline([operation(*map(float, pair), True) for pair in sizes], card)
    ends = np.cumsum(0.4 + durations)
    assert_same(waiting, np.stack([ends - durations, ends], axis=1), "the timeline with 30 waits", 1e-12)


class Batches:
    """Pairs on the device that can be gone through once; `taken` counts them."""

    def __init__(self, device, pairs):
        self.device, self.pairs, self.taken = device, pairs, 0

    def __iter__(self):
        for pair in self.pairs:
            self.taken += 1
            yield tuple(map(self.device.array, pair))


def pairs_of(steps, seed=0, size=1.0):
    rng = np.random.default_rng(seed)
    return [(size * rng.normal(size=(4, 3)), rng.normal(size=4)) for _ in range(steps)]


def loss_and_gradient(w, x, t):
    """Of a linear model with half the mean squared error, on the device."""
    error = x @ w - t
    return (error * error).mean() / 2, x.T @ error / t.shape[0]


def train_plainly(w, pairs, rate, largest):
    """The losses of all steps, and the weights after them."""
    losses, w = [], w.copy()
    for x, t in pairs:
        error = x @ w - t
        losses.append(np.mean(error**2) / 2)
        g = x.T @ error / len(t)
        norm = np.sqrt(np.sum(g * g))
        w -= rate * (g * largest / norm if norm > largest else g)
    return losses, w


def run(impl, pairs, rate=0.1, largest=0.5, every=None):
    """The means, the weights as they are then, and the device and the batches it ran on."""
    device = TOY.Device()
    start = np.array([0.5, -1.0, 2.0])
    w, batches = device.array(start), Batches(device, pairs)
    more = {} if every is None else {"every": every}
    with np.errstate(all="ignore"):
        means = impl.train_without_waiting(loss_and_gradient, w, batches, rate, largest, **more)
    waits = device.waits
    assert isinstance(means, list), f"the means are a {type(means).__name__}, expected a list"
    assert all(isinstance(mean, float | np.floating) for mean in means), "a mean is not a number of the host"
    return means, w.get(), waits, batches.taken, start


@pytest.mark.hint(
    "the loss is that before the step; clip with minimum(1, largest / norm), which is 1 for a short "
    "gradient; w is overwritten in place: w -= ..., not w = w - ...",
)
@pytest.mark.parametrize(("steps", "every"), [(60, None), (6, 3), (4, 1), (0, 2)])
def test_training_is_the_same(impl, steps, every):
    pairs = pairs_of(steps)
    means, w, _, _, start = run(impl, pairs, every=every)
    losses, expected = train_plainly(start, pairs, 0.1, 0.5)
    size = every or 20
    right = [np.mean(losses[i : i + size]) for i in range(0, steps, size)]
    assert_same(np.array(means), np.array(right), f"the mean losses of {steps} steps", 1e-9)
    assert_same(w, expected, f"w after {steps} steps", 1e-9)


@pytest.mark.hint("largest / 0 is inf on the device, and the smaller of 1 and inf is 1")
def test_training_with_gradients_of_every_length(impl):
    for pairs, what in (
        ([(np.zeros((2, 3)), np.zeros(2))] * 4, "of length zero"),
        (pairs_of(4, 1, 0.1), "that are short"),
        (pairs_of(4, 2, 10.0), "that are long"),
    ):
        _, w, _, _, start = run(impl, pairs, every=2)
        assert_same(w, train_plainly(start, pairs, 0.1, 0.5)[1], f"w after gradients {what}", 1e-9)


@pytest.mark.hint(
    "float(), if, max(), min(), print() and .get() each wait. Keep losses on the device, and read them when "
    "`every` of them are there"
)
@pytest.mark.parametrize(("steps", "every"), [(60, 20), (12, 4)])
def test_the_host_hardly_waits(impl, steps, every):
    means, _, waits, _, _ = run(impl, pairs_of(steps), every=every)
    assert waits <= len(means), (
        f"the host waited {waits} times in {steps} steps, expected {len(means)}: once for every {every} steps"
    )


@pytest.mark.hint(
    "look at each mean when it is read: NaN and inf are not finite (math.isfinite), and end the loop"
)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_training_ends_with_a_mean_that_is_not_finite(impl, bad):
    pairs = pairs_of(12)
    pairs[5][1][0] = bad
    means, _, _, taken, _ = run(impl, pairs, every=3)
    assert len(means) == 2 and not np.isfinite(means[1]), (
        f"the loss of step 6 is {bad}, and the means of every 3 steps are {means}: expected two, and the "
        "second not finite"
    )
    assert taken in (6, 7), (
        f"{taken} batches were taken, expected 6: step 6 went wrong, and its mean was read at once"
    )


def rounded(x, bits):
    """By arithmetic: float64 has room for every scaled number, and rint rounds ties to even."""
    wide = np.asarray(x, np.float64)
    exponent = np.maximum(np.frexp(wide)[1] - 1, -126)
    scaled = np.rint(np.ldexp(wide, bits - exponent))
    with np.errstate(over="ignore"):
        return np.ldexp(scaled, exponent - bits).astype(np.float32)


@pytest.mark.hint(
    "8 bits of bf16 are 1.xxxxxxx: from 256 to 512 its numbers are 2 apart, and 257 lies between two"
)
def test_round_by_hand(impl):
    x = np.array([257, 258, 259, 256.5, 1.0078125, -257, -259, 0, 511, 511.5, 1 + 2**-8], np.float32)
    expected = np.array([256, 258, 260, 256, 1.0078125, -256, -260, 0, 512, 512, 1], np.float32)
    assert_same(impl.round_significand(x, 7), expected, "257, 258, 259, ... in bf16", 1e-12)
    x = np.array([[1.25, 1.375, 1.5], [1.625, 1.75, 1.875]], np.float32)
    expected = np.array([[1, 1.5, 1.5], [1.5, 2, 2]], np.float32)
    assert_same(impl.round_significand(x, 1), expected, "1.25, 1.375, ... with 1 bit", 1e-12)


@pytest.mark.hint(
    "add to the bits, and cut: the carry goes wherever it has to. What you add is not quite half of what you "
    "cut off, or just half: look at the last bit that is kept",
    inplace="work on a copy: x.view(np.uint32) is the memory of x",
)
@pytest.mark.parametrize("bits", [1, 7, 10, 15, 22])
def test_round_any(impl, bits):
    rng = np.random.default_rng(bits)
    numbers = rng.normal(size=(4, 50)) * 10.0 ** rng.integers(-40, 38, (4, 50))
    x = numbers.astype(np.float32)
    x[0] = rounded(x[0], bits + 1)  # half of these are ties
    before = x.copy()
    got = impl.round_significand(x, bits)
    assert_untouched([before], [x], ["x"])
    assert_same(got, rounded(x, bits), f"numbers rounded to {bits} bits", 0)
    tiny = np.arange(1, 3000, 7, dtype=np.uint32).view(np.float32)
    right = rounded(tiny, bits).view(np.uint32).astype(np.int64)
    patterns = np.asarray(impl.round_significand(tiny, bits), np.float32).view(np.uint32).astype(np.int64)
    assert_same(patterns, right, f"the bits of tiny numbers rounded to {bits} bits")


@pytest.mark.hint(
    "a NaN has all eight bits of its exponent set; adding to its bits can make something else of it"
)
def test_round_infinities_and_nan(impl):
    for bits in (7, 10):
        x = np.array([0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x80000000], np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            got = np.asarray(impl.round_significand(x, bits))
        shown = [str(v) for v in got]
        assert shown == ["inf", "-inf", "inf", "-0.0"], (
            f"inf, -inf, the largest float32 and -0.0 become {', '.join(shown)} with {bits} bits"
        )
        nans = np.array([0x7FC00000, 0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF], np.uint32).view(np.float32)
        with np.errstate(all="ignore"):
            got = np.asarray(impl.round_significand(nans, bits))
        assert np.isnan(got).all(), f"a NaN becomes {got[~np.isnan(got)][0]} with {bits} bits"


def masters():
    """Float32 numbers up to 3e38: all lower halves below some upper ones, signs, zeros, and random ones."""
    rng = np.random.default_rng(0)
    upper = np.array([0x3F80, 0x3F81, 0xBF80, 0xC2FF, 0x0000, 0x8000, 0x0001, 0x7F60, 0x007F], np.uint32)
    patterns = (upper[:, None] << 16 | np.arange(0, 65536, 128, dtype=np.uint32)).ravel()
    near = (upper[:, None] << 16 | np.array([1, 0x7FFF, 0x8001, 0xFFFF], np.uint32)).ravel()
    drawn = rng.normal(0, 0.05, 500).astype(np.float32)
    return np.concatenate([patterns.view(np.float32), near.view(np.float32), drawn])


HALVES = "shadow", "rest"


@pytest.mark.puzzle
@pytest.mark.hint(
    "the first 16 bits of a float32 are a bf16: x.view(np.uint32); a nearest one is at most half a step off"
)
def test_the_shadow_is_nearest(impl):
    w = masters()
    before = w.copy()
    shadow, rest = several(impl.split_master, HALVES, w)
    assert_untouched([before], [w], ["w"])
    for array, name in ((shadow, "shadow"), (rest, "rest")):
        dtype = getattr(array, "dtype", type(array).__name__)
        assert dtype == np.uint16 and array.shape == w.shape, (
            f"{name} has dtype {dtype} and shape {np.shape(array)}, expected uint16 and {w.shape}"
        )
    value = lambda bits: (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    lower = (w.view(np.uint32) >> 16).astype(np.uint16)
    exact = w.astype(np.float64)
    best = np.minimum(abs(value(lower) - exact), abs(value(lower + np.uint16(1)) - exact))
    worse = np.flatnonzero(~(abs(value(shadow) - exact) <= best))
    assert not len(worse), f"the shadow of {w[worse[0]]} is {value(shadow)[worse[0]]}: not the nearest bf16"


@pytest.mark.puzzle
@pytest.mark.hint(
    "a nearest number can lie above or below w; between them, rest has 65,536 places to tell them apart"
)
def test_nothing_is_lost(impl):
    w = masters()
    for shape in ((-1,), (4, -1), (2, 2, -1)):
        part = w[: len(w) // 4 * 4].reshape(shape)
        parts = several(impl.split_master, HALVES, part)
        copies = [each.copy() for each in parts]
        joined = impl.join_master(*parts)
        assert_untouched(copies, parts, HALVES)
        assert_form(joined, part.shape, part.dtype, "the joined master")
        wrong = np.argwhere(np.asarray(joined).view(np.uint32) != part.view(np.uint32))
        if len(wrong):
            at = tuple(wrong[0])
            raise Fault(f"{part[at]} comes back as {joined[at]} ({len(wrong)} of {part.size} are wrong)")
