"""The settings that a repeated run passes on to a run with other choices."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.training.test_settings import example
from tinyvit.backend import select_device
from tinyvit.data import Dataset, ImageSet, hold_out
from tinyvit.model import initialise
from tinyvit.support.distributed import Ranks, acting_as
from tinyvit.support.errors import UserError
from tinyvit.support.shell.progress import Progress
from tinyvit.training.choices import new_settings, on_ranks, resumed_settings, what_changed
from tinyvit.training.run_data import load_data
from tinyvit.training.settings import Resume, Settings, table, that_resume
from tinyvit.training.starting_point import starting_model


def repeat(repeated, **chosen):
    settings = new_settings(chosen, Settings(dataset="shapes", threads=1, **repeated), select_device("cpu"))
    return settings.pool, settings.position, settings.position_at, settings.drop_path, settings.layers


def first_values(**chosen):
    repeated = Settings(dataset="shapes", model="nano/4", init="mimetic", whiten=True, threads=1)
    settings = new_settings(chosen, repeated, select_device("cpu"))
    return settings.init, settings.whiten


RESNET = {"model": "resnet-nano", "pool": "mean", "position": "none"}
VIT = {"model": "nano/4", "position": "2d", "layers": 2, "drop_path": 0.1}


def test_a_vit_in_place_of_a_resnet_has_the_usual_pooling_and_positions():
    assert repeat(RESNET, model="nano/8") == ("token", "1d", "stem", 0.0, None)
    assert repeat(RESNET, model="R5+nano/4", position="relative")[1:3] == ("relative", "blocks")
    assert repeat(RESNET, model="nano/8", pool="mean")[:2] == ("mean", "1d")
    assert repeat(RESNET, model="resnet-micro") == ("mean", "none", None, 0.0, None)


def test_a_resnet_in_place_of_a_vit_has_nothing_that_only_a_vit_has():
    assert repeat(VIT, model="resnet-nano") == ("mean", "none", None, 0, None)


def test_a_vit_in_place_of_a_vit_keeps_the_settings():
    assert repeat(VIT, model="micro/4") == ("token", "2d", "stem", 0.1, 2)


def test_a_recipe_s_heads_are_for_its_own_model():
    def heads(**chosen):
        return new_settings({"recipe": "cpu-8-minutes"} | chosen, None, select_device("cpu")).heads

    assert heads() == heads(model="micro/4") == 2
    assert heads(model="S/16") is heads(model="resnet-nano") is None
    assert heads(model="S/16", heads=3) == 3


def test_weights_in_place_of_a_new_model_do_not_get_its_shape_or_first_values():
    assert repeat(VIT, weights="runs/shapes-1", model="shapes-1")[4] is None
    assert first_values(weights="runs/shapes-1", model="shapes-1") == ("official", False)


def crops(before=None, **chosen):
    """crop_padding and crop_scale of a run, which repeats another one or is new."""
    repeated = before and Settings(dataset="folder", model="nano/8", threads=1, **before)
    settings = new_settings(chosen, repeated, select_device("cpu"))
    return settings.crop_padding, settings.crop_scale


def test_crops_of_one_kind_take_the_place_of_those_of_the_other():
    photos, tuned = {"dataset": "folder"}, {"weights": "B/16", "model": "B/16"}
    assert crops(**photos)[1] == 1 and crops(**photos, crop_scale=0.2) == (0, 0.2)
    assert crops(**photos, **tuned) == (0, 0.65) and crops(dataset="cifar10", **tuned) == (0, 1)
    assert crops(**photos, **tuned, crop_padding=4) == (4, 1)
    assert crops(**photos, **tuned, crop_padding=0) == (0, 0.65)
    assert crops(**photos, **tuned, crop_scale=1.0) == (0, 1)
    assert crops({"crop_padding": 4}, crop_scale=0.5) == (0, 0.5)
    assert crops({"crop_scale": 0.5}, crop_padding=4) == (4, 1)
    assert crops({"crop_scale": 0.5}, crop_padding=0) == (0, 0.5)
    with pytest.raises(
        UserError, match=r"--crop-scale 0\.5 takes the place of --crop-padding, which is 4: omit"
    ):
        crops(**photos, crop_padding=4, crop_scale=0.5)


@pytest.mark.parametrize("weights", [{}, {"weights": "B/16"}])
def test_a_run_from_before_there_were_crops_of_other_sizes_is_repeated_without_them(weights):
    assert crops({"crop_padding": 4} | weights) == (4, 1)
    assert crops({"flip": True} | weights) == (0, 1)


@pytest.mark.parametrize("augment", ["none", "autoaugment"])
@pytest.mark.parametrize("name", ["augment_ops", "augment_magnitude"])
def test_settings_of_randaugment_without_it_are_refused(augment, name):
    complaint = (
        f"--{name.replace('_', '-')} is a setting of randaugment, and this run has --augment {augment}: omit"
    )
    with pytest.raises(UserError, match=complaint):
        repeat({"model": "nano/4"}, augment=augment, **{name: 3})
    repeat({"model": "nano/4", "augment": "randaugment"}, **{name: 3})


@pytest.mark.parametrize("weights", [{}, {"weights": "runs/shapes-1"}])
def test_weight_decay_with_sgd_which_has_none_is_refused(weights):
    optimizer = {} if weights else {"optimizer": "sgd"}  # fine-tuning has it anyway
    with pytest.raises(UserError, match="--weight-decay has no effect with sgd"):
        new_settings({"model": "", "weight_decay": 0.1} | optimizer | weights, None, select_device("cpu"))
    new_settings({"model": "", "weight_decay": 0.0} | optimizer | weights, None, select_device("cpu"))


def test_first_values_are_repeated_for_any_other_vit_but_not_for_a_resnet():
    assert first_values(model="micro/4") == ("mimetic", True)
    assert first_values(model="micro/4", whiten=False) == ("mimetic", False)
    assert first_values(model="resnet-nano") == ("official", False)


@pytest.mark.parametrize("before", [{}, {"weight_decay": 0.1}, {"optimizer": "muon"}])
def test_adam_has_no_weight_decay_unless_it_is_chosen(before):
    """An L2 penalty of 0.05, which suits AdamW, would keep a ViT from learning."""

    def decay(**chosen):
        origin = Settings(dataset="shapes", model="nano/4", threads=1, **before) if before else None
        return new_settings({"optimizer": "adam"} | chosen, origin, select_device("cpu")).weight_decay

    assert decay() == 0.0
    assert decay(weight_decay=0.01) == 0.01
    assert decay(optimizer="adamw") == before.get("weight_decay", 0.05)


def test_sgd_takes_larger_steps_unless_their_size_is_chosen():
    """At 0.002, which suits Adam, it hardly moves."""

    def rate(origin=None, **chosen):
        return new_settings({"optimizer": "sgd"} | chosen, origin, select_device("cpu")).lr

    origin = Settings(dataset="shapes", model="nano/4", threads=1, lr=0.003)
    assert rate() == rate(recipe="cpu-8-minutes") == rate(origin) == 0.05
    assert rate(lr=0.01) == rate(origin, lr=0.01) == rate(weights="w", model="nano/4") == 0.01
    assert rate(origin, optimizer="adamw") == 0.003


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "muon"])
def test_fine_tuning_takes_smaller_steps_if_they_are_not_sgd_s(optimizer):
    """At SGD's 0.01, weights forget what they have learned."""

    def rate(origin=None, **chosen):
        return new_settings({"optimizer": optimizer} | chosen, origin, select_device("cpu")).lr

    fine_tuned = Settings(dataset="shapes", model="w", weights="w", threads=1, optimizer="sgd", lr=0.03)
    assert rate(weights="w", model="w") == rate(fine_tuned) == 0.001
    assert rate(weights="w", model="w", lr=0.02) == rate(fine_tuned, lr=0.02) == 0.02
    assert rate(fine_tuned, optimizer="sgd") == 0.03


