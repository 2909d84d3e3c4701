import numpy as np
import pytest

from tinyvit.data.shapes import (
    CLASSES,
    DISTANCES,
    FEWEST,
    LARGEST,
    LUMA,
    MOST,
    SIZE,
    SMALLEST,
    draw_places,
    make_shapes,
)


@pytest.fixture(scope="module")
def masks(shapes):
    """The masks of the pixels that differ clearly in brightness from the ground: bool (10000, 32, 32)."""
    brightness = shapes.train.images @ LUMA / 255
    ground = np.median(brightness, axis=(1, 2), keepdims=True)
    return np.abs(brightness - ground) > 0.2


def test_the_same_seed_draws_the_same_images():
    first, second = make_shapes(60, 20, seed=4), make_shapes(60, 20, seed=4)
    for name in ("train", "test"):
        np.testing.assert_array_equal(getattr(first, name).images, getattr(second, name).images)
        np.testing.assert_array_equal(getattr(first, name).labels, getattr(second, name).labels)


def test_a_seed_draws_the_same_images_in_every_version():
    """So that runs of one seed can be compared; one number for each image, in which every pixel counts."""
    weights = np.cos(np.arange(SIZE * SIZE * 3)).reshape(SIZE, SIZE, 3)
    drawn = make_shapes(10, 10, seed=3)
    expected = {
        "train": [535, -292, -236, 634, -121, 184, -98, 70, -461, 720],
        "test": [-150, 65, 95, -59, 44, -2, -221, -860, 397, -156],
    }
    for name, sums in expected.items():
        np.testing.assert_allclose((getattr(drawn, name).images * weights).sum((1, 2, 3)), sums, atol=4)


def test_another_seed_draws_other_images():
    assert (make_shapes(60, 20, seed=4).train.images != make_shapes(60, 20, seed=5).train.images).any()


def test_training_and_test_images_have_nothing_in_common(shapes):
    train = {image.tobytes() for image in shapes.train.images}
    assert not any(image.tobytes() in train for image in shapes.test.images)


def test_every_class_has_the_same_number_of_images(shapes):
    assert len(shapes.classes) == 10
    assert np.bincount(shapes.train.labels).tolist() == [1000] * 10
    assert np.bincount(shapes.test.labels).tolist() == [200] * 10


def test_classes_are_in_random_order(shapes):
    assert abs(np.corrcoef(shapes.train.labels[:-1], shapes.train.labels[1:])[0, 1]) < 0.05


@pytest.mark.parametrize("name", CLASSES)
def test_a_silhouette_is_its_own_mirror_image(name):
    x, y = np.meshgrid(np.linspace(-1, 1, 40), np.linspace(1, -1, 40))
    np.testing.assert_allclose(DISTANCES[name](x, y), DISTANCES[name](-x, y), atol=1e-12)


@pytest.mark.parametrize("name", CLASSES)
def test_a_silhouette_fills_its_circle_and_no_more(name):
    x, y = np.meshgrid(np.linspace(-1.3, 1.3, 200), np.linspace(1.3, -1.3, 200))
    reach = np.hypot(x, y)[DISTANCES[name](x, y) < 0].max()
    assert 0.84 < reach < 1.1


@pytest.mark.parametrize("name", CLASSES)
def test_distances_are_true_near_the_outline(name):
    """The gradient of d would blur an edge or make it jagged where its length is not 1."""
    step = 1e-4
    x, y = np.meshgrid(np.linspace(-1.2, 1.2, 200), np.linspace(1.2, -1.2, 200))
    d = DISTANCES[name]
    slope_x = (d(x + step, y) - d(x - step, y)) / (2 * step)
    slope_y = (d(x, y + step) - d(x, y - step)) / (2 * step)
    on_outline = np.abs(d(x, y)) < 0.01
    assert abs(np.median(np.hypot(slope_x, slope_y)[on_outline]) - 1) < 0.01


