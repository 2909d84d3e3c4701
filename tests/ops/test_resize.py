import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tinyvit.ops.resize import METHODS, resize_images, resize_matrix

every_method = pytest.mark.parametrize("method", METHODS)


@given(n=st.integers(1, 12), m=st.integers(1, 12), method=st.sampled_from(METHODS))
def test_a_constant_stays_constant(n, m, method):
    matrix = resize_matrix(n, m, method)
    assert matrix.shape == (m, n)
    np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)


@given(n=st.integers(1, 12), m=st.integers(1, 12), method=st.sampled_from(METHODS))
def test_left_and_right_are_treated_alike(n, m, method):
    assume(m > 1 or method != "corners")  # a single output reads at the first corner, as scipy's does
    matrix = resize_matrix(n, m, method)
    np.testing.assert_allclose(matrix, matrix[::-1, ::-1], atol=1e-12)


@every_method
def test_the_same_size_changes_nothing(method):
    np.testing.assert_array_equal(resize_matrix(5, 5, method), np.eye(5))
    images = np.random.default_rng(0).standard_normal((2, 4, 6, 3))
    np.testing.assert_array_equal(resize_images(images, (4, 6), method), images)


def test_two_values_made_four():
    values = np.array([0.0, 12.0])
    np.testing.assert_allclose(resize_matrix(2, 4, "corners") @ values, [0, 4, 8, 12])
    np.testing.assert_allclose(resize_matrix(2, 4, "bilinear") @ values, [0, 3, 9, 12])
    np.testing.assert_allclose(
        resize_matrix(2, 4, "bicubic") @ values, [-1.265625, 2.71875, 9.28125, 13.265625]
    )


def test_antialiasing_widens_the_kernel_only_when_values_become_fewer():
    """The kernel of Keys with a = -1/2 is 111/128, 29/128 and -9/128 at distances 1/4, 3/4 and 5/4."""
    fewer, more = resize_matrix(4, 2, "antialias"), resize_matrix(2, 4, "antialias")
    np.testing.assert_allclose(fewer[0], np.array([111, 111, 29, -9]) / 242)
    np.testing.assert_allclose(more[:2], [[111 / 102, -9 / 102], [111 / 140, 29 / 140]])


def test_antialiasing_reads_nothing_beyond_the_widened_kernel():
    """Of 12 values made 3, the first is read at 1.5. Within 2 times 4 of it are the values 0 to 9."""
    matrix = resize_matrix(12, 3, "antialias")
    assert (matrix[0, :10] != 0).all() and not matrix[0, 10:].any()


def test_fewer_values_are_read_between_the_corners_too():
    np.testing.assert_allclose(resize_matrix(5, 2, "corners"), np.eye(5)[[0, 4]])
    np.testing.assert_allclose(resize_matrix(4, 3, "corners")[1], [0, 0.5, 0.5, 0])


def test_images_are_resized_bilinearly_unless_asked_otherwise():
    images = np.random.default_rng(0).standard_normal((2, 4, 6, 3))
    default = resize_images(images, (9, 5))
    assert [np.array_equal(default, resize_images(images, (9, 5), method)) for method in METHODS] == [
        method == "bilinear" for method in METHODS
    ]


def test_a_ramp_stays_a_ramp_between_its_corners():
    np.testing.assert_allclose(resize_matrix(7, 19, "corners") @ np.linspace(3, 8, 7), np.linspace(3, 8, 19))


@every_method
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_image_and_channel_is_resized_by_itself(method, dtype):
    images = np.random.default_rng(1).standard_normal((2, 4, 6, 3)).astype(dtype)
    resized = resize_images(images, (7, 5), method)
    assert resized.shape == (2, 7, 5, 3) and resized.dtype == dtype
    down, across = resize_matrix(4, 7, method), resize_matrix(6, 5, method)
    for b in range(2):
        for c in range(3):
            np.testing.assert_allclose(resized[b, :, :, c], down @ images[b, :, :, c] @ across.T, atol=1e-5)


def test_another_method_is_refused():
    with pytest.raises(ValueError, match="is 'cubic', expected one of corners, bilinear, bicubic, antialias"):
        resize_matrix(2, 4, "cubic")
