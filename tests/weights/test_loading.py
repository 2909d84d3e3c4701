"""Starting points of training, prediction and analysis, and the size of images that each then takes."""

import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import tinyvit
from tests.data.scenes import scene
from tests.helpers import random_batch, tiny_config
from tests.weights.checkpoints import complaint, random_model
from tinyvit import load
from tinyvit.data.photos import PhotoFit, fit_for, read_photo
from tinyvit.model import Model, ViTConfig, forward, initialise, preset
from tinyvit.predict import chosen_fit
from tinyvit.support.errors import UserError
from tinyvit.support.files.npz import names_in_npz
from tinyvit.training.loading import check_has_head, class_names, load_any
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings
from tinyvit.weights import folders
from tinyvit.weights.checkpoint import Checkpoint, is_checkpoint, save_checkpoint
from tinyvit.weights.folders import save_hugging_face, save_timm
from tinyvit.weights.official import to_official
from tinyvit.weights.resize import at_image_size, at_resolution
from tinyvit.weights.safetensors import write_safetensors
from tinyvit.weights.save import save_model, save_official, save_safetensors
from tinyvit.weights.torch_names import to_torch_names


def assert_same_model(loaded, config, params):
    assert loaded.config == config
    assert loaded.params.shapes == params.shapes
    np.testing.assert_array_equal(loaded.params.flat, params.flat)


def test_a_run_folder_gives_its_best_epoch_and_a_checkpoint_itself(tmp_path):
    config, run = tiny_config(), RunFolder(tmp_path / "run")
    best, last = initialise(config, 1), initialise(config, 2)
    run.create(Settings(dataset="shapes", model="tiny"), config, "abcde", best.count)
    save_checkpoint(run.best_path, Checkpoint(config, best))
    save_checkpoint(run.last_path, Checkpoint(config, last))
    assert_same_model(load_any(str(run.path)), config, best)
    assert_same_model(load_any(str(run.last_path)), config, last)


def test_an_official_file_is_distinguished_from_a_checkpoint(tmp_path):
    config = tiny_config()
    params = initialise(config)
    save_official(tmp_path / "a.npz", config, params)
    save_checkpoint(tmp_path / "b.npz", Checkpoint(config, params))
    (tmp_path / "c.npz").write_text("hello")
    assert [is_checkpoint(tmp_path / f"{name}.npz") for name in "abcd"] == [False, True, False, False]
    assert_same_model(load_any(str(tmp_path / "a.npz")), config, params)


def test_a_folder_as_hugging_face_gives_it_away_is_the_weights_in_it(tmp_path):
    config = ViTConfig(16, 8, width=64, mlp_width=128, heads=1, layers=1, classes=7, gelu="exact")
    params = initialise(config)
    save_safetensors(tmp_path / "model.safetensors", config, params)
    assert_same_model(load_any(str(tmp_path)), config, params)


@pytest.mark.parametrize("image_size", [8, (8, 12)])
def test_a_resolution_makes_a_model_for_square_images(image_size):
    config = tiny_config(image_size=image_size)
    model = Model(config, initialise(config))
    assert at_resolution(model, None) is model
    larger = at_resolution(model, 16)
    assert larger.config == tiny_config(image_size=16)
    assert larger.params.shapes["position"] == (17, 12)


@pytest.mark.parametrize(("resolution", "advice"), [(18, "16 or 20"), (3, "4"), (5, "4 or 8")])
def test_a_resolution_that_patches_do_not_fit_is_answered_with_one_that_they_do(resolution, advice):
    config = tiny_config()
    with pytest.raises(UserError, match=f"--resolution\\) of {advice}\\."):
        at_resolution(Model(config, initialise(config)), resolution)


