"""The test images that a run writes beside its weights, to try the model on."""

import os
import shutil

import numpy as np
from PIL import Image

import tinyvit
from tests.tiny_runs import interrupted_after, tiny
from tinyvit import train
from tinyvit.data import Dataset, ImageSet, load_dataset
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.run_trainer import write_samples


def samples(run):
    return {path.stem: np.asarray(Image.open(path)) for path in (run / "samples").iterdir()}


def test_one_test_image_of_each_class_is_named_after_it(go, photos, tmp_path):
    status, out, _ = go(train, *tiny(photos, tmp_path / "run", "--steps", "1"))
    assert status == 0
    assert f"tinyvit.predict {tmp_path / 'run'} {tmp_path / 'run' / 'samples'} --attention" in out
    data = load_dataset("folder", photos, 8)
    for name, pixels in samples(tmp_path / "run").items():
        of_class = data.test.images[data.test.labels == data.classes.index(name)]
        assert (of_class == pixels).all(axis=(1, 2, 3)).any()
    assert samples(tmp_path / "run").keys() == {"red", "blue"}
    model = tinyvit.load(tmp_path / "run")
    as_pixels = model.logits(np.stack(list(samples(tmp_path / "run").values())))
    assert np.array_equal(model.logits(sorted((tmp_path / "run" / "samples").iterdir())), as_pixels)


def test_there_are_ten_at_most_and_no_name_leads_out_of_the_folder(tmp_path):
    classes = ("../../outside", "a/b", *map(str, range(20)))
    images = ImageSet(np.zeros((22, 4, 4, 3), np.uint8), np.arange(22))
    write_samples(RunFolder(tmp_path), Dataset("a", classes, images, images), print)
    assert sorted(samples(tmp_path)) == [".._.._outside", *"01234567", "a_b"]
    assert [path.name for path in tmp_path.iterdir()] == ["samples"]


def test_a_failure_to_write_them_costs_the_run_nothing(go, photos, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "samples").write_text("mine")
    status, out, err = go(train, *tiny(photos, tmp_path / "run", "--steps", "1"))
    assert (status, err) == (0, "")
    assert out.count("test images were not written to") == 1
    assert f"tinyvit.predict {tmp_path / 'run'} IMAGE..." in out
    assert (tmp_path / "run" / "samples").read_text() == "mine"


def test_a_run_that_is_resumed_has_them_again_and_a_finished_one_needs_no_data(
    go, photos, tmp_path, monkeypatch
):
    run, data = tmp_path / "run", shutil.copytree(photos, tmp_path / "photos")
    with interrupted_after(monkeypatch, 2):
        go(train, *tiny(data, run))
    before = samples(run)
    shutil.rmtree(run / "samples")
    assert go(train, "--resume", run)[0] == 0
    assert all(np.array_equal(pixels, before[name]) for name, pixels in samples(run).items())
    assert samples(run).keys() == before.keys()
    os.rename(data, tmp_path / "elsewhere")
    assert go(train, "--resume", run)[0] == 0


def test_a_run_that_fails_before_its_first_checkpoint_takes_them_with_it(go, photos, tmp_path, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("the first step failed")

    monkeypatch.setattr("tinyvit.training.run_trainer.RunTrainer.fit", fail)
    with np.testing.assert_raises(RuntimeError):
        go(train, *tiny(photos, tmp_path / "run"))
    assert not (tmp_path / "run").exists()