def test_shapes_keep_to_the_sizes_and_numbers_stated():
    x, y, radius, shown = (np.stack(each)[:, :, 0, 0] for each in zip(*places(4000), strict=True))
    assert SMALLEST <= radius.min() < SMALLEST + 0.1
    assert LARGEST - 0.1 < radius.max() <= LARGEST
    assert np.maximum(abs(x), abs(y)).max() <= SIZE / 2 - SMALLEST
    assert (np.maximum(abs(x), abs(y)) + radius).max() < SIZE / 2 + 1e-4  # inside the frame
    count = np.bincount(shown.sum(axis=0))
    assert np.flatnonzero(count).tolist() == list(range(FEWEST, MOST + 1))
    assert count[FEWEST:].min() > 0.9 * 4000 / (MOST - FEWEST + 1)


def test_few_shapes_overlap():
    x, y, radius, shown = (np.stack(each)[:, :, 0, 0] for each in zip(*places(4000), strict=True))
    first, second = np.triu_indices(MOST, k=1)
    gap = np.hypot(x[first] - x[second], y[first] - y[second]) - radius[first] - radius[second]
    overlapping = (gap < -1) & shown[first] & shown[second]
    assert overlapping.any(axis=0).mean() < 0.4


@pytest.mark.parametrize("label", range(10), ids=CLASSES)
def test_a_class_appears_in_every_part_of_the_frame(shapes, masks, label):
    """Of the 8 x 8 patches of 4 pixels those on the edge of the frame see a shape less often, but all do."""
    patches = masks[shapes.train.labels == label].reshape(-1, 8, 4, 8, 4).any(axis=(2, 4))
    share = patches.mean(axis=0)  # (8, 8): of the images, in how many a shape is seen in this patch
    inner = share[1:-1, 1:-1]
    assert inner.min() > inner.max() / 3
    assert np.count_nonzero(share) == 64


@pytest.mark.parametrize("label", range(10), ids=CLASSES)
def test_flipped_images_of_a_class_look_like_the_others(shapes, masks, label):
    where = masks[shapes.train.labels == label].mean(axis=0)
    difference = where - where[:, ::-1]
    assert np.abs(difference).max() < 0.1 and np.abs(difference).mean() < 0.02


def test_each_class_is_as_often_lighter_as_darker_than_its_ground(shapes):
    brightness = shapes.train.images @ LUMA / 255
    lighter = brightness.mean(axis=(1, 2)) > np.median(brightness, axis=(1, 2))
    share = [lighter[shapes.train.labels == label].mean() for label in range(10)]
    assert min(share) > 0.42 and max(share) < 0.58


def test_every_image_shows_its_shapes_clearly(shapes):
    """The lightest and the darkest parts of an image are those of shapes and ground, and lie well apart."""
    brightness = shapes.train.images @ LUMA / 255
    darkest, lightest = np.percentile(brightness, [2, 98], axis=(1, 2))
    assert (lightest - darkest).min() > 0.3


def test_colours_do_not_tell_the_shapes(shapes):
    """The best weighted sum of an image's mean colour and its squares is as good as guessing."""

    def colours(part):
        mean = part.images.mean(axis=(1, 2)) / 255
        return np.concatenate([mean, mean**2, np.ones((len(part), 1))], axis=1)

    assert least_squares_accuracy(colours, shapes, penalties=[1e-3]) < 0.15


def test_a_linear_classifier_on_pixels_hardly_beats_guessing(shapes):
    def pixels(part):
        return part.images.reshape(len(part), -1).astype(np.float32) / 127.5 - 1

    assert least_squares_accuracy(pixels, shapes, penalties=[1e2, 1e3, 1e4]) < 0.2


def places(n):
    return draw_places(n, np.random.default_rng(5))


def least_squares_accuracy(features, dataset, penalties):
    """Ridge regression of one-hot labels, the penalty chosen in its favour: accuracy on the test images."""
    x, x_test = features(dataset.train), features(dataset.test)
    covariance, product = x.T @ x, x.T @ (np.eye(10, dtype=x.dtype)[dataset.train.labels] - 0.1)
    identity = np.eye(len(covariance), dtype=x.dtype)
    weights = [np.linalg.solve(covariance + penalty * identity, product) for penalty in penalties]
    return max(((x_test @ w).argmax(axis=1) == dataset.test.labels).mean() for w in weights)