@pytest.mark.parametrize("edge", [False, True])
@pytest.mark.parametrize("merge_after", [0, 1])
def test_a_resolution_that_is_advised_is_one_that_the_model_can_have(merge_after, edge):
    config = tiny_config(merge_after=merge_after)
    model, advised = Model(config, initialise(config)), set()
    for resolution in range(1, 30):
        try:
            with warnings.catch_warnings(record=True, action="always") as said:
                at_resolution(model, resolution, edge=edge)
            answer = "".join(str(each.message) for each in said)
        except UserError as error:
            assert not said
            answer = str(error)
        advised.update(map(int, re.findall(r"\d+", answer.partition("--resolution) of ")[2])))
    assert len(advised) > 2
    for resolution in advised:
        assert at_resolution(model, resolution).config.image_size == (resolution, resolution)


@pytest.mark.parametrize("fit", [None, PhotoFit("squash", (9, 9), (8, 8))])
def test_edges_that_patches_do_not_cover_are_cut_off_as_those_of_a_file_are(fit, tmp_path):
    save_checkpoint(tmp_path / "a.npz", Checkpoint(*random_model(), photo_fit=fit))
    with pytest.warns(UserWarning, match=r"images of 18 x 18 pixels: .* \(--resolution\) of 16 or 20\.$"):
        larger = load(tmp_path / "a.npz", threads=1).at_resolution(18)
    expected = fit_for(18, fit).covered_by(4)
    assert (larger.config.image_size, larger.photo_fit) == ((16, 16), expected) and expected.edge == (2, 2)
    scene(40, 30).save(tmp_path / "a.png")
    view = read_photo(tmp_path / "a.png", 18, fit).view[:16, :16]
    np.testing.assert_array_equal(larger.logits(tmp_path / "a.png"), larger.logits(view[None]))
    with pytest.warns(UserWarning, match="of 16 or 20"):
        assert larger.at_resolution(18).photo_fit == expected  # nothing is cut off twice
    assert fit_for(36, larger.at_resolution(36).photo_fit) == fit_for(36, fit)  # nor where patches cover all
    usual = fit_for((16, 16), larger.photo_fit)
    for other in {"squash", "pad", "crop"} - {usual.fit}:
        assert chosen_fit(larger, other) == replace(usual, fit=other, frame=(16, 16), edge=(0, 0))


def test_a_resnet_takes_images_of_any_size():
    config = preset("resnet-nano", 32, 3)
    assert at_resolution(Model(config, initialise(config)), 37).config.image_size == (37, 37)


@pytest.mark.parametrize("resolution", ["16", 16.0, 0, -16])
def test_a_resolution_that_is_not_a_number_of_pixels_is_refused(resolution):
    config = tiny_config()
    with pytest.raises(
        UserError, match=f"the resolution is {resolution!r}, expected a whole number of pixels"
    ):
        at_resolution(Model(config, initialise(config)), resolution)


def test_a_run_is_still_a_run_after_an_export_into_it(tmp_path):
    config, run = tiny_config(), RunFolder(tmp_path)
    params = initialise(config, 1)
    run.create(Settings(dataset="shapes", model="tiny"), config, "abcde", params.count)
    save_checkpoint(run.best_path, Checkpoint(config, params))
    save_hugging_face(tmp_path / "copy", config, initialise(config, 2), "abcde")
    (tmp_path / "copy" / "model.safetensors").rename(tmp_path / "model.safetensors")
    assert_same_model(load_any(str(tmp_path)), config, params)


def test_a_folder_of_hugging_face_in_another_form_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("tinyvit.weights.read.find_spec", lambda package: None)  # as if without torch
    (tmp_path / "pytorch_model.bin").write_text("{}")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UserError, match="can run code when it is opened"):
        load_any(str(tmp_path))


