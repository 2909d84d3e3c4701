"""What training, prediction and analysis can start from, and the size of images it then takes."""

import numpy as np
import pytest

from tests.helpers import tiny_config
from tinyvit.errors import UserError
from tinyvit.model import ViTConfig, initialise
from tinyvit.pretrained.load import save_official, save_safetensors
from tinyvit.training.checkpoint import Checkpoint, is_checkpoint, save_checkpoint
from tinyvit.training.progress import Progress
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings
from tinyvit.training.starting_point import at_resolution, load_any


def assert_same_model(loaded, config, params):
    assert loaded[0] == config
    assert loaded[1].shapes == params.shapes
    np.testing.assert_array_equal(loaded[1].flat, params.flat)


def test_a_run_folder_gives_its_best_epoch_and_a_checkpoint_itself(tmp_path):
    config, run = tiny_config(), RunFolder(tmp_path / "run")
    best, last = initialise(config, 1), initialise(config, 2)
    run.create(Settings("shapes", "tiny"), config, "abcde", best.count)
    save_checkpoint(run.best_path, Checkpoint(config, best))
    save_checkpoint(run.last_path, Checkpoint(config, last))
    assert_same_model(load_any(str(run.path), Progress()), config, best)
    assert_same_model(load_any(str(run.last_path), Progress()), config, last)


def test_an_official_file_is_told_from_a_checkpoint(tmp_path):
    config = tiny_config()
    params = initialise(config)
    save_official(tmp_path / "a.npz", config, params)
    save_checkpoint(tmp_path / "b.npz", Checkpoint(config, params))
    (tmp_path / "c.npz").write_text("hello")
    assert [is_checkpoint(tmp_path / f"{name}.npz") for name in "abcd"] == [False, True, False, False]
    assert_same_model(load_any(str(tmp_path / "a.npz"), Progress()), config, params)


def test_a_folder_as_hugging_face_gives_it_away_is_the_weights_in_it(tmp_path):
    config = ViTConfig(16, 8, width=64, mlp_width=128, heads=1, layers=1, classes=7, gelu="exact")
    params = initialise(config)
    save_safetensors(tmp_path / "model.safetensors", config, params)
    assert_same_model(load_any(str(tmp_path), Progress()), config, params)


@pytest.mark.parametrize("image_size", [8, (8, 12)])
def test_a_resolution_makes_a_model_for_square_images(image_size):
    config = tiny_config(image_size=image_size)
    params = initialise(config)
    assert at_resolution(config, params, None) == (config, params)
    larger, resized = at_resolution(config, params, 16)
    assert larger == tiny_config(image_size=16)
    assert resized.shapes["position"] == (17, 12)


@pytest.mark.parametrize(("resolution", "advice"), [(18, "16 or 20"), (3, "4"), (5, "4 or 8")])
def test_a_resolution_that_patches_do_not_fit_is_answered_with_one_that_they_do(resolution, advice):
    config = tiny_config()
    with pytest.raises(UserError, match=f"--resolution {advice}\\."):
        at_resolution(config, initialise(config), resolution)
