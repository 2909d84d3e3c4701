"""Checks of lesson 12."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from lessons.referee import Fault, assert_exposed, assert_operation, assert_same, assert_untouched
from lessons.referee.gradients import outcome, several
from tinyvit.ops import Noise

RATE = 0.4


def pictures(seed=0, shape=(3, 5, 7, 3)):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def one(impl, image, down=0, right=0, flip=False):
    """One image through one window."""
    shift = np.array([down]), np.array([right])
    batch = impl.crop_and_flip(image[None], np.array([0]), *shift, np.array([flip]))
    assert np.shape(batch) == (1, *image.shape), (
        f"the batch has shape {np.shape(batch)}, expected {(1, *image.shape)}"
    )
    return batch[0]


@pytest.mark.hint(
    "images are chosen by indices: 2, then 0, then 2 again, then 1",
    shape="there are as many results as indices, which need not be as many as there are images",
    dtype="gather bytes, return bytes: normalising comes later",
)
def test_no_shift_and_no_flip_is_the_image_itself(impl):
    images, nothing = pictures(), np.zeros(4, dtype=int)
    chosen = np.array([2, 0, 2, 1])
    batch = impl.crop_and_flip(images, chosen, nothing, nothing, nothing > 0)
    assert_same(batch, images[chosen], "the batch")


@pytest.mark.hint("the edge is not repeated: row -1 is row 1, row -2 is row 2; row H is row H - 2")
def test_a_column_by_hand(impl):
    image = np.zeros((5, 1, 3), dtype=np.uint8)
    image[:, 0] = np.array([10, 20, 30, 40, 50])[:, None]
    for down, expected in (
        (2, [30, 40, 50, 40, 30]),
        (-2, [30, 20, 10, 20, 30]),
        (4, [50, 40, 30, 20, 10]),
        (-4, [50, 40, 30, 20, 10]),
    ):
        window = one(impl, image, down=down)
        assert_same(window[:, 0, 0], np.array(expected, np.uint8), f"a column moved down by {down}")


@pytest.mark.hint("first the window, then the mirror: output column j shows column W - 1 - j of the window")
def test_a_flip_mirrors_what_the_window_shows(impl):
    image = pictures(2)[0]
    assert_same(one(impl, image, flip=True), image[:, ::-1], "the mirrored image")
    for right in (2, -3):
        window = one(impl, image, down=1, right=right)
        mirrored = one(impl, image, 1, right, True)
        assert_same(mirrored, window[:, ::-1], f"the window moved right by {right}, mirrored")


@pytest.mark.hint("gather into a new array, and change neither the images nor the shifts (no index -= ...)")
def test_what_was_given_stays_as_it_was(impl):
    images, zero = pictures(10), np.zeros(3, dtype=int)
    indices, down, right = np.array([1, 0]), np.array([-2, 4]), np.array([6, -1])
    flip = np.array([True, False])
    given = [images, indices, down, right, flip]
    before = [array.copy() for array in given]
    impl.crop_and_flip(*given)
    assert_untouched(before, given)
    batch = impl.crop_and_flip(images, np.arange(3), zero, zero, zero > 0)
    assert not np.shares_memory(batch, images), "the batch shares its memory with the data set: copy it"


@pytest.mark.hint("down moves rows (axis 1), right moves columns (axis 2); every image has its own shifts")
@pytest.mark.parametrize("size", [(5, 7), (6, 4), (5, 5)])
def test_every_image_has_its_own_window(impl, size):
    H, W = size
    images, rng = pictures(1, (4, H, W, 3)), np.random.default_rng(1)
    indices = rng.integers(0, 4, 60)
    down, right, flip = rng.integers(1 - H, H, 60), rng.integers(1 - W, W, 60), rng.random(60) < 0.5
    batch = impl.crop_and_flip(images, indices, down, right, flip)
    padded = np.pad(images, ((0, 0), (H - 1, H - 1), (W - 1, W - 1), (0, 0)), mode="reflect")
    expected = [
        padded[i, H - 1 + top :, W - 1 + left :][:H, :W][:, :: -1 if mirrored else 1]
        for i, top, left, mirrored in zip(indices, down, right, flip, strict=True)
    ]
    assert_same(batch, np.stack(expected), f"a batch of 60 windows on images of {H} x {W}")


@pytest.mark.hint("without noise nothing is dropped and nothing enlarged; the same at rate 0")
def test_in_inference_nothing_happens(impl):
    x = np.random.default_rng(3).normal(size=(4, 2, 3))
    for rate, noise in ((RATE, None), (0, Noise(1, 2)), (0.0, None)):
        y, cache = outcome(impl.drop_path(x, rate, noise))
        label = f"at rate {rate} {'without noise' if noise is None else 'with noise'}"
        assert_same(y, x, f"y {label}")
        assert_same(impl.drop_path_backward(x + 1, cache), x + 1, f"dx {label}")


@pytest.mark.hint("noise.uniform((B, 1, 1), np) gives one number an image; keep where it is >= rate")
def test_an_image_is_kept_whole_or_left_out_whole(impl):
    x = np.random.default_rng(4).normal(size=(40, 2, 3))
    for rate in (RATE, 0.9):
        y, _ = impl.drop_path(x, rate, Noise(5, 6))
        keep = Noise(5, 6).uniform((40, 1, 1), np)[:, 0, 0] >= rate
        assert_same(y != 0, np.broadcast_to(keep[:, None, None], x.shape), f"where y is not 0, rate {rate}")


@pytest.mark.hint("keep where the number is >= rate: a number that equals the rate keeps its image")
def test_a_number_that_equals_the_rate(impl):
    class Planned:
        def uniform(self, shape, xp):
            drawn = np.array([0.25, 0.5, 0.75], np.float32)
            return np.broadcast_to(drawn.reshape(3, *(1 for _ in shape[1:])), shape)

    y, _ = impl.drop_path(np.ones((3, 2, 4)), 0.5, Planned())
    kept = np.array([False, True, True])
    assert_same(y[:, 0, 0] != 0, kept, "where y is not 0, for the draws 0.25, 0.5, 0.75 at rate 0.5,")


@pytest.mark.hint("what is kept is divided by 1 - rate: the mean over many draws is x again")
def test_the_mean_stays(impl):
    for rate in (RATE, 0.75):
        y, _ = impl.drop_path(np.full((20_000, 1, 1), 3.0), rate, Noise(7, 8))
        assert_same(float(y.max()), 3 / (1 - rate), f"a kept 3 at rate {rate}")
        assert_same(float(y.mean()), 3.0, f"the mean of y over 20,000 threes at rate {rate}", 0.02)


@pytest.mark.hint(
    "dx is dy times the mask of the forward pass: put the mask into the cache, and do not draw again",
    cache="dx = dy * mask, with the mask that the forward drew: neither mask *= dy nor a second draw",
    y="make the mask in x's dtype: a mask in float64 turns all that follows into float64",
    dx="dx is dy times the mask of the forward, in the dtype of dy",
    inplace="return x * mask, a new array, and leave x as it is",
)
def test_the_gradient(impl):
    x = np.random.default_rng(9).normal(size=(8, 2, 3))
    with_zeros = x * (np.arange(8) % 3 > 0)[:, None, None]
    forward = lambda x: impl.drop_path(x, RATE, Noise(9, 1))
    cases = {"random numbers": {"x": x}, "images of zeros": {"x": with_zeros}, "one image": {"x": x[:1]}}
    assert_operation(forward, impl.drop_path_backward, cases)


@pytest.mark.hint("the noise is drawn once, in the forward; the backward asks only the cache")
def test_the_backward_draws_nothing(impl):
    x, dy = np.random.default_rng(11).normal(size=(2, 64, 1, 2))
    noise, other = Noise(3, 4), Noise(3, 5)
    _, cache = impl.drop_path(x, RATE, noise)
    impl.drop_path(x, RATE, other)  # a second layer draws in between
    keep = Noise(3, 4).uniform((64, 1, 1), np) >= RATE
    assert_same(impl.drop_path_backward(dy, cache), dy * keep / (1 - RATE), "dx")
    after = noise.uniform((1,), np)
    twice = Noise(3, 4)
    twice.uniform((64, 1, 1), np)
    assert_same(after, twice.uniform((1,), np), "the noise's next number (it was not drawn from just once)")


@pytest.mark.hint(
    "compare analytic and numerical gradients for more and more images: two draws can agree by luck",
    name="two of them make the same mask in both passes; one cannot know which mask it made",
    inputs="more images: at this rate most are kept in either draw",
)
def test_the_guilty_one_is_exposed(impl):
    spec = importlib.util.spec_from_file_location("suspects_15", Path(__file__).parent / "suspects.py")
    suspects = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(suspects)
    assert_exposed(impl.guilty_drop_path(), suspects.SUSPECTS)


LABELS = np.repeat([4, 0, 2, 7], [31, 17, 7, 1])


@pytest.mark.puzzle
@pytest.mark.hint(
    "every index once: in one of the two, ascending",
    held_out="shares that are rounded one by one need not add up to the count: round all of them down first",
)
def test_every_image_is_on_one_side(impl):
    labels = np.random.default_rng(0).permutation(LABELS)
    for count in (1, 9, 20, 55):
        train, held_out = several(impl.hold_out, ("train", "held_out"), labels, count, 3)
        if len(held_out) != count:
            raise Fault(f"{len(held_out)} of 56 images are held out, and {count} were to be", "held_out")
        for side, size in ((train, 56 - count), (held_out, count)):
            assert isinstance(side, np.ndarray) and side.dtype.kind == "i", "expected two arrays of integers"
            assert side.shape == (size,), f"holding out {count} of 56: {side.shape}, expected ({size},)"
            assert (np.diff(side) > 0).all(), "the indices are not in ascending order"
        assert_same(np.sort(np.concatenate([train, held_out])).astype(int), np.arange(56), "both sides")


@pytest.mark.puzzle
@pytest.mark.hint("round every share down; the classes that lost most by it get what is still missing")
def test_every_class_gives_its_share(impl):
    for labels in (np.random.default_rng(1).permutation(LABELS), LABELS, np.repeat(np.arange(10), 13)):
        names, sizes = np.unique(labels, return_counts=True)
        for count in (1, 5, 9, 20, 41, 55):
            _, held_out = impl.hold_out(labels, count, 4)
            got = np.array([(labels[held_out] == name).sum() for name in names])
            exact = count * sizes / len(labels)
            down = np.floor(exact)
            best = down.copy()
            best[np.argsort(-(exact - down))[: count - int(down.sum())]] += 1
            off, least = np.abs(got - exact).sum(), np.abs(best - exact).sum()
            assert off < least + 1e-9, (
                f"holding out {count} from classes of {sizes.tolist()}: {got.tolist()}, "
                f"where the exact shares are {exact.round(2).tolist()}"
            )


@pytest.mark.puzzle
@pytest.mark.hint("np.random.default_rng(seed), made inside: the same seed, the same split; another, another")
def test_the_seed_alone_decides(impl):
    labels = np.random.default_rng(2).permutation(np.repeat(np.arange(4), 50))
    kept = labels.copy()
    np.random.seed(0)
    first = impl.hold_out(labels, 40, 5)[1]
    drawn = np.random.random()
    np.random.seed(0)
    assert drawn == np.random.random(), "hold_out draws from, or seeds, NumPy's global generator"
    np.random.seed(1)
    assert_same(impl.hold_out(labels, 40, 5)[1], first, "a second split with the same seed")
    assert not np.array_equal(impl.hold_out(labels, 40, 6)[1], first), "seeds 5 and 6 hold out the same"
    times = sum(np.isin(np.arange(200), impl.hold_out(labels, 40, seed)[1]) for seed in range(200))
    worst = f"over 200 seeds, one image is held out {times.max()} times, another {times.min()}, expected 40"
    assert times.min() > 10 and times.max() < 80, worst
    together = sum(len(set(impl.hold_out(labels, 40, seed)[1] // 2)) for seed in range(50)) / 50
    assert together > 30, "neighbours are held out together: draw every image of a class by itself"
    sides = [impl.hold_out(np.repeat(np.arange(4), 50), 40, seed)[1] for seed in range(200)]
    sets = [tuple(tuple(side[side // 50 == name] % 50) for name in (0, 1)) for side in sides]
    found = len({of_first for of_first, _ in sets})
    assert found > 190, f"200 seeds take only {found} different sets from a class: draw every image by itself"
    alike = sum(of_first == of_second for of_first, of_second in sets)
    assert alike < 10, "two classes of one size give the same positions: one generator for all classes"
    assert_untouched([kept], [labels])