def test_a_run_without_a_best_epoch_is_not_asked_for_weights(tmp_path):
    config, run = tiny_config(), RunFolder(tmp_path)
    run.create(Settings(dataset="shapes", model="tiny"), config, "abcde", 1)
    save_checkpoint(run.last_path, Checkpoint(config, initialise(config, 1)))
    (tmp_path / "exported.safetensors").write_text("an export, not the run's checkpoint")
    assert_same_model(load_any(str(tmp_path), checkpoint="last"), config, initialise(config, 1))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda params: params["head.bias"].fill(np.nan), "not finite"),
        (lambda params: params["patch.weight"].fill(np.inf), "not finite"),
    ],
)
def test_invalid_numbers_are_refused(tmp_path, spoil, why):
    config = tiny_config()
    spoil(params := initialise(config))
    save_official(tmp_path / "a.npz", config, params)
    with pytest.raises(UserError, match=why):
        load_any(str(tmp_path / "a.npz"))


def test_a_model_for_grey_photos_is_given_the_grey_of_colour_photos(tmp_path):
    config, params = random_model(channels=1)
    save_official(tmp_path / "a.npz", config, params)
    colour = load_any(str(tmp_path / "a.npz"))
    assert colour.config.channels == 3
    photos, _ = random_batch(colour.config, 2, np.random.default_rng(0), "float32")
    grey = (photos @ np.array([0.299, 0.587, 0.114], "float32"))[..., None]
    np.testing.assert_allclose(
        forward(colour.config, colour.params, photos)[0], forward(config, params, grey)[0], rtol=1e-3
    )


def test_images_of_other_numbers_of_channels_are_refused(tmp_path):
    save_official(tmp_path / "a.npz", *random_model(channels=4))
    with pytest.raises(UserError, match="4-channel images, expected 3 channels, or 1 for grey"):
        load_any(str(tmp_path / "a.npz"))


def test_a_model_without_a_head_loads_and_has_attention_to_draw(tmp_path):
    arrays = to_official(*random_model(layers=1))
    np.savez(tmp_path / "a.npz", **{name: arrays[name] for name in arrays if not name.startswith("head")})
    model = load_any(str(tmp_path / "a.npz"))
    assert not model.has_head
    with pytest.raises(UserError, match=r"a\.npz has no head and therefore no classes"):
        check_has_head("a.npz", model)
    images = np.random.default_rng(0).integers(0, 256, (2, 8, 8, 3), dtype=np.uint8)
    attention = tinyvit.Model(model.config, model.params).attention_map(images)
    assert np.asarray(attention).shape[0] == 2 and np.isfinite(attention).all()


def test_positions_are_resized_as_by_the_library_that_the_weights_are_from(tmp_path):
    model = random_model(image_size=16)
    save_official(tmp_path / "official.npz", *model)
    save_safetensors(timm := tmp_path / "timm.safetensors", *random_model(gelu="exact", image_size=16))
    save_hugging_face(tmp_path / "folder", *model, "abcde")
    save_checkpoint(tmp_path / "checkpoint.npz", Checkpoint(*model))
    expected = {"official.npz": "corners", "folder": "bicubic", "checkpoint.npz": "corners"}
    assert load_any(str(timm)).position_resize == "antialias"
    for name, method in expected.items():
        loaded = load_any(str(tmp_path / name))
        assert loaded.position_resize == method
        found, by_hand = at_resolution(loaded, 24), at_image_size(Model(*model), 24, method)
        np.testing.assert_array_equal(found.params["position"], by_hand.params["position"])
    found = at_resolution(load_any(str(timm), heads=None), 24, "bilinear")  # what is asked for comes first
    by_hand = at_image_size(load_any(str(timm)), 24, "bilinear")
    np.testing.assert_array_equal(found.params["position"], by_hand.params["position"])


def test_how_photos_are_resized_is_read_beside_the_weights(tmp_path):
    model = random_model()
    fit = PhotoFit("squash", (10, 12), (8, 8), "bilinear", "transformers")
    save_hugging_face(tmp_path / "folder", *model, "abcde", fit)
    save_official(tmp_path / "a.npz", *model)
    assert load_any(str(tmp_path / "folder")).photo_fit == fit
    assert load_any(str(tmp_path / "folder" / "model.safetensors")).photo_fit == fit
    assert load_any(str(tmp_path / "a.npz")).photo_fit is None


