"""Random checkpoints for these tests, and how a complaint about a bad one is caught."""

import numpy as np
import pytest

from tests.golden.official_weights import official_names
from tests.helpers import tiny_config
from tinyvit.model import Params, layout
from tinyvit.support.errors import UserError

EXACT = {"gelu": "exact"}  # timm's arithmetic
HUGGING_FACE = {"gelu": "exact", "eps": 1e-12}


def random_model(seed=0, dtype="float32", **changes):
    """A tiny model, every parameter random."""
    config = tiny_config(**changes)
    params = Params.zeros(layout(config), dtype)
    params.flat[...] = np.random.default_rng(seed).standard_normal(params.count)
    return config, params


def official_arrays(config, seed=0):
    """A random official checkpoint, made from the list of its names and not by tinyvit."""
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape).astype("float32") for name, shape, *_ in official_names(config)}


def complaint(function, *arguments, **options):
    """The message of the UserError that this raises: one line, one sentence at least."""
    with pytest.raises(UserError) as caught:
        function(*arguments, **options)
    message = str(caught.value)
    assert message.isprintable() and message.endswith(".")
    return message


def assert_same(model, other):
    """Same configuration, same parameters to the bit."""
    (config, params), (other_config, other_params) = model, other
    assert config == other_config
    assert params.shapes == other_params.shapes
    assert params.flat.tobytes() == other_params.flat.tobytes()
