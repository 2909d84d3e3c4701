import json
import pickle
import sys

import numpy as np
import pytest

from tests.weights.checkpoints import (
    EXACT,
    HUGGING_FACE,
    assert_same,
    complaint,
    random_model,
)
from tinyvit.weights.official import to_official
from tinyvit.weights.read import load_weights, usual_position_resize
from tinyvit.weights.safetensors import write_safetensors
from tinyvit.weights.save import save_official, save_safetensors
from tinyvit.weights.torch_names import to_torch_names


def test_a_missing_file_is_refused(tmp_path):
    assert "there are no weights" in complaint(load_weights, tmp_path / "model.npz")
    (tmp_path / "folder.npz").mkdir()
    assert "there are no weights" in complaint(load_weights, tmp_path / "folder.npz")


@pytest.mark.parametrize("name", ["model.h5", "model"])
def test_an_ending_that_is_not_known(tmp_path, name):
    (tmp_path / name).touch()
    assert "expected .npz or .safetensors" in complaint(load_weights, tmp_path / name)


@pytest.mark.parametrize("name", ["model.pth", "model.bin"])
def test_a_file_that_may_run_code_is_not_opened_without_pytorch(tmp_path, name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / name).write_bytes(pickle.dumps(Exception()))
    assert "can run code when it is opened" in complaint(load_weights, tmp_path / name)


def test_with_pytorch_tensors_are_read_and_nothing_else(tmp_path):
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    model = random_model(width=192, heads=3, mlp_width=1, layers=1, **EXACT)
    arrays = {name: torch.from_numpy(array.copy()) for name, array in to_torch_names(*model).items()}
    torch.save({"model": arrays, "epoch": 3}, tmp_path / "model.pth")
    assert_same(load_weights(tmp_path / "model.pth"), model)
    others = {"ema": {name: 2 * array for name, array in arrays.items()}, "optimizer": {"state": {0: arrays}}}
    torch.save({"model": arrays, "loss": {"center": arrays["norm.bias"]}} | others, tmp_path / "model.pth")
    with pytest.warns(UserWarning, match="several models, of which 'model' is read, and not ema: to"):
        assert_same(load_weights(tmp_path / "model.pth"), model)
    torch.save({"model": arrays, "code": complaint}, tmp_path / "model.pth")
    assert "cannot be read as tensors alone" in complaint(load_weights, tmp_path / "model.pth")


@pytest.mark.parametrize("name", ["model.npz", "model.safetensors"])
def test_a_file_of_the_wrong_kind_names_itself(tmp_path, name):
    (tmp_path / name).write_text("<html>Not found</html>")
    assert f"{name} is not a usable" in complaint(load_weights, tmp_path / name)


def test_the_names_inside_decide_and_not_the_ending(tmp_path):
    official, timm = random_model(), random_model(**EXACT)
    write_safetensors(tmp_path / "official.safetensors", to_official(*official))
    np.savez(tmp_path / "timm.npz", **to_torch_names(*timm))
    assert_same(load_weights(tmp_path / "official.safetensors"), official)
    assert_same(load_weights(tmp_path / "timm.npz", heads=3), timm)


def test_from_one_format_through_the_others_and_back(tmp_path):
    model = random_model()
    save_official(tmp_path / "1.npz", *model)
    config, params = load_weights(tmp_path / "1.npz")
    exact = type(config)(**(config.as_dict() | EXACT))
    save_safetensors(tmp_path / "2.safetensors", exact, params)
    loaded, params = load_weights(tmp_path / "2.safetensors", heads=3)
    assert loaded == exact
    save_official(tmp_path / "3.npz", config, params)
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "3.npz").read_bytes()
    assert_same(load_weights(tmp_path / "3.npz"), model)