def test_fine_tuning_with_adam_decays_no_weights_even_if_a_run_that_did_is_repeated():
    for optimizer in ("adamw", "muon"):
        origin = Settings(dataset="shapes", model="nano/4", threads=1, optimizer=optimizer)
        chosen = {"weights": "w", "model": "w", "optimizer": "adam"}
        assert new_settings(chosen, origin, select_device("cpu")).weight_decay == 0.0


def test_photos_have_the_size_that_other_weights_or_another_resolution_call_for():
    origin = Settings(dataset="folder", weights="w", model="w", threads=1, image_size=16, resolution=16)

    def sizes(**chosen):
        found = new_settings(chosen, origin, select_device("cpu"))
        return found.image_size, found.resolution

    assert sizes() == sizes(lr=0.1) == (16, 16)
    assert sizes(resolution=32) == (None, 32)
    assert sizes(weights="other", model="other") == (None, None)
    assert sizes(resolution=32, image_size=24) == (24, 32)


def test_a_warm_up_in_epochs_replaces_one_in_steps_when_a_run_is_repeated():
    origin = Settings(dataset="shapes", model="nano/4", threads=1, warmup_steps=3)
    found = new_settings({"warmup_epochs": 0.0}, origin, select_device("cpu"))
    assert (found.warmup_epochs, found.warmup_steps) == (0.0, None)


