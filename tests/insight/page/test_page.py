"""The page as a file: it holds the model whole, asks for nothing, and is refused for what it cannot run."""

import base64
import hashlib
import importlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from tests.insight.page.pages import BASE, CLASSES, page_of, pixels_for, random_model
from tests.lessons.test_equations import DERIVED_IN
from tests.tiny_runs import REPOSITORY, assert_one_line
from tinyvit import Model, export
from tinyvit.data import ImageSet
from tinyvit.insight.page import PAGE, WORKER, check_page_can_run, choose_samples, write_page
from tinyvit.insight.pictures import colours
from tinyvit.model import ViTConfig, initialise
from tinyvit.model import preset as config_of
from tinyvit.support.errors import UserError
from tinyvit.training.run_data import needs_download
from tinyvit.training.run_folder import RunFolder

FOLDER = REPOSITORY / "tinyvit/insight/page"


class Elements(HTMLParser):
    """All elements of a page, as (tag, attributes, text within)."""

    def __init__(self, path):
        super().__init__()
        self.found = []
        self.feed(Path(path).read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        self.found.append([tag, dict(attributes), ""])
        self.within = True

    def handle_endtag(self, tag):
        self.within = False

    def handle_data(self, data):
        if self.found and self.within:
            self.found[-1][2] += data

    def all(self, tag, **attributes):
        return [each for each in self.found if each[0] == tag and attributes.items() <= each[1].items()]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return Elements(page_of(random_model(), tmp_path_factory.mktemp("page") / "page.html"))


@pytest.fixture(scope="module")
def contents(page):
    return json.loads(page.all("script", id="model")[0][2])


def test_the_weights_come_back(contents):
    model = random_model()
    halves = [np.frombuffer(base64.b64decode(text), "<f2").astype(np.float64) for text in contents["weights"]]
    flat, start = sum(halves), 0
    for name, shape in contents["rows"]:
        values = flat[start : start + np.prod(shape)].reshape(shape)
        np.testing.assert_allclose(values, model.params[name], rtol=1e-5, atol=1e-7)
        start += values.size
    assert start == flat.size == model.params.count


def test_a_large_model_is_stored_in_float16_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("tinyvit.insight.page.contents.IN_FULL", 10)
    found = Elements(page_of(random_model(), tmp_path / "page.html"))
    assert len(json.loads(found.all("script", id="model")[0][2])["weights"]) == 1


def test_the_samples_come_back_sorted_by_class(contents):
    pixels = np.frombuffer(base64.b64decode(contents["samples"]["pixels"]), np.uint8)
    images, labels = pixels_for(random_model()), np.arange(20) % 5
    order = np.argsort(labels, kind="stable")
    np.testing.assert_array_equal(pixels.reshape(-1, 16, 16, 3), images[order])
    assert contents["samples"]["labels"] == labels[order].tolist()


def test_large_samples_are_fewer_and_resized_to_the_model():
    images = ImageSet(np.full((40, 8, 8, 3), 77, np.uint8), np.arange(40, dtype=np.int64) % 2)
    config = ViTConfig(**BASE | {"image_size": 256})
    samples = choose_samples(config, images)
    assert samples.images.shape == (2, 256, 256, 3)
    assert set(samples.labels) == {0, 1}
    assert (samples.images == 77).all()
    assert len(choose_samples(ViTConfig(**BASE | {"classes": 2}), images).labels) == 10


def test_class_names_cannot_end_the_element_they_are_in(page, contents):
    assert contents["classes"] == list(CLASSES)
    assert "</script><b>" in contents["classes"]
    assert len(page.all("b")) == (FOLDER / "page.html").read_text("utf-8").count("<b>")


def test_the_policy_allows_the_scripts_and_the_style_of_the_page_and_no_request(page):
    policy = page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0][1]["content"]
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split("; ")}
    assert rules["default-src"] == ["'none'"]
    assert rules["worker-src"] == ["blob:"]
    assert rules["img-src"] == ["data:"]
    run = [text for _, attributes, text in page.all("script") if "type" not in attributes]
    styles = [text for _, _, text in page.all("style")]
    assert rules["script-src"] == [sha256(text) for text in run]
    assert rules["style-src"] == [sha256(text) for text in styles]
    assert len(run) == len(PAGE)


