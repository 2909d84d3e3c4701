import numpy as np
import pytest

from tinyvit.data.shapes import CLASSES, DISTANCES, make_shapes


@pytest.fixture(scope="module")
def shapes():
    return make_shapes(seed=0)


def test_the_same_seed_draws_the_same_images():
    first, second = make_shapes(60, 20, seed=4), make_shapes(60, 20, seed=4)
    for name in ("train", "test"):
        np.testing.assert_array_equal(getattr(first, name).images, getattr(second, name).images)
        np.testing.assert_array_equal(getattr(first, name).labels, getattr(second, name).labels)


def test_another_seed_draws_other_images():
    assert (make_shapes(60, 20, seed=4).train.images != make_shapes(60, 20, seed=5).train.images).any()


def test_training_and_test_images_have_nothing_in_common(shapes):
    train = {image.tobytes() for image in shapes.train.images}
    assert not any(image.tobytes() in train for image in shapes.test.images)


def test_every_class_has_the_same_number_of_images(shapes):
    assert len(shapes.classes) == 10
    assert np.bincount(shapes.train.labels).tolist() == [1000] * 10
    assert np.bincount(shapes.test.labels).tolist() == [200] * 10


def test_classes_come_in_no_order(shapes):
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
    """Where its length is not 1, the gradient of d would blur an edge or make it jagged."""
    step = 1e-4
    x, y = np.meshgrid(np.linspace(-1.2, 1.2, 200), np.linspace(1.2, -1.2, 200))
    d = DISTANCES[name]
    slope_x = (d(x + step, y) - d(x - step, y)) / (2 * step)
    slope_y = (d(x, y + step) - d(x, y - step)) / (2 * step)
    on_outline = np.abs(d(x, y)) < 0.01
    assert abs(np.median(np.hypot(slope_x, slope_y)[on_outline]) - 1) < 0.01


def test_a_linear_classifier_cannot_tell_the_shapes(shapes):
    """Ridge regression of one-hot labels on standardised pixels, the penalty chosen in its favour."""

    def pixels(part):
        return part.images.reshape(len(part), -1).astype(np.float32)

    mean, deviation = pixels(shapes.train).mean(axis=0), pixels(shapes.train).std(axis=0)
    x, x_test = ((pixels(part) - mean) / deviation for part in (shapes.train, shapes.test))
    one_hot = np.eye(10, dtype=np.float32)[shapes.train.labels] - 0.1
    covariance, product = x.T @ x, x.T @ one_hot
    identity = np.eye(len(covariance), dtype=np.float32)
    predicted = [
        (x_test @ np.linalg.solve(covariance + penalty * identity, product)).argmax(axis=1)
        for penalty in (1e3, 1e4, 1e5)
    ]
    accuracy = max((labels == shapes.test.labels).mean() for labels in predicted)
    assert 0.12 < accuracy < 0.45


def test_shape_and_ground_differ_in_brightness(shapes):
    """The disc's centre against the four corners, which it never reaches."""
    discs = shapes.train.images[shapes.train.labels == CLASSES.index("disc")] @ np.array(
        [0.299, 0.587, 0.114]
    )
    centre = discs[:, 14:18, 14:18].mean(axis=(1, 2))
    corners = discs[:, [0, 0, -1, -1], [0, -1, 0, -1]].mean(axis=1)
    assert np.percentile(np.abs(centre - corners), 1) > 0.2 * 255
