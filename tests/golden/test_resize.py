"""Resized position embeddings against those of scipy and of PyTorch."""

from pathlib import Path

import numpy as np
import pytest

from tests.helpers import stored
from tinyvit.ops.resize import METHODS
from tinyvit.weights.resize import resize_positions


@pytest.fixture(scope="module")
def answers():
    return stored(Path(__file__).with_name("resize_answers.npz"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", range(6))
@pytest.mark.parametrize("has_token", [True, False])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-6)])
def test_positions_are_those_of_scipy_and_pytorch(case, method, has_token, dtype, tolerance, answers):
    grid, expected = answers[f"{case}/grid"], answers[f"{case}/{method}"]
    token = np.full((int(has_token), 3), 7.5)
    position = np.concatenate([token, grid.reshape(-1, 3)]).astype(dtype)
    resized = resize_positions(position, grid.shape[:2], expected.shape[:2], has_token, method)
    assert resized.dtype == dtype
    np.testing.assert_array_equal(resized[:has_token], token)
    assert np.abs(resized[has_token:] - expected.reshape(-1, 3)).max() < tolerance