def test_an_optimiser_in_place_of_another_does_not_inherit_what_only_suited_that():
    def repeated(**own):
        origin = Settings(dataset="shapes", model="nano/4", threads=1, **own)
        return new_settings({"optimizer": "adamw"}, origin, select_device("cpu"))

    assert repeated(optimizer="sgd", lr=0.05).lr == 0.002  # the recipe's
    assert repeated(optimizer="adam", weight_decay=0.0).weight_decay == 0.05
    assert repeated(optimizer="muon", lr=0.004).lr == 0.004  # suits AdamW too


@pytest.mark.parametrize(("optimizer", "own"), [("adam", {"weight_decay": 0.01}), ("sgd", {"lr": 0.3})])
def test_an_optimiser_is_repeated_with_its_settings(optimizer, own):
    origin = Settings(dataset="shapes", model="nano/4", threads=1, optimizer=optimizer, **own)
    assert new_settings({"optimizer": optimizer}, origin, select_device("cpu")) == origin


@pytest.mark.parametrize("name", ["model", "pool", "position_at", "layers", "init", "whiten"])
def test_a_run_from_weights_is_not_repeated_with_another_model(name):
    flag = name.replace("_", "-")
    with pytest.raises(UserError, match=f"weights runs/shapes-1, which have a model already: omit --{flag}"):
        repeat({"model": "shapes-1", "weights": "runs/shapes-1"}, **{name: "blocks"})