def sha256(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_nothing_in_it_points_elsewhere(page):
    for tag, attributes, _ in page.found:
        for name in (
            "src",
            "href",
            "action",
            "srcset",
            "style",
            *(n for n in attributes if n.startswith("on")),
        ):
            assert attributes.get(name) in (None, "data:,"), (tag, name)
    for script in page.all("script"):
        assert not re.search(r"https?://|\bimport\b|fetch\(|XMLHttpRequest|eval\(", script[2]), script[2][:80]


def test_all_scripts_of_the_folder_are_in_it(page):
    names = {path.stem for path in FOLDER.glob("*.js")}
    assert names == {*WORKER, *PAGE}
    texts = [text for _, _, text in page.all("script")]
    for path in FOLDER.glob("*.js"):
        assert any(path.read_text("utf-8") in text for text in texts), path.name
        assert len(path.read_text("utf-8").splitlines()) <= 250, path.name


def test_every_label_and_every_script_finds_its_element(page):
    ids = [attributes["id"] for _, attributes, _ in page.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    for path in FOLDER.glob("*.js"):
        assert set(re.findall(r'byId\("([\w-]+)"\)', path.read_text("utf-8"))) <= {*ids}, path.name
    for _, attributes, _ in page.found:
        for name in ("aria-labelledby", "aria-describedby", "for"):
            assert attributes.get(name, ids[0]) in ids


# Steps whose files have no derivation of their own, and the lesson that has them, if one does.
TOLD_IN = {
    "tinyvit/data/augment.py": "00_pixels",
    "tinyvit/ops/pooling.py": "08_vit",
    "tinyvit/ops/tanh.py": "",
}
EXPLAINED = re.findall(
    r'(?:lesson: (\d+),\s+)?source: "([\w/.]+)(?:, eq\. (\d+))?",\s+formula:\s+"([^"]+)"',
    (FOLDER / "explain.js").read_text("utf-8"),
)


@pytest.mark.parametrize(("lesson", "source", "equation", "formula"), EXPLAINED, ids=str)
def test_what_a_step_refers_to_exists(lesson, source, equation, formula):
    assert len(EXPLAINED) == (FOLDER / "explain.js").read_text("utf-8").count("source:") > 20
    assert lesson == (DERIVED_IN | TOLD_IN)[f"tinyvit/{source}"].split("_")[0].removeprefix("0")
    module = importlib.import_module(f"tinyvit.{source.removesuffix('.py').replace('/', '.')}")
    if equation:
        left = re.escape(formula.split("=")[0].strip())
        assert f"({equation})" in module.__doc__
        assert re.search(rf"(?<!\w){left}\s*=" if "," not in left else "=", module.__doc__), formula


def test_the_colours_are_those_of_the_pictures(contents):
    style = (FOLDER / "page.css").read_text("utf-8").partition("@media")[0]
    for name in ("PAPER", "INK", "FAINT", "GRID", "BLUE", "ORANGE"):
        assert f"--{name.lower()}: {getattr(colours, name)};" in style
    assert contents["heat"] == colours.HEAT_COLOURS.tolist()


@pytest.mark.parametrize(
    ("name", "changes", "why"),
    [
        ("resnet-nano", {}, "a ResNet, only a plain ViT"),
        ("r5+nano/4", {}, "a hybrid, only a plain ViT"),
        ("nano/4", {"predicts": "patches"}, "predicts patches"),
        ("nano/4", {"predicts": "embedding"}, "predicts an embedding"),
        ("nano/4", {"classes": 1}, "has no head"),
        ("nano/4", {"channels": 4}, "not of 4"),
        ("s/16", {"image_size": 224}, "21,671,824 parameters"),
        ("ti/4", {"image_size": 224}, "billion multiply-adds"),
    ],
)
def test_what_it_cannot_run_is_refused(name, changes, why):
    with pytest.raises(UserError, match=why):
        check_page_can_run(config_of(name, **{"image_size": 32, "classes": 16} | changes))


def test_numbers_too_large_for_float16_are_refused(tmp_path):
    model = random_model()
    model.params.flat[3] = 1e5
    with pytest.raises(UserError, match="65504"):
        write_page(model, tmp_path / "page.html", None, "")
    assert not list(tmp_path.iterdir())


def test_samples_are_omitted_if_asked(go, trained, tmp_path):
    status, out, _ = go(export, trained, tmp_path / "page.html", "--no-samples")
    assert status == 0 and "it holds no sample images" in out
    found = json.loads(Elements(tmp_path / "page.html").all("script", id="model")[0][2])
    assert found["samples"]["labels"] == []


def test_export_writes_the_page_of_a_run_with_samples_and_says_so(go, photos, trained, tmp_path):
    status, out, err = go(export, trained, tmp_path / "page.html")
    assert (status, err) == (0, "")
    assert out.startswith(f"wrote {tmp_path / 'page.html'}: 0.")
    assert f"it holds 8 test images of {photos}, for whoever gets it to see: --no-samples omits them" in out
    found = json.loads(Elements(tmp_path / "page.html").all("script", id="model")[0][2])
    assert found["classes"] == ["blue", "red"]
    assert set(found["samples"]["labels"]) == {0, 1}
    assert "nano/4, trained on folder" in found["subtitle"]
    assert_one_line(
        go(export, trained, tmp_path / "b.html", "--data-dir", tmp_path / "no"), "is not a folder"
    )


def test_export_without_the_data_says_so(go, trained, tmp_path):
    go(export, trained, tmp_path / "model.npz")
    status, out, _ = go(export, tmp_path / "model.npz", tmp_path / "page.html")
    assert status == 0
    assert "no sample images" in out


def test_export_does_not_download_data_for_samples(trained, tmp_path, monkeypatch):
    run = RunFolder.open(trained)
    assert not needs_download(run, None)
    settings = replace(run.settings(), dataset="cifar10", data_dir=None)
    monkeypatch.setattr(run, "settings", lambda: settings)
    assert needs_download(run, tmp_path)


def test_a_model_that_a_page_cannot_run_is_one_line(go, tmp_path):
    config = config_of("resnet-nano", 32, 3)
    Model(config, initialise(config)).save(tmp_path / "resnet.npz")
    result = go(export, tmp_path / "resnet.npz", tmp_path / "page.html")
    assert_one_line(result, "a page cannot run a ResNet, only a plain ViT")


def test_from_python_with_samples(tmp_path):
    model = random_model()
    images = pixels_for(model, 3)
    model.save_page(tmp_path / "page.html", images, ["dog", "cat", "dog"])
    found = json.loads(Elements(tmp_path / "page.html").all("script", id="model")[0][2])
    assert found["samples"]["labels"] == [0, 1, 1]
    model.save_page(tmp_path / "again.html", ImageSet(images, np.array([1, 0, 1])))
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "page.html").read_bytes()
    model.save_page(tmp_path / "page.html", images)
    unlabelled = json.loads(Elements(tmp_path / "page.html").all("script", id="model")[0][2])["samples"]
    assert unlabelled["labels"] == [-1, -1, -1]
    order = [1, 0, 2]  # sorted by class, with labels
    pixels = np.frombuffer(base64.b64decode(unlabelled["pixels"]), np.uint8).reshape(images.shape)
    labelled = np.frombuffer(base64.b64decode(found["samples"]["pixels"]), np.uint8).reshape(images.shape)
    np.testing.assert_array_equal(pixels[order], labelled)


@pytest.mark.parametrize(
    ("count", "labels", "complaint"),
    [
        (3, ["dog"], "found 3 images and 1 label: expected the same number of each"),
        (3, (), "found 3 images and 0 labels"),
        (2, [0, 99], "a label is 99, expected 0 to"),
        (0, ["dog"], "there are labels but no images"),
    ],
)
def test_samples_that_do_not_fit_are_refused_and_no_page_is_written(tmp_path, count, labels, complaint):
    model = random_model()
    with pytest.raises(UserError, match=complaint):
        model.save_page(tmp_path / "page.html", pixels_for(model, count) if count else None, labels)
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("name", ["model.npz", "page", "page.htm"])
def test_a_page_has_the_name_of_a_page(tmp_path, name):
    model = random_model()
    model.save(tmp_path / "model.npz")
    before = (tmp_path / "model.npz").read_bytes()
    with pytest.raises(UserError, match=r"does not end in \.html"):
        model.save_page(tmp_path / name)
    assert [each.name for each in tmp_path.iterdir()] == ["model.npz"]
    assert (tmp_path / "model.npz").read_bytes() == before
