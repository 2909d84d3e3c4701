"""The steps of a run are made of what the user sets: orders, crops, mixing, rates, smoothing."""

import json

import numpy as np
import pytest

from tests.tiny_runs import numbers, tiny
from tinyvit import train
from tinyvit.data import make_batch
from tinyvit.data.augment import NAMES
from tinyvit.engine import ReferenceEngine
from tinyvit.objectives import loss_and_grads
from tinyvit.training import evaluation
from tinyvit.training.evaluation import Evaluation

EPOCH = 4  # steps of 8 images


@pytest.fixture
def plans(go, photos, tmp_path, monkeypatch):
    """plans(FLAGS): the plans of the steps that a run with these flags would take; it only notes them."""

    def plans(*flags):
        seen = []

        def noted(self, plan, lr):
            seen.append(plan)
            return np.float32(1), np.float32(1)

        with monkeypatch.context() as patch:
            patch.setattr(ReferenceEngine, "step", noted)
            patch.setattr("tinyvit.insight.pictures.of_runs.draw_curves", lambda *args: None)
            name = f"run{len(list(tmp_path.iterdir()))}"
            assert go(train, *tiny(photos, tmp_path / name, *flags))[0] == 0
        return seen

    return plans


def test_no_flip_means_that_no_image_is_mirrored(plans):
    assert not any(plan.flip.any() for plan in plans("--no-flip"))


def test_flip_means_that_half_of_the_images_are(plans):
    """Of 1280 tosses, 5 standard deviations are 7%."""
    flips = np.concatenate([plan.flip for plan in plans("--epochs", "40", "--flip")])
    assert len(flips) == 40 * 32
    assert 0.43 < flips.mean() < 0.57


def test_crops_move_up_to_the_padding(plans):
    for padding in (0, 3):
        shifts = [(plan.down, plan.right) for plan in plans("--epochs", "8", "--crop-padding", padding)]
        assert (np.min(shifts), np.max(shifts)) == (-padding, padding)


def test_crops_are_as_large_as_was_asked_for_and_colours_change_as_far(plans):
    cropped = ("--crop-padding", "0", "--crop-scale", "0.4", "--colour-jitter", "0.3")
    seen = plans("--epochs", "5", *cropped)
    area = np.concatenate([plan.crops.area for plan in seen])
    amount = np.concatenate([plan.operations["amount"] for plan in seen])
    assert (area.min(), area.max()) == pytest.approx((0.4, 1), abs=0.01) and area.min() >= 0.4
    assert (amount.min(), amount.max()) == pytest.approx((0.7, 1.3), abs=0.01) and amount.min() >= 0.7
    assert all(plan.crops is None for plan in plans("--epochs", "1", "--crop-scale", "1"))


def test_images_are_augmented_as_asked_for(plans):
    def drawn(*flags):
        return np.concatenate([plan.operations for plan in plans("--epochs", "1", *flags)])

    assert drawn().shape == (32, 0)
    assert drawn("--augment", "autoaugment").shape == (32, 2)
    asked = drawn("--augment", "randaugment", "--augment-ops", "3", "--augment-magnitude", "15")
    assert asked.shape == (32, 3)
    rotated = asked["kind"] == NAMES.index("rotate")
    assert set(asked["amount"][rotated]) <= {-15.0, 15.0} and rotated.any()


def test_every_epoch_takes_every_image_once_in_an_order_of_its_own(plans):
    steps = plans("--epochs", "5")
    epochs = [np.concatenate([plan.indices for plan in steps[i : i + EPOCH]]) for i in range(0, 20, EPOCH)]
    for order in epochs:
        assert sorted(order) == list(range(32))
    assert len({order.tobytes() for order in epochs}) == 5


def test_every_step_of_every_epoch_augments_in_its_own_way(plans):
    steps = plans("--epochs", "5", "--crop-padding", "7")
    assert len({plan.down.tobytes() + plan.right.tobytes() for plan in steps}) == 5 * EPOCH
    assert [plan.step for plan in steps] == list(range(1, 21))


