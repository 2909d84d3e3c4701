"""The command `python -m tinyvit.visualize`, on a small untrained run."""

import numpy as np
import pytest
from PIL import Image

from tinyvit.data import one_of_each
from tinyvit.data.shapes import CLASSES
from tinyvit.model import initialise, preset
from tinyvit.support.errors import UserError
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings
from tinyvit.visualize import main, parser
from tinyvit.weights.checkpoint import Checkpoint, save_checkpoint


@pytest.fixture
def run(tmp_path, few_shapes):
    config = preset("nano/8", 32, 10)
    folder = RunFolder(tmp_path / "run")
    params = initialise(config)
    folder.create(Settings(dataset="shapes", model="nano/8"), config, CLASSES, params.count)
    save_checkpoint(folder.best_path, Checkpoint(config, params))
    return folder


def test_it_draws_into_the_run_folder_and_says_where(run, capsys):
    main(parser().parse_args([str(run.path), "--threads", "1", "--device", "cpu", "--images", "3"]))
    assert capsys.readouterr().out == f"wrote {run.path / 'inside.png'}\n"
    with Image.open(run.path / "inside.png") as picture:
        assert picture.width > picture.height > 600


def test_out_names_another_place(run, tmp_path):
    main(parser().parse_args([str(run.path), "--device", "cpu", "--out", str(tmp_path / "a.png")]))
    assert (tmp_path / "a.png").is_file()
    assert not (run.path / "inside.png").exists()


def test_a_missing_checkpoint_or_run_is_a_users_mistake(run, tmp_path):
    with pytest.raises(UserError, match=r"last\.npz"):
        main(parser().parse_args([str(run.path), "--checkpoint", "last", "--device", "cpu"]))
    with pytest.raises(UserError, match="not a run folder"):
        main(parser().parse_args([str(tmp_path / "nothing")]))


def test_images_are_taken_from_every_class_in_turn():
    labels = np.array([2, 2, 0, 1, 0, 2, 1])
    assert one_of_each(labels, 5).tolist() == [2, 3, 0, 4, 6]
    assert one_of_each(labels, 99).tolist() == [2, 3, 0, 4, 6, 1, 5]