def describe(folder, content):
    (folder / "config.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder / "model.safetensors"


@pytest.fixture
def folder(tmp_path):
    """With a file as others publish it, whose heads and size of images only a config.json can state."""
    arrays = to_torch_names(*random_model(image_size=(8, 12), **HUGGING_FACE))
    write_safetensors(tmp_path / "model.safetensors", arrays)
    return tmp_path


@pytest.mark.parametrize("size", [(4, 16), (8, 12)])
def test_a_safetensors_file_of_ours_states_all_that_its_arrays_do_not(tmp_path, size):
    """Without that, 4 x 16 would be taken for 8 x 8; nor does a config.json of another model count."""
    model = random_model(image_size=size, gelu="exact")
    save_safetensors(path := tmp_path / "model.safetensors", *model)
    assert_same(load_weights(path), model)
    describe(tmp_path, {"num_attention_heads": 2, "image_size": [8, 8], "layer_norm_eps": 1e-3})
    assert_same(load_weights(path), model)


def test_a_hugging_face_description_is_followed(folder):
    stated = {
        "num_attention_heads": 3,
        "layer_norm_eps": 1e-5,
        "hidden_act": "gelu_new",
        "image_size": [8, 12],
    }
    config, _ = load_weights(describe(folder, stated))
    assert (config.heads, config.eps, config.gelu, config.image_size) == (3, 1e-5, "tanh", (8, 12))
    assert "it also contains" in complaint(load_weights, describe(folder, stated | {"num_hidden_layers": 1}))
    assert "is missing" in complaint(load_weights, describe(folder, stated | {"num_hidden_layers": 3}))
    describe(folder, stated | {"num_hidden_layers": 2})
    config, _ = load_weights(folder / "model.safetensors", image_size=(12, 8))
    assert config.image_size == (12, 8)


def test_a_timm_description_is_followed(folder):
    stated = {
        "architecture": "test_vit",
        "global_pool": "token",
        "model_args": {"num_heads": 2, "act_layer": "gelu_tanh"},
        "pretrained_cfg": {"input_size": [3, 8, 12]},
    }
    config, _ = load_weights(describe(folder, stated))
    assert (config.heads, config.gelu, config.image_size, config.pool) == (2, "tanh", (8, 12), "token")
    deeper = stated | {"model_args": {"depth": 3}}
    assert "is missing" in complaint(load_weights, describe(folder, deeper))
    stated["global_pool"] = "avg"
    config, _ = load_weights(describe(folder, stated))
    assert (config.pool, config.has_token) == ("mean", True)
    stated["global_pool"] = "max"
    assert "specifies the pooling 'max', but tinyvit has only token, avg, map" in complaint(
        load_weights, describe(folder, stated)
    )


def test_heads_come_before_those_of_a_description_but_not_before_those_of_the_file(folder):
    path = describe(folder, {"num_attention_heads": 3, "image_size": [8, 12]})
    assert load_weights(path, heads=6)[0].heads == 6
    save_safetensors(path, *load_weights(path))
    message = complaint(load_weights, path, heads=6)
    assert "model.safetensors itself states that it has 3 heads: omit heads (--heads)." in message
    assert load_weights(path, heads=3)[0].heads == 3


def test_the_size_of_images_that_are_not_square_can_be_put_beside_a_file(tmp_path):
    path = tmp_path / "model.safetensors"
    model = random_model(image_size=(8, 12), heads=3, **EXACT)
    write_safetensors(path, to_torch_names(*model))
    message = complaint(load_weights, path, heads=3)
    assert 'put {"image_size": [height, width]} into a config.json beside it.' in message
    describe(tmp_path, {"image_size": [8, 12]})
    assert_same(load_weights(path, heads=3), model)


@pytest.mark.parametrize(
    ("kind", "eps"), [("vit", 1e-12), ("deit", 1e-12), ("dinov2", 1e-6), ("vit_msn", 1e-6)]
)
def test_what_hugging_face_leaves_unstated_has_the_default_of_its_code(folder, kind, eps):
    config, _ = load_weights(describe(folder, {"model_type": kind, "image_size": [8, 12]}))
    assert (config.heads, config.eps, config.gelu) == (12, eps, "exact")


def test_a_type_of_hugging_face_that_is_not_known_is_refused(folder):
    message = complaint(load_weights, describe(folder, {"model_type": "swin", "num_attention_heads": 3}))
    assert (
        "describes a model of type 'swin', which tinyvit does not support; it supports vit, deit" in message
    )


@pytest.mark.parametrize(
    "stated",
    [
        {"model_type": "swin"},
        {"architecture": "vit_relpos_base_patch16_224"},
        {"architecture": "aimv2_large_patch14_224"},
        {"architecture": "test_vit", "model_args": {"norm_layer": "rmsnorm"}},
    ],
    ids=str,
)
def test_a_model_that_tinyvit_does_not_have_is_not_said_to_load_without_its_description(folder, stated):
    """It would, and silently compute something else."""
    message = complaint(load_weights, describe(folder, stated))
    assert "move it elsewhere" not in message and "does not describe a model" not in message
    assert message.lower().endswith("choose another checkpoint.")


@pytest.mark.parametrize(
    ("stated", "remedy"), [(None, "Put the config.json"), ({}, "Nor does its config.json")]
)
def test_where_heads_are_nowhere_stated_the_remedy_is_one_that_helps(tmp_path, stated, remedy):
    write_safetensors(tmp_path / "model.safetensors", to_torch_names(*random_model(**HUGGING_FACE)))
    if stated is not None:
        describe(tmp_path, stated)
    message = complaint(load_weights, tmp_path / "model.safetensors")
    assert "how many heads share its width of 12" in message and remedy in message and "--heads" in message


def test_the_library_of_a_file_says_how_positions_are_resized(tmp_path):
    official, timm, theirs = random_model(), random_model(**EXACT), random_model(**HUGGING_FACE)
    np.savez(tmp_path / "official.npz", **to_official(*official))
    save_official(tmp_path / "own.npz", *official)
    assert usual_position_resize(tmp_path / "official.npz") == "corners"
    (tmp_path / "config.json").write_text('{"architecture": "vit_base_patch16_224"}')  # timm reads it here
    assert usual_position_resize(tmp_path / "official.npz") == "bilinear"
    assert usual_position_resize(tmp_path / "own.npz") == "corners"  # beside which it is another model's
    (tmp_path / "config.json").unlink()
    np.savez(tmp_path / "timm.npz", **to_torch_names(*timm))
    assert usual_position_resize(tmp_path / "timm.npz") == "bilinear"
    save_safetensors(tmp_path / "timm.safetensors", *timm)
    assert usual_position_resize(tmp_path / "timm.safetensors") == "antialias"
    save_safetensors(tmp_path / "theirs.safetensors", *theirs)
    assert usual_position_resize(tmp_path / "theirs.safetensors") == "bicubic"
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": dict.fromkeys(to_torch_names(*timm), "timm.safetensors")}))
    assert usual_position_resize(index) == "antialias"


@pytest.mark.parametrize("name", ["a.npz", "a.safetensors"])
def test_the_library_of_a_damaged_file_is_one_clear_line(tmp_path, name):
    for content in (b"", b"<html>"):
        (tmp_path / name).write_bytes(content)
        assert f"{name} is not a usable" in complaint(usual_position_resize, tmp_path / name)
    np.savez(tmp_path / "b.npz", conv1=np.zeros(3))
    assert "is not a ViT that tinyvit knows" in complaint(usual_position_resize, tmp_path / "b.npz")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "does not describe a model"),
        ("[1]", "does not describe a model"),
        ("3", "does not describe a model"),
        ({"num_attention_heads": "many"}, "does not describe a model"),
        ({"image_size": [1, 2, 3]}, "does not describe a model"),
        ({"hidden_act": "elu"}, "specifies the nonlinearity 'elu', but tinyvit has only gelu"),
        ({"hidden_act": "tanh"}, "specifies the nonlinearity 'tanh', but tinyvit has only gelu"),
        ({"hidden_act": ["gelu"]}, "does not describe a model"),
        ({"problem_type": "multi_label_classification"}, "tinyvit's classes exclude each other: choose"),
        ({"model_type": "clip", "problem_type": "regression"}, "states the problem_type 'regression'"),
        ({"num_attention_heads": 5, "image_size": [8, 12]}, "width 12 is not divisible by 5 heads"),
        ({"num_attention_heads": 3, "image_size": [8, 16]}, "has shape (1, 7, 12), expected (1, 9, 12)"),
    ],
)
def test_a_description_that_does_not_fit_is_one_clear_line(folder, content, why):
    assert why in complaint(load_weights, describe(folder, content))
