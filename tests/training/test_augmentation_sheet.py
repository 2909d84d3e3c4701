"""--show-augmentation draws what training would give the model, and trains nothing."""

import numpy as np
import pytest

from tests.insight.pictures.drawn import Drawn
from tests.tiny_runs import assert_one_line, tiny
from tinyvit import finetune, pretrain, train
from tinyvit.data import crop_and_flip, load_dataset, make_policy, one_of_each, plan_batch
from tinyvit.data.augment import apply_operations
from tinyvit.insight.pictures.of_runs import SHOWN, VERSIONS


def shown(photos, folder, *flags):
    return [*tiny(photos, folder / "run", "--seed", "4", *flags), "--show-augmentation", folder / "sheet.png"]


def test_the_sheet_shows_the_images_of_steps_and_what_was_done(go, photos, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("tinyvit.insight.pictures.of_runs.draw_augmentation", lambda *args: seen.extend(args))
    flags = ("--flip", "--crop-padding", "2", "--augment", "randaugment", "--augment-magnitude", "20")
    assert go(train, *shown(photos, tmp_path, *flags))[0] == 0
    versions, names, captions, path, title = seen
    data = load_dataset("folder", photos, 8, seed=4)
    chosen = one_of_each(data.train.labels, SHOWN)
    assert names == ["blue", "red"] * 3 and path == tmp_path / "sheet.png" and title.startswith("folder:")
    np.testing.assert_array_equal(versions[:, 0], data.train.images[chosen])
    assert versions.shape == (SHOWN, 1 + VERSIONS, 8, 8, 3)
    for step in range(1, VERSIONS + 1):
        plan = plan_batch(4, step, chosen, 2, True, policy=make_policy("randaugment", 2, 20.0))
        window = crop_and_flip(data.train.images, plan.indices, plan.down, plan.right, plan.flip)
        np.testing.assert_array_equal(versions[:, step], apply_operations(window, plan.operations))
    assert np.shape(captions) == (SHOWN, VERSIONS, 2)
    assert "rotate" in np.ravel(captions) and "shear x" in np.ravel(captions)


@pytest.mark.parametrize("flags", [(), ("--augment", "randaugment", "--augment-ops", "7")])
def test_a_picture_is_all_that_is_left(go, photos, tmp_path, monkeypatch, flags):
    drawn = Drawn(monkeypatch)
    status, out, err = go(train, *shown(photos, tmp_path, *flags))
    assert (status, err) == (0, "")
    assert out.endswith(f"wrote {tmp_path / 'sheet.png'}; nothing was trained\n")
    assert [path.name for path in tmp_path.iterdir()] == ["sheet.png"]
    assert len(drawn.images) == SHOWN * (1 + VERSIONS)
    drawn.assert_nothing_overlaps()
    assert ("and 4 more" in drawn.words()) == bool(flags)


def test_training_without_labels_and_from_weights_shows_its_images_too(go, photos, trained, tmp_path):
    flags = shown(photos, tmp_path, "--augment", "autoaugment")
    assert go(pretrain, *flags)[0] == 0
    for flag in ("--model", "--layers"):
        del flags[flags.index(flag) : flags.index(flag) + 2]
    assert go(finetune, trained, *flags)[0] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["sheet.png"]


def test_mistakes_are_one_line(go, photos, tmp_path):
    flags = tiny(photos, tmp_path / "run")
    nowhere = tmp_path / "nowhere" / "sheet.png"
    assert_one_line(go(train, *flags, "--show-augmentation", nowhere), nowhere, "there is no folder")
    assert_one_line(go(train, *flags, "--show-augmentation", "sheet.jpg"), "does not end in .png")
    resume = ("--resume", tmp_path / "run", "--show-augmentation", tmp_path / "sheet.png")
    assert_one_line(go(train, *resume), "--show-augmentation starts no run", "omit one of them")
    too_far = tiny(photos, tmp_path / "run", "--crop-padding", "8")
    assert_one_line(go(train, *too_far, "--show-augmentation", tmp_path / "s.png"), "--crop-padding below 8")
    assert not list(tmp_path.iterdir())
