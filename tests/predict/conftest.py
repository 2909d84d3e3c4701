"""Weights to predict with, and what predict draws."""

import numpy as np
import pytest

from tinyvit import predict
from tinyvit.model import initialise, preset
from tinyvit.weights.save import save_official


@pytest.fixture
def drawn(monkeypatch):
    """The entries that predict puts on its sheet of attention."""
    drawn, draw = [], predict._draw

    def listed(seen, path):
        drawn.extend(seen)
        draw(seen, path)

    monkeypatch.setattr(predict, "_draw", listed)
    return drawn


@pytest.fixture
def weights(tmp_path):
    """weights(CLASSES): an official file of an untrained model with a lively head."""

    def weights(classes):
        config = preset("nano/4", 8, classes)
        params = initialise(config)
        params["head.bias"] = np.random.default_rng(0).standard_normal(classes)
        save_official(tmp_path / f"{classes}.npz", config, params)
        return tmp_path / f"{classes}.npz", params["head.bias"].argsort()[::-1]

    return weights
