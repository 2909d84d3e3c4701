"""The pictures of `python -m tinyvit.visualize`, one by one, of runs, weights, hybrids and ResNets."""

import itertools
import json

import numpy as np
import pytest
from PIL import Image

import tinyvit
from tests.insight.pictures.drawn import Drawn
from tests.tiny_runs import assert_one_line
from tinyvit import visualize
from tinyvit.data.shapes import CLASSES, make_shapes
from tinyvit.insight.visualizing import PICTURES, examples_in, look_inside
from tinyvit.model import initialise
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings
from tinyvit.weights.checkpoint import Checkpoint, save_checkpoint

ATTENTION = ("distance", "rollout", "heads")


@pytest.fixture(scope="session")
def weights(tmp_path_factory):
    """Files of weights by name of the model, written when they are first asked for."""
    folder = tmp_path_factory.mktemp("weights")

    def written(name, **changes):
        path = folder / f"{name.replace('/', '-')}{'-'.join(map(str, changes.values()))}.npz"
        if not path.exists():
            tinyvit.preset(name, 32, 3, **changes).save(path)
        return path

    return written


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    """A folder with three photos, one of them in a folder below; it is also the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in" / "below").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for name, size in (("a", (40, 60)), ("b", (32, 32)), ("below/c", (90, 30))):
        Image.fromarray(rng.integers(0, 256, (*size, 3), dtype=np.uint8)).save(
            tmp_path / "in" / f"{name}.png"
        )
    return tmp_path / "in"


def test_a_run_shows_every_picture_of_its_own_test_images(go, tmp_path, monkeypatch):
    monkeypatch.setattr("tinyvit.training.run_data.load_dataset", few_shapes)
    run = shapes_run(tmp_path / "run")
    status, out, err = go(visualize, run, "--only", ",".join(PICTURES), "--images", 9)
    assert (status, err) == (0, "")
    some = {"heads": " with the first 8 of 9 images"}
    assert out.splitlines() == [f"wrote {run / name}.png{some.get(name, '')}" for name in PICTURES]
    for name in PICTURES:
        with Image.open(run / f"{name}.png") as picture:
            assert min(picture.size) > 300
    assert not (run / "inside.png").exists()
    numbers = json.loads(go(visualize, run, "--json", "--images", 9)[1])
    assert [len(numbers[name]["images"]) for name in ("rollout", "heads")] == [9, 8]
    assert go(visualize, run, "--only", "distance", "--out", tmp_path / "d.png")[0] == 0
    assert (tmp_path / "d.png").is_file()


def test_json_has_the_numbers_that_python_gives(go, weights, pictures):
    path = weights("nano/8")
    status, out, err = go(visualize, path, "--json", "--images", pictures)
    assert (status, err) == (0, "")
    numbers, model = json.loads(out), tinyvit.load(path)
    assert list(numbers) == list(PICTURES)
    files = [pictures / name for name in ("a.png", "b.png", "below/c.png")]
    distance = numbers["distance"]
    np.testing.assert_allclose(distance["pixels"], model.attention_distance(files).mean(axis=0), rtol=1e-4)
    assert distance["uniform"] == pytest.approx(model.uniform_distance(), rel=1e-4)
    assert distance["images"] == 3
    for picture, expected in (("rollout", model.rollout(files)), ("heads", model.head_maps(files))):
        assert [one["name"] for one in numbers[picture]["images"]] == ["a.png", "b.png", "c.png"]
        got = [one["shares"] for one in numbers[picture]["images"]]
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(numbers["positions"]["similarity"], model.position_similarity(), atol=1e-4)
    np.testing.assert_allclose(numbers["filters"]["filters"], model.filters(), atol=1e-4)
    strengths = np.linalg.svd(model.params["patch.weight"], compute_uv=False)[:28]
    np.testing.assert_allclose(numbers["filters"]["singular_values"], strengths, rtol=1e-4)
    assert not list(pictures.parent.glob("*.png"))


@pytest.mark.parametrize(
    ("name", "changes"),
    [("R5+nano/4", {}), ("nano/8", {"pool": "mean"}), ("nano/8", {"layers": 1, "heads": 1})],
)
def test_every_kind_of_model_has_every_picture(go, weights, pictures, name, changes):
    flags = ("--only", ",".join(PICTURES), "--images", pictures / "b.png")
    status, out, err = go(visualize, weights(name, **changes), *flags)
    assert (status, err) == (0, "")
    assert out.splitlines() == [f"wrote {picture}.png" for picture in PICTURES]


@pytest.mark.parametrize(
    ("position", "at", "key"),
    [
        ("2d", "stem", "similarity"),
        ("1d", "shared", "similarity"),
        ("2d", "blocks", "similarity"),
        ("sincos", "stem", "similarity"),
        ("relative", "blocks", "offset_scores"),
        ("relative", "shared", "offset_scores"),
    ],
)
def test_every_kind_of_position_is_shown_without_images(go, weights, pictures, position, at, key):
    path = weights("nano/8", position=position, position_at=at)
    status, out, err = go(visualize, path, "--only", "positions")
    assert (status, out, err) == (0, "wrote positions.png\n", "")
    _, out, _ = go(visualize, path, "--json", "--only", "positions")
    shape = np.shape(json.loads(out)["positions"][key])
    grids = {"offset_scores": (4, 4, 7, 7)}.get(key, (4,) * 4)
    assert shape == ((4, *grids) if (key, at) == ("similarity", "blocks") else grids)


@pytest.mark.parametrize(
    ("name", "changes", "picture", "words"),
    [
        ("nano/8", {}, "heads", "what the class token draws from each patch"),
        ("nano/8", {"pool": "mean"}, "heads", "what the average patch draws from each patch"),
        ("nano/8", {"predicts": "patches"}, "heads", "what the average patch draws from each patch"),
        (
            "nano/8",
            {"pool": "both"},
            "heads",
            "what the mean of class token and average patch draws from each patch",
        ),
        ("nano/8", {}, "filters", "patch embedding"),
        ("R5+nano/4", {}, "filters", "root of the ResNet"),
        ("R5+nano/4", {}, "inside", "root of the ResNet"),
        ("nano/8", {}, "positions", "position embedding"),
        ("nano/8", {"position": "sincos", "position_at": "stem"}, "positions", "position embedding, fixed"),
        ("nano/8", {"position": "relative", "position_at": "blocks"}, "positions", "relative positions"),
        (
            "nano/8",
            {"position": "relative", "position_at": "shared"},
            "positions",
            "relative positions, one table for all blocks",
        ),
    ],
)
def test_a_picture_names_the_part_of_the_model_that_it_shows(
    go, weights, pictures, monkeypatch, name, changes, picture, words
):
    drawn = Drawn(monkeypatch)
    flags = [] if picture == "inside" else ["--only", picture]
    flags += ["--images", pictures / "b.png"] if picture == "heads" else []
    assert go(visualize, weights(name, **changes), *flags)[::2] == (0, "")
    assert words in drawn.words()


def test_what_has_no_meaning_is_said_in_one_line(go, weights, pictures):
    resnet, blind = weights("resnet-nano"), weights("nano/8", position="none")
    why = "a ResNet has neither positions nor attention"
    status, out, _ = go(visualize, resnet, "--only", "filters,rollout,heads", "--images", pictures)
    assert (status, out) == (0, f"no rollout or heads: {why}\nwrote filters.png\n")
    for picture in ("positions", *ATTENTION):
        assert_one_line(go(visualize, resnet, "--only", picture), f"no {picture}: {why}")
    status, out, err = go(visualize, resnet, "--json")
    assert (status, list(json.loads(out))) == (0, ["filters"])
    assert err == f"no positions or distance or rollout or heads: {why}\n"
    assert_one_line(go(visualize, blind, "--only", "positions"), "no positions: with position none")
    biased = weights("nano/8", position="bias")
    status, out, err = go(visualize, biased, "--json")
    assert (status, list(json.loads(out))) == (0, ["filters"])
    assert err.startswith("no positions: with position bias, no vector belongs to a patch\n")
    assert "it shows no positions: with position bias" in go(visualize, biased)[1]
    fixed = weights("nano/8", position="sincos", position_at="blocks")
    assert "every block has its own" not in go(visualize, fixed)[1]


def test_without_images_weights_show_what_needs_none(go, weights, pictures):
    path = weights("nano/8")
    status, out, err = go(visualize, path)
    assert (status, err) == (0, "")
    lacks = "it shows no attention: that takes images, given with --images FILE or FOLDER"
    assert out.splitlines() == ["wrote inside.png", lacks]
    assert_one_line(go(visualize, path, "--only", "rollout"), "no rollout: this takes images")
    assert go(visualize, path, "--images", pictures)[1] == "wrote inside.png\n"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--only", "rolout"), "'rolout' is not one of filters, positions"),
        (("--only", "filters,positions", "--out", "a.png"), "--out names one file for 2 pictures"),
        (("--json", "--out", "a.png"), "omit --out"),
        (("--images", "0"), "'0' is not a whole number of at least 1"),
        (("--images", "-3"), "-3"),
        (("--images", "4"), "is not a run and has no test images"),
        (("--images", "4", "in"), "not both"),
        (("--images", "in", "4"), "not both"),
        (("--images", "nothing.png"), "the image could not be read"),
        (("--images", "nothing.png", "neither.png"), "none of 2 images could be read"),
        (("--images", "empty"), "empty contains no images"),
        (
            ("--only", "filters,positions", "--images", "in"),
            "filters and positions show no images: omit --images",
        ),
    ],
)
def test_mistakes_have_one_line(go, weights, pictures, flags, said):
    (pictures.parent / "empty").mkdir()
    status, out, err = go(visualize, weights("nano/8"), *flags)
    assert (status, out) == (2, "")
    assert said in err.splitlines()[-1]
    assert not list(pictures.parent.glob("*.png"))


def test_an_image_that_cannot_be_read_is_reported_and_the_others_are_shown(go, weights, pictures):
    (pictures / "b.png").write_bytes(b"nothing")
    status, out, err = go(visualize, weights("nano/8"), "--json", "--only", "distance", "--images", pictures)
    assert (status, json.loads(out)["distance"]["images"]) == (0, 2)
    assert err.count("\n") == 1 and "b.png" in err


def test_broken_images_are_not_counted_among_those_that_are_not_drawn(go, weights, pictures, monkeypatch):
    monkeypatch.setitem(visualize.MOST, "rollout", 2)
    flags = (weights("nano/8"), "--only", "rollout", "--images", pictures)
    assert go(visualize, *flags)[1] == "wrote rollout.png with the first 2 of 3 images\n"
    (pictures / "a.png").write_bytes(b"nothing")
    assert go(visualize, *flags)[1] == "wrote rollout.png\n"


def test_of_many_images_all_count_for_distance_and_few_are_kept(weights, pictures):
    model = tinyvit.load(weights("nano/8"))
    examples = examples_in(model, [pictures / "a.png", pictures / "b.png"] * 20)
    shown = {"distance": examples.total, "rollout": 35, "heads": 3}
    insight = look_inside(model, examples.batches, shown)
    assert (insight.count, len(insight.maps["rollout"]), len(insight.maps["heads"])) == (40, 35, 3)
    assert len(insight.examples) == len(insight.captions) == 35
    two = model.attention_distance([pictures / "a.png", pictures / "b.png"])
    np.testing.assert_allclose(insight.distance, two.mean(axis=0), rtol=1e-4)
    batch = next(iter(examples_in(model, [pictures / "a.png", pictures / "b.png"]).batches))
    rest = (pytest.fail("no more than these are needed") for _ in range(1))
    first = look_inside(model, itertools.chain([batch], rest), {"distance": 1, "heads": 1, "rollout": 2})
    assert (first.count, len(first.maps["heads"]), len(first.maps["rollout"])) == (1, 1, 2)
    one = model.attention_distance([pictures / "a.png"])
    np.testing.assert_allclose(first.distance, one[0], rtol=1e-4)


def test_nothing_is_said_of_images_by_a_model_without_a_head(pictures):
    model = tinyvit.preset("nano/8", 32, 1)
    batches = examples_in(model, [pictures / "a.png", pictures / "b.png"]).batches
    assert look_inside(model, batches, {"heads": 2}).captions == ["", ""]


def shapes_run(path):
    """An untrained run on the built-in data."""
    config = tinyvit.preset("nano/8", 32, 10).config
    folder, params = RunFolder(path), initialise(config)
    folder.create(Settings(dataset="shapes", model="nano/8"), config, CLASSES, params.count)
    save_checkpoint(folder.best_path, Checkpoint(config, params))
    return path


def few_shapes(name, *_):
    """The built-in data with 20 test images, which are drawn faster than 10,000."""
    return make_shapes(train=10, test=20)