def test_the_ranks_of_a_machine_share_its_cores(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("tinyvit.support.cores.available_cores", lambda root: 8)
    cpu, two, four = select_device("cpu"), Ranks(), Ranks()
    two.size, two.neighbours = 2, (frozenset(range(8)),) * 2
    four.size, four.neighbours = 4, (frozenset(range(8)),) * 2  # on two machines
    alone = new_settings({}, None, cpu)
    assert (alone.ranks, alone.threads) == (1, 8)
    for ranks in (two, four):
        with acting_as(ranks):
            settings = new_settings({}, None, cpu)
            assert (settings.ranks, settings.threads) == (ranks.size, 4)
            assert new_settings({"threads": 3}, None, cpu).threads == 3
            again = on_ranks(alone, {}, cpu)  # a run that one process began
            assert (again.ranks, again.threads) == (ranks.size, 4)
    with acting_as(four):
        assert on_ranks(settings, {}, cpu) == settings
        assert on_ranks(replace(settings, threads=3), {}, cpu).threads == 3


def test_first_values_and_held_out_images_are_those_of_the_seed(tmp_path):
    drawn = {}
    for seed in (1, 2):
        settings = replace(Settings(dataset="shapes", model="nano/8", validation=50, threads=1), seed=seed)
        model = starting_model(settings, 10, None, np.zeros((1, 32, 32, 3), np.uint8))
        np.testing.assert_array_equal(model.params.flat, initialise(model.config, seed).flat)
        drawn[seed] = model.params.flat
    assert (drawn[1] != drawn[2]).any()


def test_validation_images_are_those_that_the_seed_holds_out(monkeypatch):
    images = ImageSet(np.arange(40, dtype=np.uint8).repeat(3).reshape(40, 1, 1, 3), np.arange(40) % 2)
    data = Dataset("data", ("a", "b"), images, images)
    monkeypatch.setattr("tinyvit.training.run_data.load_dataset", lambda *args: data)
    for seed in (1, 2):
        settings = Settings(dataset="shapes", model="nano/8", validation=6, seed=seed)
        found = load_data(settings, None, Progress.silent()).validation
        np.testing.assert_array_equal(found.images, hold_out(data, 6, seed).validation.images)
    assert (hold_out(data, 6, 1).validation.images != hold_out(data, 6, 2).validation.images).any()


# What a resumed run does with settings; with all others, as with these of REFUSE, it keeps its own.
COMPUTE, FREE = {"device", "precision", "threads"}, {"data_dir", "labels", "log"}
CHANGE = {"lr", "decay", "weight_decay", "clip", "smoothing", "ema", "evaluate_every", "patience", "flip"}
CHANGE |= {"crop_padding", "crop_scale", "colour_jitter", "augment", "augment_ops", "augment_magnitude"}
CHANGE |= {"mixup", "cutmix", "erase"}
EXTEND = {"epochs", "steps"}


def test_settings_that_may_differ_when_a_run_is_resumed_are_these():
    wanted = {Resume.COMPUTE: COMPUTE, Resume.FREE: FREE, Resume.CHANGE: CHANGE, Resume.EXTEND: EXTEND}
    assert {kind: that_resume(kind) for kind in wanted} == wanted


@pytest.mark.parametrize("name", table())
def test_a_resumed_run_does_with_a_setting_what_it_may(name):
    needed = {"ema": 0.9} | {"augment_ops": {"augment": "randaugment"}, "steps": {"steps": 2}}.get(name, {})
    needed |= {"augment": "randaugment"} if name == "augment_magnitude" else {}
    needed |= {"recipe": "cpu-hour", "threads": 1}
    before = Settings(dataset="shapes", model="nano/4", **needed)
    row, value = table()[name], {"epochs": 11}.get(name) or example(table()[name])
    run = SimpleNamespace(path="runs/a", settings=lambda: before, changed=list)
    assert value != getattr(before, name)
    if row.resume is Resume.REFUSE:
        with pytest.raises(UserError, match=r"was started with .* a resumed run keeps its settings"):
            resumed_settings(run, None, {name: value})
        return
    assert resumed_settings(run, None, {}) == resumed_settings(run, None, {"seed": before.seed}) == before
    after, changed = resumed_settings(run, None, {name: value}), {name: value}
    changed |= {"recipe": None} if row.resume is Resume.CHANGE else {}  # which it no longer follows
    assert after == replace(before, **changed)
    recorded = what_changed(before.as_dict(), [], after)
    assert recorded == {each: [getattr(before, each), changed[each]] for each in changed.keys() - FREE}
    back = [{"step": 5, "epoch": 2} | recorded]
    assert what_changed(before.as_dict(), back, after) == {}
    undone = {name: pair[::-1] for name, pair in recorded.items()}
    assert what_changed(before.as_dict(), back, before) == undone


def test_fine_tuning_that_is_repeated_with_lora_has_the_optimiser_of_lora():
    def choices(repeated, **chosen):
        settings = new_settings(chosen, repeated, select_device("cpu"))
        return settings.optimizer, settings.lr

    before = new_settings({"weights": "Ti_16-384", "model": ""}, None, select_device("cpu"))
    assert (before.optimizer, before.lr) == ("sgd", 0.01)
    expected = choices(None, weights="Ti_16-384", model="", lora=2)
    assert choices(before, lora=2) == expected == ("adamw", 1e-3)
    assert choices(before, lora=2, lr=0.5) == ("adamw", 0.5)
    assert choices(before, lora=2, optimizer="sgd") == choices(before) == ("sgd", 0.01)
    tuned = replace(before, lora=4, optimizer="sgd", lr=0.3)
    assert choices(tuned, lora=2) == ("sgd", 0.3)  # as the user had chosen with LoRA


def test_a_resumed_run_may_crop_in_the_other_way():
    before = Settings(dataset="shapes", model="nano/4", crop_padding=4, threads=1)
    run = SimpleNamespace(path="runs/a", settings=lambda: before, changed=list)
    after = resumed_settings(run, None, {"crop_scale": 0.5})
    assert (after.crop_scale, after.crop_padding) == (0.5, 0)
