"""--fit: training shows the model photos as predict and evaluate do, and says what cropping cuts off."""

import json

import numpy as np
import pytest
from PIL import Image

import tinyvit
from tests.tiny_runs import arrays, assert_one_line, interrupted_after, tiny
from tinyvit import evaluate, export, fewshot, predict, pretrain, train
from tinyvit.data import folder, load_dataset
from tinyvit.data.photos import FITS, read_photo

CROPPED = "cropping cut more than a third off 40 of 40 images, 80% off "


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Noise of 40 x 8 pixels, whose ends tell red from blue: a square of the centre does not."""
    path, rng = tmp_path_factory.mktemp("wide"), np.random.default_rng(0)
    for channel, name in ((0, "red"), (2, "blue")):
        (path / name).mkdir()
        for i in range(20):
            pixels = rng.integers(0, 60, (8, 40, 3), dtype=np.uint8)
            pixels[:, :16, channel] += np.uint8(180)
            Image.fromarray(pixels).save(path / name / f"{i}.png")
    return path


@pytest.mark.parametrize("fit", [None, *FITS])
def test_the_model_sees_photos_in_training_as_it_does_later(go, wide, tmp_path, monkeypatch, fit):
    flags, run = ("--fit", fit) if fit else (), tmp_path / "run"
    with interrupted_after(monkeypatch, 5):
        status, out, _ = go(train, *tiny(wide, run, "--lr", "0.003", *flags))
    assert status == 130 and (CROPPED in out) == (fit in (None, "crop"))
    assert go(train, "--resume", run)[0] == 0
    data, photo = load_dataset("folder", wide, 8, fit=fit), wide / "red" / "0.png"
    seen = dict(zip(data.train.names, data.train.images, strict=True))
    name = next(iter(seen))
    np.testing.assert_array_equal(seen[name], read_photo(wide / name, 8, fit).view)
    answers = [go(predict, run, photo, "--json", *more)[1] for more in ((), ("--fit", fit or "crop"))]
    assert answers[0] == answers[1]
    for file in ("last", "best"):
        assert ("origin" in arrays(run / f"{file}.npz")) == (fit is not None)
    test = [go(evaluate, run, "--json", *more)[1] for more in ((), ("--data-dir", wide, "--split", "all"))]
    accuracy, of_all = (json.loads(found)["accuracy"] for found in test)
    assert (accuracy == of_all == 1.0) == (fit in ("pad", "squash"))
    exported = go(export, run, tmp_path / "a.html")[1]
    assert ("its way of fitting photos" in exported) == (fit in ("pad", "squash"))
    other = "squash" if fit == "pad" else "pad"
    result = go(train, "--resume", run, "--fit", other)
    assert_one_line(result, f"was started with fit {fit}, not {other}: a resumed run keeps its settings")


def test_a_probe_and_a_run_without_labels_have_a_fit_too(go, wide, tmp_path):
    run, probe = tmp_path / "run", tmp_path / "probe.npz"
    assert go(pretrain, *tiny(wide, run, "--fit", "pad", "--epochs", "1"))[0] == 0
    words = (run, "--dataset", "folder", "--data-dir", wide, "--shots", "9", "--save", probe)
    for more, fit, is_cropped in (((), "pad", False), (("--fit", "crop"), "crop", True)):
        status, out, _ = go(fewshot, *words, *more)
        assert status == 0 and (CROPPED in out) == is_cropped
        assert tinyvit.load(probe).photo_fit.fit == fit
        probe.unlink()


def test_decoded_photos_are_kept_for_each_fit(wide, tmp_path, monkeypatch):
    monkeypatch.setenv("TINYVIT_CACHE", str(tmp_path))
    monkeypatch.setattr(folder, "LONG", 0.0)
    decoded = {fit: load_dataset("folder", wide, 8, fit=fit).train.images for fit in FITS}
    monkeypatch.setattr(folder, "read_photos", None)  # they are not decoded again
    for fit, images in decoded.items():
        np.testing.assert_array_equal(load_dataset("folder", wide, 8, fit=fit).train.images, images)
    assert len({images.tobytes() for images in decoded.values()}) == 3
    default = load_dataset("folder", wide, 8).train.images
    np.testing.assert_array_equal(default, decoded["crop"])


def test_only_photos_are_fitted(go, tmp_path):
    result = go(train, "--fit", "pad", "--out", tmp_path / "run")
    assert_one_line(result, "the images of shapes are not photos to be fitted: omit --fit")
    assert not (tmp_path / "run").exists()