def test_photos_decide_the_size_of_a_model_whose_positions_are_for_another(tmp_path):
    """As with DINOv2, whose table is for images of 518 pixels, and its photos are made at 224."""
    config, params = random_model(image_size=36, gelu="exact")
    fit = PhotoFit("crop", (20, 20), (16, 16))
    save_hugging_face(tmp_path / "folder", config, params, "abcde", fit)
    stated = json.loads((tmp_path / "folder" / "preprocessor_config.json").read_text())
    stated |= {"size": {"shortest_edge": 20}, "crop_size": {"height": 16, "width": 16}}
    (tmp_path / "folder" / "preprocessor_config.json").write_text(json.dumps(stated))
    model = load_any(str(tmp_path / "folder"))
    assert model.photo_fit == replace(fit, library="transformers")
    for side in (16, 24, 36):  # always from what was published, never by way of 16
        expected = at_image_size(Model(config, params), side, "bicubic")
        assert_same_model(at_resolution(model, side), expected.config, expected.params)
    assert model.config.image_size == (16, 16)
    (tmp_path / "folder" / "preprocessor_config.json").unlink()
    assert load_any(str(tmp_path / "folder")).config.image_size == (36, 36)


def test_of_images_that_patches_do_not_cover_the_edge_is_left_out(tmp_path):
    """As in SigLIP's so400m-patch14-384."""
    save_hugging_face(tmp_path / "a", *random_model(), "abcde")
    (tmp_path / "a" / "preprocessor_config.json").write_text('{"size": {"height": 10, "width": 11}}')
    model = load(tmp_path / "a")
    assert model.config.image_size == (8, 8)
    photo = Image.fromarray(np.random.default_rng(0).integers(0, 256, (30, 40, 3), "uint8"))
    seen = np.asarray(photo.resize((11, 10), Image.Resampling.BILINEAR))[:8, :8]
    assert np.array_equal(model.logits(photo), model.logits(seen))
    for write in (save_timm, save_hugging_face):
        message = complaint(write, tmp_path / "b", model.config, model.params, "abcde", model.photo_fit)
        assert "edge" in message


@pytest.mark.parametrize("fit", [None, PhotoFit("pad", (10, 12), (8, 8), "lanczos", "timm", (1, 2, 3))])
@pytest.mark.parametrize("method", ["corners", "bicubic"])
def test_a_checkpoint_keeps_what_is_particular_to_the_library(tmp_path, fit, method):
    model = replace(Model(*random_model()), position_resize=method)
    save_model(model, tmp_path / "a.npz", fit=fit)
    found = load_any(str(tmp_path / "a.npz"))
    assert (found.position_resize, found.photo_fit) == (method, fit)
    assert ("origin" in names_in_npz(tmp_path / "a.npz")) == (fit is not None or method != "corners")


