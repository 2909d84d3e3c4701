"""Training on arrays: the loop in its barest form does what the settings say."""

from collections import Counter
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import tinyvit
from tests.helpers import tiny_config
from tests.tiny_runs import tiny
from tinyvit import train
from tinyvit.data import ImageSet, epoch_order, load_dataset, make_policy, plan_batch, to_input
from tinyvit.engine import CpuEngine, ReferenceEngine, Training
from tinyvit.model import initialise
from tinyvit.objectives import loss_and_grads
from tinyvit.ops import cross_entropy
from tinyvit.optim import learning_rate, make_optimizer
from tinyvit.support.errors import UserError
from tinyvit.training.choices import FIT, fit_settings
from tinyvit.training.fit import fit
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import table

CONFIG = tiny_config(classes=3)


def colours(count=20):
    """Noise with a touch of one of three colours."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, count)
    pixels = rng.integers(0, 120, (count, 8, 8, 3), dtype=np.uint8)
    pixels[np.arange(count), :, :, labels] += np.uint8(100)
    return ImageSet(pixels, labels)


@pytest.mark.parametrize(("optimizer", "usual"), [("adam", 0.0), ("adamw", 0.05), ("muon", 0.05)])
def test_the_weight_decay_is_what_suits_the_optimizer(optimizer, usual):
    def trained(**decay):
        params = initialise(CONFIG, 1)
        fit(CONFIG, params, colours(), epochs=1, optimizer=optimizer, lr=0.1, **decay)
        return params.flat

    np.testing.assert_array_equal(trained(), trained(weight_decay=usual))
    assert (trained() != trained(weight_decay=usual + 0.1)).any()


@pytest.mark.parametrize(("optimizer", "usual"), [("sgd", 0.05), ("adamw", 0.001)])
def test_the_learning_rate_is_what_suits_the_optimizer(optimizer, usual):
    def trained(**rate):
        params = initialise(CONFIG, 1)
        fit(CONFIG, params, colours(), epochs=1, optimizer=optimizer, **rate)
        return params.flat

    np.testing.assert_array_equal(trained(), trained(lr=usual))


@pytest.mark.parametrize(
    ("crops", "planned"),
    [
        ({"crop_padding": 2}, {"padding": 2}),
        ({"crop_scale": 0.4, "colour_jitter": 0.3}, {"scale": 0.4, "jitter": 0.3}),
    ],
)
def test_it_is_an_order_plans_and_steps(crops, planned):
    """Three epochs of 20 images in batches of 8: 4 are left out of each."""
    data = colours()
    params, twin = (initialise(CONFIG, 1, "float64") for _ in range(2))
    mixes = {"mixup": 0.8, "cutmix": 1.0, "erase": 0.5}
    settings = {"optimizer": "sgd", "clip": 0.5, "smoothing": 0.2, "flip": True} | crops | mixes
    settings |= {"augment": "randaugment", "augment_ops": 1, "augment_magnitude": 20}
    policy = make_policy("randaugment", 1, 20)
    means = fit(CONFIG, params, data, epochs=3, batch_size=8, lr=0.1, seed=7, warmup_epochs=0.5, **settings)
    training = Training(data.images, data.labels, make_optimizer("sgd", twin), clip=0.5)
    engine = ReferenceEngine(CONFIG, twin, partial(loss_and_grads, smoothing=0.2), training)
    step, expected = 0, []
    for epoch in range(3):
        order, total = epoch_order(7, epoch, 20), 0.0
        for indices in (order[:8], order[8:16]):
            step += 1
            plan = plan_batch(7, step, indices, flip=True, policy=policy, **planned, **mixes)
            loss, _ = engine.step(plan, learning_rate(step, 6, 0.1, 1))
            total += float(loss)
        expected.append(total / 2)
    assert means == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(params.flat, twin.flat, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("chosen", "steps"), [({}, 2), ({"warmup_epochs": 1.0}, 4), ({"warmup_epochs": 0}, 0)]
)
def test_only_a_warm_up_that_nobody_asked_for_is_cut_to_a_quarter_of_the_epochs(monkeypatch, chosen, steps):
    rates, take_step = [], CpuEngine.step

    def watched(self, plan, lr):
        rates.append(lr)
        return take_step(self, plan, lr)

    monkeypatch.setattr(CpuEngine, "step", watched)
    fit(CONFIG, initialise(CONFIG, 1), colours(), epochs=2, batch_size=5, lr=0.1, **chosen)
    assert rates == [learning_rate(step, 8, 0.1, steps) for step in range(1, 9)]


def test_repeated_images_come_in_the_same_batch(monkeypatch):
    seen, take_step = [], CpuEngine.step

    def watched(self, plan, lr):
        seen.append(Counter(plan.indices.tolist()))
        return take_step(self, plan, lr)

    monkeypatch.setattr(CpuEngine, "step", watched)
    fit(CONFIG, initialise(CONFIG), colours(), epochs=1, batch_size=8, repeats=4)
    assert [[*counts.values()] for counts in seen] == [[4, 4], [4, 4]]
    assert len(sum(seen, Counter())) == 4


def test_images_come_as_often_as_they_weigh_and_classes_equally_if_balanced(monkeypatch):
    seen, take_step, data = Counter(), CpuEngine.step, colours(40)
    data = ImageSet(data.images, np.sort(np.where(data.labels == 2, 0, data.labels)))

    def watched(self, plan, lr):
        seen.update(plan.indices.tolist())
        return take_step(self, plan, lr)

    monkeypatch.setattr(CpuEngine, "step", watched)
    zeros = np.flatnonzero(data.labels == 0)  # of the other class there are fewer
    weights = np.where(np.arange(40) == zeros[0], 0, 1)
    both, left = {"balanced": True, "sample_weight": weights}, 1 - 1 / len(zeros)  # of a class without one
    for chosen, wanted in (
        ({"balanced": True}, 80),
        ({"sample_weight": weights}, 160 * (len(zeros) - 1) / 39),
        (both, 160 * left / (left + 1)),
    ):
        seen.clear()
        fit(CONFIG, initialise(CONFIG), data, epochs=4, batch_size=8, **chosen)
        assert sum(seen.values()) == 160
        assert sum(seen[i] for i in zeros) == pytest.approx(wanted, abs=5)
    assert seen[zeros[0]] == 0 and min(seen[i] for i in range(40) if i != zeros[0]) > 0


def test_it_learns():
    params = initialise(CONFIG, 1)
    means = fit(CONFIG, params, colours(60), epochs=12, batch_size=20, lr=0.01)
    assert means[-1] < 0.1 < 1 < means[0]


def test_it_learns_from_mixed_and_erased_images_what_they_are_mixed_of():
    """Mixed labels leave a loss, however much is learned; the unmixed images are then easy."""
    params, data = initialise(CONFIG, 1), colours(60)
    mixes = {"mixup": 0.8, "cutmix": 1.0, "erase": 0.25}
    means = fit(CONFIG, params, data, epochs=20, batch_size=20, lr=0.01, **mixes)
    assert 0.2 < means[-1] < 0.9 < means[0]
    logits = ReferenceEngine(CONFIG, params).logits(to_input(data.images, np.dtype("float32"), (8, 8)))
    assert (logits.argmax(axis=1) == data.labels).mean() > 0.95


def test_the_same_seed_gives_the_same_bits_on_as_many_threads_and_another_seed_others():
    def bits(seed, threads):
        params = initialise(CONFIG)
        fit(CONFIG, params, colours(), epochs=1, batch_size=8, seed=seed, threads=threads)
        return params.flat.tobytes()

    assert bits(1, 2) == bits(1, 2)
    assert bits(1, 2) != bits(2, 2)


def test_a_clip_of_0_is_no_clip():
    """Plain SGD with a gradient far below any limit, and with none."""
    results = []
    for clip in (0, 1e9):
        params = initialise(CONFIG)
        fit(CONFIG, params, colours(), epochs=1, batch_size=20, optimizer="sgd", clip=clip)
        results.append(params.flat.tobytes())
    assert results[0] == results[1]


def test_it_computes_on_the_given_number_of_threads(monkeypatch):
    seen, take_step = set(), CpuEngine.step

    def watched(self, plan, lr):
        seen.add(self.threads)
        return take_step(self, plan, lr)

    monkeypatch.setattr(CpuEngine, "step", watched)
    fit(CONFIG, initialise(CONFIG), colours(), epochs=1, threads=3)
    assert seen == {3}


@pytest.mark.filterwarnings("error")
def test_a_loss_that_is_not_finite_ends_it():
    params = initialise(CONFIG)
    with pytest.raises(
        UserError,
        match=r"diverged: .*The model is as it was before\. Try a lower lr than 1e\+30, or more warmup_",
    ):
        fit(CONFIG, params, colours(), epochs=3, batch_size=2, lr=1e30, clip=0, warmup_epochs=0)


@pytest.mark.parametrize("ema", [0.0, 0.9])
def test_a_model_whose_training_diverges_is_what_it_was_before(ema):
    """Here in the third epoch, so that training has changed every parameter before."""
    params, told = initialise(CONFIG, 1), []
    before = params.flat.tobytes()

    def ruin(epoch, loss):
        told.append(params.flat.tobytes())
        if epoch == 2:
            params["head.bias"][0] = np.nan

    with pytest.raises(UserError, match=r"diverged: after step 5 the loss is nan, .* The model is as it"):
        fit(CONFIG, params, colours(), epochs=3, batch_size=8, ema=ema, report=ruin)
    assert len(told) == 2 and before not in told
    assert params.flat.tobytes() == before


def test_it_is_restored_on_the_gpu_too(gpu):
    params = initialise(CONFIG, 1).to(gpu.xp)
    before = params.flat.copy()
    with pytest.raises(UserError, match="training has diverged"):
        fit(CONFIG, params, colours(), epochs=3, batch_size=2, lr=1e30, clip=0, warmup_epochs=0)
    assert bool((params.flat == before).all())


def test_it_trains_on_the_gpu(gpu):
    here = initialise(CONFIG, 1, "float64")
    there = here.to(gpu.xp)
    settings = {"epochs": 2, "batch_size": 8, "crop_padding": 1, "flip": True, "augment": "autoaugment"}
    settings |= {"mixup": 0.8, "cutmix": 1.0, "erase": 0.5, "repeats": 2}
    expected = fit(CONFIG, here, colours(), **settings)
    assert fit(CONFIG, there, colours(), **settings) == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(there.to(np).flat, here.flat, rtol=1e-6, atol=1e-7)


def judged(monkeypatch, *accuracies):
    """Have the validation images give these accuracies, epoch after epoch; returns the weights then."""
    weights = []

    def evaluate(engine, images):
        weights.append(engine.params.flat.copy())
        return SimpleNamespace(accuracy=accuracies[len(weights) - 1], loss=1.0)

    monkeypatch.setattr("tinyvit.training.evaluation.evaluate", evaluate)
    return weights


@pytest.mark.parametrize("ema", [0.0, 0.9])
def test_with_patience_it_ends_with_the_best_weights_once_nothing_better_comes(monkeypatch, ema):
    weights, told = judged(monkeypatch, 0.5, 0.7, 0.7, 0.6, 0.9), []
    params, chosen = initialise(CONFIG, 1), {"validation": colours(8), "patience": 2, "ema": ema}
    means = fit(CONFIG, params, colours(), epochs=5, report=lambda *known: told.append(known), **chosen)
    assert told == [(i + 1, means[i], 1.0, (0.5, 0.7, 0.7, 0.6)[i]) for i in range(4)]
    np.testing.assert_array_equal(params.flat, weights[1])
    assert (weights[1] != weights[3]).any()


def test_without_patience_the_weights_are_the_last(monkeypatch):
    weights, params = judged(monkeypatch, 0.9, 0.7, 0.5), initialise(CONFIG, 1)
    fit(CONFIG, params, colours(), epochs=3, validation=colours(8))
    np.testing.assert_array_equal(params.flat, weights[2])


def test_judging_changes_nothing_and_gives_what_the_model_is_worth():
    known, data, (one, other) = [], colours(30), (initialise(CONFIG, 1) for _ in range(2))
    fit(CONFIG, one, data, epochs=2, validation=colours(20), report=lambda *each: known.append(each))
    fit(CONFIG, other, data, epochs=2)
    assert one.flat.tobytes() == other.flat.tobytes()
    logits = ReferenceEngine(CONFIG, one).logits(to_input(colours(20).images, np.dtype("float32"), (8, 8)))
    assert known[-1][3] == (logits.argmax(axis=1) == colours(20).labels).mean()
    assert known[-1][2] == pytest.approx(float(cross_entropy(logits, colours(20).labels)[0]), rel=1e-5)


@pytest.mark.parametrize(
    ("answer", "epochs"), [(True, 2), (np.bool_(True), 2), (False, 4), (None, 4), (7, 4)]
)
def test_a_report_that_returns_true_makes_its_epoch_the_last(answer, epochs):
    report = lambda epoch, loss: answer if epoch == 2 else None
    assert len(fit(CONFIG, initialise(CONFIG), colours(), epochs=4, report=report)) == epochs


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (
            {"patience": 3, "validation": None},
            "patience is 3, but there is nothing to judge by: give validation",
        ),
        ({"patience": 0}, "patience is 0, expected a whole number, 1 or more"),
        ({"batch_size": -2}, "batch_size is -2, expected a whole number, 1 or more"),
        *(({name: b"no"}, f"{name} is b'no', expected {table()[name].rule.words}") for name in FIT),
        ({"optimizer": "sgd", "weight_decay": 0.1}, "weight_decay has no effect with sgd"),
        ({"crop_padding": 8}, "crops cannot move by 8 pixels on images of 8 x 8: give a crop_padding below"),
        (
            {"crop_scale": 0.5, "crop_padding": 1},
            "crop_scale 0.5 takes the place of crop_padding, which is 1",
        ),
        ({"repeats": 9, "batch_size": 8}, "a batch of 8 images cannot hold an image 9 times: give a smaller"),
        ({"accumulate": 9, "batch_size": 8}, "cannot be computed in 9 parts: give a smaller accumulate"),
        ({"augment_ops": 3}, "augment_ops is a setting of randaugment"),
        ({"lora_alpha": 4.0}, "lora_alpha has no effect without lora"),
        ({"epochs": 1, "steps": 30}, "epochs is 1, but training is 30 steps long, which is .* epochs"),
        ({"recipe": "mine"}, "there is no recipe 'mine', expected one of: cpu-8-minutes"),
        ({"warmup_steps": 9, "steps": 8}, "the warm-up of 9 steps is longer than the run of 8 steps"),
        ({"sample_weight": [1, 2]}, r"sample_weight is \[1, 2\], expected a number, 0 or more, for each"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_before_anything_is_trained(settings, complaint):
    params = initialise(CONFIG)
    before = params.flat.copy()
    with pytest.raises(UserError, match=complaint.replace("^", r"\^")):
        fit(CONFIG, params, colours(), **{"validation": colours(4), **settings})
    assert (params.flat == before).all()


def test_it_trains_as_the_command_does_bit_for_bit(go, photos, tmp_path):
    flags = "--patch-dropout 0.5 --dropout 0.1 --mixup 0.5 --accumulate 3 --ema 0.9 --steps 10 --batch-size 7"
    assert go(train, *tiny(photos, tmp_path / "run", *flags.split()))[0] == 0
    saved, data = RunFolder(tmp_path / "run").load("last"), load_dataset("folder", photos, 8).train
    params = initialise(saved.config, seed=0)
    fit(saved.config, params, data, threads=1, **{name: saved.settings[name] for name in FIT})
    np.testing.assert_array_equal(params.flat, saved.params.flat)


def test_a_recipe_sets_what_is_not_given():
    settings = fit_settings({"recipe": "cpu-8-minutes", "steps": 50, "lr": 0.01}, 1000, threads=1)
    assert (settings.optimizer, settings.patch_dropout, settings.batch_size) == ("muon", 0.6, 64)
    assert (settings.lr, settings.steps, settings.epochs, settings.warmup_epochs) == (0.01, 50, 4, 50 / 60)
    assert fit_settings({"recipe": "cpu-8-minutes", "optimizer": "sgd"}, 1000, 1).lr == 0.05


def test_what_of_a_recipe_does_not_suit_the_model_is_named():
    model, rng = tinyvit.preset("nano/4", 8, 2, merge_after=1, threads=1), np.random.default_rng(0)
    given = rng.integers(0, 256, (16, 8, 8, 3), dtype=np.uint8), rng.integers(0, 2, 16)
    with pytest.raises(UserError, match=r"patch_dropout is 0\.6, expected 0: a model that .* merges"):
        model.fit(*given, recipe="cpu-8-minutes", epochs=1)
    assert model.fit(*given, recipe="cpu-8-minutes", epochs=1, patch_dropout=0).history


@pytest.mark.parametrize(
    ("images", "given", "batch"), [(1024, {}, 64), (63, {}, 2), (17, {"batch_size": 20}, 17), (2, {}, 1)]
)
def test_a_batch_is_never_larger_than_the_training_set(images, given, batch):
    assert fit_settings(given, images, None).batch_size == batch


def test_it_is_judged_as_often_as_asked_for(monkeypatch):
    told = []
    judged(monkeypatch, 0.5, 0.6)
    report = lambda *known: told.append(len(known))
    fit(
        CONFIG,
        initialise(CONFIG),
        colours(),
        epochs=3,
        evaluate_every=2,
        validation=colours(8),
        report=report,
    )
    assert told == [2, 4, 4]


def test_numbers_of_numpy_are_numbers():
    means = [
        fit(CONFIG, initialise(CONFIG), colours(), epochs=epochs, lr=lr)
        for epochs, lr in ((1, 0.5), (np.int64(1), np.float32(0.5)))
    ]
    assert means[0] == means[1]


@pytest.mark.filterwarnings("error")
def test_an_update_that_ruins_the_parameters_is_seen_even_if_it_is_the_last():
    params = initialise(CONFIG)
    params["head.bias"] = np.array([0, 1, 2], dtype=np.float32)
    with pytest.raises(UserError, match=r"diverged: after step 1 a parameter .* Try a lower lr"):
        fit(CONFIG, params, colours(), epochs=1, batch_size=20, lr=1e39, optimizer="sgd", warmup_epochs=0)


@pytest.mark.parametrize(
    ("given", "rate"),
    [({}, 0.25), ({"drop_path": 0.5}, 0.5), ({"recipe": "gpu-30-seconds", "repeats": 1}, 0.1)],
)
def test_dropout_is_the_model_s_unless_it_or_a_recipe_is_given(monkeypatch, given, rate):
    rates, take_step = set(), CpuEngine.step

    def watched(self, plan, lr):
        rates.add(self.config.drop_path)
        return take_step(self, plan, lr)

    monkeypatch.setattr(CpuEngine, "step", watched)
    config = replace(CONFIG, drop_path=0.25)
    fit(config, initialise(config), colours(), epochs=1, patch_dropout=0.0, **given)
    assert rates == {rate}
