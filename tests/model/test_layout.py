"""The one table of parameters: each row is complete, and says what is true."""

import numpy as np
import pytest

from tests.golden.official_weights import HYBRIDS, MODELS, official_names
from tests.helpers import tiny_config
from tinyvit.model import Params, initialise, layout, preset, specs_from_shapes

KINDS = {
    "class token": tiny_config(),
    "mean pooling": tiny_config(pool="mean"),
    "pre_logits": tiny_config(pre_logits=7),
    "one channel, not square": tiny_config(channels=1, image_size=(4, 12)),
    "a preset": preset("nano/8", 32, 10),
    "2-D positions": tiny_config(position="2d", position_at="blocks"),
    "relative positions": tiny_config(position="relative", position_at="shared"),
    "hybrid, root alone": tiny_config(image_size=16, resnet=()),
    "hybrid": tiny_config(image_size=(24, 32), patch_size=1, resnet=(1, 2), resnet_width=6, resnet_groups=3),
}
every_kind = pytest.mark.parametrize("config", KINDS.values(), ids=KINDS)


@every_kind
def test_every_row_has_a_name_of_its_own_and_first_values_of_its_shape(config):
    rows = layout(config)
    assert len({row.name for row in rows}) == len(rows)
    for row in rows:
        drawn = row.init(np.random.default_rng(0), row.shape)
        assert drawn.shape == row.shape, row.name
        assert np.isfinite(drawn).all()


@every_kind
def test_what_decays_are_the_matrices_of_linear_layers_and_the_kernels(config):
    matrices = {row.name for row in layout(config) if row.name.endswith(".weight") and len(row.shape) > 1}
    assert {row.name for row in layout(config) if row.decays} == matrices
    kernels = 1 + 3 * sum(config.resnet) + len(config.resnet) if config.has_resnet else 0
    assert len(matrices) == 4 * config.layers + 2 + bool(config.pre_logits) + kernels


@every_kind
def test_hidden_matrices_are_those_inside_the_blocks(config):
    inside = {
        f"blocks.{i}.{name}.weight"
        for i in range(config.layers)
        for name in ("attn.qkv", "attn.out", "mlp.fc1", "mlp.fc2")
    }
    assert {row.name for row in layout(config) if row.hidden} == inside


@pytest.mark.parametrize("name", ["odd", "rep", "gap", *HYBRIDS])
def test_official_names_and_shapes_are_those_of_the_official_checkpoints(name):
    """Each array once, with the shape it has in the files, beside the parameter that it fills."""
    config = (MODELS | HYBRIDS)[name]
    ours = [
        (theirs, shape, row.name, third if len(row.official) == 3 else None)
        for row in layout(config)
        for third, (theirs, shape) in enumerate(row.official)
    ]
    golden = [(theirs, shape, *place) for theirs, shape, _, place in official_names(config)]
    assert sorted(ours) == golden


@every_kind
def test_official_shapes_are_whole_numbers(config):
    """4.0 would be equal to 4, but no array can be reshaped to it."""
    for row in layout(config):
        assert all(isinstance(n, int) for _, shape in row.official for n in shape), row.name


@every_kind
def test_the_official_arrays_of_a_row_have_as_many_numbers_as_it(config):
    for row in layout(config):
        assert row.official or "position" in row.name
        assert not row.official or sum(np.prod(shape) for _, shape in row.official) == np.prod(row.shape), (
            row.name
        )


def test_first_values_are_drawn_in_the_order_of_the_table():
    config = tiny_config()
    rng, params = np.random.Generator(np.random.Philox(3)), initialise(config, 3, "float64")
    for row in layout(config):
        np.testing.assert_array_equal(params[row.name], row.init(rng, row.shape))


def test_a_table_of_ones_own_decays_what_is_called_a_weight_and_is_a_matrix():
    rows = specs_from_shapes({"a.weight": (2, 3), "a.bias": (3,), "norm.weight": (3,), "position": (4, 3)})
    assert [row.name for row in rows if row.decays] == ["a.weight"]
    assert not any(row.hidden or row.official for row in rows)
    assert Params.zeros(rows).count == 6 + 3 + 3 + 12