def test_how_photos_were_fitted_is_read_from_checkpoints_of_before(tmp_path):
    """They do not say whose rounding is followed."""
    model = Model(*random_model())
    save_model(model, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        arrays = {name: file[name] for name in file if name != "sealed"}
    fit = {"fit": "crop", "frame": [10, 12], "size": [8, 8], "resample": "box"}
    np.savez(tmp_path / "b.npz", **arrays, origin=np.array(json.dumps({"photo_fit": fit})))
    assert load_any(str(tmp_path / "b.npz")).photo_fit == PhotoFit("crop", (10, 12), (8, 8), "box")


@pytest.mark.parametrize(
    "origin",
    [
        "[]",
        '{"position_resize": "up"}',
        '{"photo_fit": {"fit": "crop"}}',
        '{"photo_fit": {"fit": "tear", "frame": [8, 8], "size": [8, 8], "resample": "box"}}',
        '{"photo_fit": {"fit": "crop", "frame": [8, 8], "size": [0, 9], "resample": "box"}}',
        '{"photo_fit": {"fit": "pad", "frame": [8, 8], "size": [8, 8], "resample": "box", "border": [1]}}',
        '{"photo_fit": {"fit": "crop", "frame": [8, 8], "size": [8, 8], "resample": "box", "colour": 1}}',
        '{"photo_fit": {"fit": "crop", "frame": [8], "size": [8, 8], "resample": "box"}}',
        '{"photo_fit": {"fit": "crop", "frame": [1' + 400 * "0" + ', 8], "size": [8, 8], "resample": "box"}}',
    ],
)
def test_a_checkpoint_with_nonsense_about_its_origin_is_refused(tmp_path, origin):
    save_checkpoint(tmp_path / "a.npz", Checkpoint(*random_model()))
    with np.load(tmp_path / "a.npz") as file:
        arrays = {name: file[name] for name in file if name != "sealed"}
    np.savez(tmp_path / "b.npz", **arrays, origin=np.array(origin))
    with pytest.raises(UserError, match="its model description is missing or unreadable"):
        load_any(str(tmp_path / "b.npz"))


@pytest.mark.parametrize("damage", [b"\xff", b"\x63"])
def test_another_kind_of_zip_file_is_not_a_checkpoint(tmp_path, damage):
    """The version that a zip needs, and the name of a member, spoilt."""
    save_checkpoint(tmp_path / "a.npz", Checkpoint(tiny_config(), initialise(tiny_config())))
    content = bytearray((tmp_path / "a.npz").read_bytes())
    at = content.rindex(b"PK\x01\x02")
    content[at + 6 : at + 7] = damage
    content[at + 46 : at + 47] = damage
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(UserError):
        load_any(str(tmp_path / "a.npz"))


def test_names_of_classes_are_those_of_this_model_alone(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text('{"id2label": {"0": "cat", "1": "dog"}}')
    assert class_names(str(tmp_path), 2) == ("cat", "dog")
    assert class_names(str(tmp_path), 3) == ()
    monkeypatch.chdir(tmp_path)
    assert class_names("Ti_16-384", 2) == ()
    assert class_names("Ti_16-384", 1000)[1].startswith("goldfish")


@pytest.mark.parametrize("classes", [3, 1000])
def test_classes_without_names_are_not_given_those_of_another_model(tmp_path, classes):
    stated = {"id2label": {str(c): f"name {c}" for c in range(classes)}}
    (tmp_path / "config.json").write_text(json.dumps(stated))
    model = Model(*random_model(classes=classes))
    for path in (tmp_path / "mine.npz", tmp_path / "alone" / "mine.npz"):
        path.parent.mkdir(exist_ok=True)
        save_model(model, path)
        assert load_any(str(path)).classes == ()
    np.savez(tmp_path / "official.npz", **to_official(model.config, model.params))
    assert load_any(str(tmp_path / "official.npz")).classes == tuple(stated["id2label"].values())


@pytest.mark.parametrize(("name", "layout"), [("mine.safetensors", "torch"), ("mine.npz", "official")])
def test_files_beside_a_file_of_tinyvits_own_say_nothing_of_it(tmp_path, name, layout):
    other = PhotoFit("squash", (9, 9), (16, 16), library="transformers")
    save_hugging_face(tmp_path / "models", *random_model(image_size=16), "abcde", other)
    config, params = random_model(gelu="exact" if layout == "torch" else "tanh")
    save_model(Model(config, params), tmp_path / "models" / name, layout)
    found = load_any(str(tmp_path / "models" / name))
    assert_same_model(found, config, params)
    assert (found.classes, found.photo_fit) == ((), None)
    stated = json.loads((tmp_path / "models" / "config.json").read_text())
    (tmp_path / "models" / "config.json").write_text(
        json.dumps({"settings": {}, "classes": [*"vwxyz"]} | stated)
    )
    assert load_any(str(tmp_path / "models" / name)).classes == tuple("vwxyz")  # in the folder of a run


def test_a_file_of_tinyvits_own_is_not_given_the_names_of_imagenet(tmp_path):
    config, params = random_model(classes=1000, gelu="exact")
    save_model(Model(config, params, [f"mine {c}" for c in range(1000)]), tmp_path / "mine.safetensors")
    assert load_any(str(tmp_path / "mine.safetensors")).classes == ()
    write_safetensors(tmp_path / "timm.safetensors", to_torch_names(config, params))
    assert load_any(str(tmp_path / "timm.safetensors"), heads=3).classes[1].startswith("goldfish")


def test_a_checkpoint_of_a_run_has_the_names_in_its_folder(tmp_path):
    model, run = Model(*random_model()), RunFolder(tmp_path)
    run.create(Settings(dataset="shapes", model="tiny"), model.config, "abcde", 1)
    save_checkpoint(run.best_path, Checkpoint(model.config, model.params, progress={"step": 1}))
    for source in (run.path, run.best_path):
        assert load_any(str(source)).classes == tuple("abcde")


@pytest.mark.parametrize(("ending", "why"), [("", "is not a run folder"), (".npz", "there are no weights")])
def test_a_name_that_is_too_long_is_that_of_nothing(ending, why):
    assert why in complaint(load_any, "x" * 300 + ending)


def test_the_resolution_of_a_hybrid_is_a_multiple_of_the_pixels_of_its_patches(tmp_path):
    config, params = random_model(image_size=32, patch_size=2, resnet=(1, 1), resnet_width=32)
    save_official(tmp_path / "hybrid.npz", config, params)
    model = load_any(str(tmp_path / "hybrid.npz"))
    assert at_resolution(model, 64).config.grid == (4, 4)
    assert "of 32 or 48." in complaint(at_resolution, model, 40)


def test_a_hybrid_for_grey_images_is_not_given_colours(tmp_path):
    config, params = random_model(image_size=16, patch_size=2, resnet=(), channels=1)
    save_official(tmp_path / "grey.npz", config, params)
    assert "cannot read colour photos" in complaint(load_any, str(tmp_path / "grey.npz"))


def test_a_folder_for_hugging_face_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    config = tiny_config(gelu="exact", eps=1e-12)
    params = initialise(config, 1)

    class Killed(BaseException):
        """Nothing catches it."""

    def killed(path, write, previous=None):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(folders, "write_atomically", killed)  # of the descriptions, after the weights
        with pytest.raises(Killed):
            save_hugging_face(tmp_path / "model", config, params, "abcde")
    assert list(tmp_path.iterdir()) == []
    left = tmp_path / ".model.123-0123abcd.writing"  # by a process that was killed in earnest
    left.mkdir()
    (left / "model.safetensors").write_bytes(b"half")
    save_hugging_face(tmp_path / "model", config, params, "abcde")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert len(list((tmp_path / "model").iterdir())) == 3
    (tmp_path / "model" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="already exists and will not be overwritten"):
        save_model(Model(config, params), tmp_path / "model")


@pytest.mark.parametrize(
    "stated", [{"image_size": [10**9, 10**9]}, {"num_attention_heads": 2**70}, {"num_attention_heads": -1}]
)
def test_sizes_that_are_not_those_of_the_weights_are_refused_and_the_file_is_named(tmp_path, stated):
    config = tiny_config(gelu="exact", eps=1e-12)
    save_hugging_face(tmp_path / "model", config, initialise(config, 1), "abcde")
    path = tmp_path / "model" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | stated))
    assert "model.safetensors" in complaint(load_any, str(tmp_path / "model"))


def test_only_a_thousand_classes_are_those_of_imagenet():
    assert len(class_names("nowhere.npz", 1000)) == 1000
    assert (
        class_names("nowhere.npz", 999)
        == class_names("nowhere.npz", 1001)
        == class_names("x.npz", 21843)
        == ()
    )