def test_images_are_mixed_erased_and_repeated_as_was_asked_for(plans):
    assert all(plan.mixing is plan.erasing is None for plan in plans("--epochs", "1"))
    steps = plans("--epochs", "5", "--mixup", "0.8", "--cutmix", "1", "--erase", "0.5", "--repeats", "4")
    pasted = np.concatenate([plan.mixing.pasted for plan in steps])
    erased = np.concatenate([plan.erasing.area > 0 for plan in steps])
    for coins in (pasted, erased):  # of 160 tosses, 4 standard deviations are 16%
        assert 0.34 < coins.mean() < 0.66
    assert all(np.unique(plan.indices, return_counts=True)[1].tolist() == [4, 4] for plan in steps)
    assert not any(plan.mixing.pasted.any() for plan in plans("--epochs", "1", "--mixup", "1"))
    assert all(plan.mixing.pasted.all() for plan in plans("--epochs", "1", "--cutmix", "1"))


def test_another_seed_has_another_order_and_other_crops_and_noise(plans):
    one, other = (plans("--epochs", "1", "--crop-padding", "7", "--seed", seed) for seed in (0, 1))
    for a, b in zip(one, other, strict=True):
        assert (a.indices != b.indices).any()
        assert (a.down != b.down).any() and (a.right != b.right).any()
        assert a.noise().uniform((8, 3), np)[0, 0] != b.noise().uniform((8, 3), np)[0, 0]


@pytest.mark.parametrize("smoothing", [0, 0.1, 0.4])
def test_labels_are_smoothed_as_much_as_was_asked_for(go, photos, tmp_path, monkeypatch, smoothing):
    """The loss of a step is that of its batch, computed separately."""
    found, expected, take_step = [], [], ReferenceEngine.step

    def watched(self, plan, lr):
        t, params = self.training, self.params.astype("float64")
        batch = make_batch(t.images, t.labels, plan, np.dtype("float64"), self.config.image_size)
        expected.append(loss_and_grads(self.config, params, *batch, params.zeros_like(), smoothing=smoothing))
        result = take_step(self, plan, lr)
        found.append(float(result[0]))
        return result

    monkeypatch.setattr(ReferenceEngine, "step", watched)
    flags = ("--smoothing", smoothing, "--lr", "0.01", "--epochs", "2")
    assert go(train, *tiny(photos, tmp_path / "run", *flags))[0] == 0
    assert found == pytest.approx(expected, rel=1e-4)
    assert abs(found[-1] - np.log(2)) > 0.01  # or smoothing could not be seen


def test_a_single_step_changes_the_weights(go, photos, tmp_path):
    """The first update is the last one, too: neither has a learning rate of 0."""
    assert go(train, *tiny(photos, tmp_path / "a", "--steps", "1"))[0] == 0
    assert go(train, *tiny(photos, tmp_path / "b", "--steps", "1", "--warmup-epochs", "0"))[0] == 0
    for name in "ab":
        assert numbers(tmp_path / name / "last.npz")["param/head.weight"].any()


def test_the_last_update_moves_the_weights(go, photos, tmp_path, monkeypatch):
    moved, take_step = [], ReferenceEngine.step

    def watched(self, plan, lr):
        before = self.params.flat.copy()
        result = take_step(self, plan, lr)
        moved.append(float(abs(self.params.flat - before).max()))
        return result

    monkeypatch.setattr(ReferenceEngine, "step", watched)
    assert go(train, *tiny(photos, tmp_path / "run"))[0] == 0
    assert min(moved) == moved[-1] > 0


def test_the_best_epoch_is_the_most_accurate_though_another_has_less_loss(go, photos, tmp_path, monkeypatch):
    judgements = iter([(4, 0.1), (6, 0.9), (5, 0.05)])  # how many of 8 are right, and the loss
    heads = []

    def judged(engine, images):
        heads.append(engine.params["head.weight"].copy())
        right, loss = next(judgements)
        return Evaluation(loss, np.full((8, 2), 0.5), np.array([[right, 8 - right], [0, 0]]))

    monkeypatch.setattr(evaluation, "evaluate", judged)
    assert go(train, *tiny(photos, tmp_path / "run"))[0] == 0
    best = np.load(tmp_path / "run" / "best.npz")
    assert json.loads(str(best["progress"]))["best_epoch"] == 2
    np.testing.assert_array_equal(best["param/head.weight"], heads[1])
    assert (heads[1] != heads[0]).any() and (heads[1] != heads[2]).any()
