"""Recipes in PyTorch: the same first values and the same batches give the same losses."""

import json
import re

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not hasattr(torch.optim, "Muon"):
    pytest.skip("this PyTorch has no Muon", allow_module_level=True)

from tests.golden import same_recipe_in_torch  # noqa: E402
from tests.golden.same_steps import both, largest_difference  # noqa: E402
from tests.golden.torch_recipe import check  # noqa: E402
from tinyvit.data import Dataset, ImageSet, normalise  # noqa: E402
from tinyvit.engine.blas import one_blas_thread  # noqa: E402
from tinyvit.optim import averaged  # noqa: E402
from tinyvit.support.errors import UserError  # noqa: E402
from tinyvit.training.settings import Settings  # noqa: E402

MODEL = {"dataset": "random", "model": "nano/4", "layers": 2, "width": 24, "heads": 3, "image_size": 12}
COMMON = MODEL | {"batch_size": 6, "lr": 0.01, "weight_decay": 0.1, "smoothing": 0.1}
RECIPES = {
    "muon": {
        "optimizer": "muon",
        "ema": 0.8,
        "pool": "mean",
        "init": "mimetic",
        "crop_padding": 2,
        "flip": True,
    },
    "adamw": {"decay": "linear", "mixup": 0.8, "cutmix": 1.0, "erase": 0.25, "clip": 0.5},
    "whitened": {
        "optimizer": "muon",
        "whiten": True,
        "augment": "randaugment",
        "decay": "constant",
        "clip": 0.0,
    },
    "merged": {"model": "nano/3", "optimizer": "muon", "merge_after": 1},
    "merged, mean": {"model": "nano/3", "optimizer": "muon", "merge_after": 1, "pool": "mean"},
}
every_recipe = pytest.mark.parametrize("recipe", RECIPES)


@pytest.fixture(autouse=True)
def one_thread():
    """So little work takes longest on many threads, and a busy machine makes it worse."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with one_blas_thread():
        yield
    torch.set_num_threads(before)


@pytest.fixture
def data(monkeypatch):
    """Twenty images of noise."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr("tinyvit.training.starting_point.image_side", lambda dataset, side: side)
    images = rng.integers(0, 256, (20, 12, 12, 3), dtype=np.uint8)
    train = ImageSet(images, rng.integers(0, 4, 20))
    return Dataset("random", tuple("abcd"), train, train)


@every_recipe
def test_twelve_steps_have_the_losses_of_pytorch_and_end_at_its_weights(recipe, data):
    settings = Settings(**COMMON | RECIPES[recipe])
    losses, ours, theirs = both(settings, data, 12)
    np.testing.assert_allclose(*losses.T, rtol=1e-9)
    images = normalise(data.test.images, np.float64)
    with averaged(ours.training.average), torch.no_grad():
        expected = (theirs.average or theirs.model)(torch.from_numpy(images)).numpy()
        np.testing.assert_allclose(ours.logits(images), expected, rtol=1e-7, atol=1e-9)
    assert np.ptp(losses) > 0.05  # something was learned, or there would be nothing to compare


def test_muon_as_pytorch_has_it_is_as_close_as_bfloat16_allows(data):
    apart = largest_difference(Settings(**COMMON | RECIPES["muon"]), data, 12, "float32", rounded=True)
    assert 1e-7 < apart < 0.02


def test_what_pytorch_s_side_does_not_have_is_one_line():
    odd = {"augment": "randaugment", "position": "2d", "optimizer": "sgd", "model": "R5+nano/4"}
    for name, value in odd.items():
        with pytest.raises(UserError, match=re.escape(value)):
            check(Settings(**COMMON | {name: value}))


def test_the_command_trains_both_and_compares_them(photos, tmp_path, capsys, monkeypatch):
    file = tmp_path / "settings.json"
    settings = {
        "dataset": "folder",
        "data_dir": str(photos),
        "image_size": 8,
        "model": "nano/4",
        "mixup": 0.5,
    }
    settings |= {"batch_size": 8, "optimizer": "muon", "ema": 0.5, "cutmix": 1.0, "erase": 0.5, "repeats": 2}
    settings |= {"patch_dropout": 0.5}
    file.write_text(json.dumps(settings | {"flip": True, "crop_padding": 1, "drop_path": 0.1}))
    monkeypatch.setattr("sys.argv", ["-", "--config", str(file), "--seeds=2", "--epochs=3", "--threads=1"])
    same_recipe_in_torch.main(same_recipe_in_torch.parser().parse_args())
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[4:8]] == [
        ["tinyvit", "0"], ["PyTorch", "2"], ["tinyvit", "1"], ["PyTorch", "3"]
    ]  # fmt: skip
    assert all("%" in line for line in lines[4:8])
    assert lines[-1].startswith("test loss difference ")
