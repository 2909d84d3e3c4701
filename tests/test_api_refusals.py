"""The mistakes of a Python user are refused in words, at once, and not by whatever breaks first."""

import copy
import os

import numpy as np
import pytest

import tinyvit
from tests.test_api import dark_and_light
from tinyvit.support.errors import UserError


@pytest.fixture
def model():
    return tinyvit.preset("nano/4", 8, 2, threads=1)


@pytest.mark.parametrize(("name", "said"), [("threads", " from 1 to 256"), ("heads", ", 1 or more")])
def test_a_model_is_not_loaded_with_a_setting_that_it_cannot_have(model, tmp_path, name, said):
    model.save(tmp_path / "m.npz")
    with pytest.raises(UserError, match=f"{name} is 0, expected a whole number{said}"):
        tinyvit.load(tmp_path / "m.npz", **{name: 0})


def test_what_is_no_path_is_refused(model):
    for save in (model.save, model.save_page):
        with pytest.raises(UserError, match=r"the path is None, expected text or a pathlib\.Path"):
            save(None)
        with pytest.raises(UserError, match="expected one without a null character"):
            save("a\0.npz")


@pytest.mark.skipif(os.name == "nt", reason="a file may have such a name there")
def test_a_path_that_no_file_can_have_is_refused(model):
    for save in (model.save, model.save_page):
        with pytest.raises(UserError, match=r"the path is '\\ud800.npz', .* no file name can hold: choose"):
            save("\ud800.npz")


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], None, 5, [b"a", b"b"], np.array(3)], ids=repr)
def test_names_of_classes_that_cannot_be_are_refused_wherever_they_are_needed(model, tmp_path, names):
    images, _ = dark_and_light(2, np.random.default_rng(0))
    model.classes = names
    for need in (
        lambda: model.predict(images),
        lambda: model.save(tmp_path / "a.npz"),
        lambda: model.save(tmp_path / "a"),
        lambda: model.save_page(tmp_path / "a.html"),
    ):
        with pytest.raises(UserError, match=r"set model\.classes"):
            need()
    assert list(tmp_path.iterdir()) == []


def test_names_of_classes_may_be_in_an_array(model, tmp_path):
    images, labels = dark_and_light(2, np.random.default_rng(0))
    model.classes = np.array(["dark", "light"])
    assert model.predict(images)[0] == "dark"
    model.save(tmp_path / "a.npz")
    model.save_page(tmp_path / "a.html", images, model.classes[labels])
    assert tinyvit.load(tmp_path / "a.npz").classes == ("dark", "light")


def test_parameters_that_are_read_only_are_not_trained(model):
    images, labels = dark_and_light(2, np.random.default_rng(0))
    model.params.flat.flags.writeable = False
    fixed = copy.copy(model)
    fixed.params = tinyvit.model.Params(model.params.flat, model.params.rows)  # as NumPy maps a file
    for change in (lambda: fixed.fit(images, labels), lambda: fixed.whiten(images)):
        with pytest.raises(
            UserError, match=r"parameters are read-only: use copy\.deepcopy\(model\), or load"
        ):
            change()
    copy.deepcopy(fixed).fit(images, labels, epochs=1).whiten(images)


@pytest.mark.parametrize("layout", [["torch"], np.array(["torch", "onnx"]), 3, ""], ids=repr)
def test_what_is_no_layout_is_refused(model, tmp_path, layout):
    with pytest.raises(UserError, match=r"there is no layout .*: expected one of tinyvit, official"):
        model.save(tmp_path / "m.npz", layout)


def test_labels_of_a_page_may_be_none(model, tmp_path):
    model.save_page(tmp_path / "a.html", None, None)
    assert (tmp_path / "a.html").exists()
    model.save_page(tmp_path / "a.html", np.zeros((8, 8, 3), np.uint8))
    with pytest.raises(UserError, match="there are labels but no images"):
        model.save_page(tmp_path / "b.html", labels=[0, 1])


def test_a_model_that_does_not_fit_into_memory_is_refused_clearly(model, monkeypatch):
    def no_room(*arguments):
        raise MemoryError

    monkeypatch.setattr("tinyvit.model.params.Params.zeros", no_room)
    for make in (lambda: tinyvit.preset("nano/4", 8, 2), lambda: model.with_new_head(9)):
        with pytest.raises(UserError, match="the model does not fit into memory: choose a smaller one"):
            make()
    with pytest.raises(UserError, match="smaller images, or fewer classes"):
        model.at_resolution(16)


def test_nor_is_a_model_made_that_no_address_could_count():
    with pytest.raises(UserError, match="the model does not fit into memory"):
        tinyvit.preset("Ti/4", 32, 2, width=3 * 2**29)
