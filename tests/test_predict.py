"""Predicting with a run or with published weights: classes, attention, folders, and what cannot be read."""

import io
import json
import os
import re
import sys

import numpy as np
import pytest
from PIL import Image

from tests.pretrained.checkpoints import random_model
from tests.tiny_runs import assert_one_line
from tinyvit import export, predict
from tinyvit.model import initialise, preset
from tinyvit.pretrained.imagenet import imagenet_classes
from tinyvit.pretrained.load import save_official
from tinyvit.pretrained.official import to_official


def picture(mode, size=(31, 25), colour=(200, 80, 80)):
    """A red picture with some noise in any of Pillow's modes."""
    noise = np.random.default_rng(0).integers(-40, 40, (size[1], size[0], 3))
    return Image.fromarray((noise + colour).clip(0, 255).astype(np.uint8)).convert(mode)


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "1", "CMYK", "LA", "I;16"])
@pytest.mark.parametrize("size", [(8, 8), (31, 25), (3, 200)])
def test_predict_reads_pictures_of_any_size_and_mode(go, trained, tmp_path, mode, size):
    path = tmp_path / ("a.tif" if mode == "CMYK" else "a.png")
    picture(mode, size).save(path)
    status, out, err = go(predict, trained, path, "--fit", "pad")
    assert (status, err) == (0, "")
    name, *lines = out.splitlines()
    assert name == str(path)
    shares = [float(re.fullmatch(r" +([\d.]+)%  (?:red|blue)", line)[1]) for line in lines]
    assert len(shares) == 2
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(100, abs=0.11)


def test_predict_tells_red_from_blue(go, trained, tmp_path):
    picture("RGB", colour=(160, 80, 80)).save(tmp_path / "r.png")
    picture("RGB", colour=(80, 80, 160)).save(tmp_path / "b.png")
    _, out, _ = go(predict, trained, tmp_path / "r.png", tmp_path / "b.png", "--top", "1")
    lines = out.splitlines()
    assert [line.split()[-1] for line in lines[1::2]] == ["red", "blue"]
    assert len(lines) == 4


@pytest.fixture
def drawn(monkeypatch):
    """What predict puts on its sheet of attention."""
    drawn, draw = [], predict._draw

    def listed(seen, path):
        drawn.extend(seen)
        draw(seen, path)

    monkeypatch.setattr(predict, "_draw", listed)
    return drawn


def test_predict_draws_the_attention(go, trained, tmp_path):
    for name in "ab":
        picture("RGB").save(tmp_path / f"{name}.png")
    status, out, _ = go(
        predict, trained, tmp_path / "a.png", tmp_path / "b.png", "--attention", tmp_path / "c.png"
    )
    assert status == 0
    assert out.endswith(f"wrote {tmp_path / 'c.png'}\n")
    with Image.open(tmp_path / "c.png") as sheet:
        assert sheet.format == "PNG"
        assert sheet.height > 2 * 256


def test_predict_without_a_usable_picture(go, trained, tmp_path):
    (tmp_path / "text.png").write_text("hello")
    picture("RGB").save(tmp_path / "whole.png")
    content = (tmp_path / "whole.png").read_bytes()
    (tmp_path / "half.png").write_bytes(content[: len(content) // 2])
    assert_one_line(go(predict, trained, tmp_path / "none.png"), "none.png does not exist")
    for name in ("text.png", "half.png"):
        assert_one_line(go(predict, trained, tmp_path / name), tmp_path / name, "cannot be read as an image")
    (tmp_path / "empty").mkdir()
    assert_one_line(go(predict, trained, tmp_path / "empty"), tmp_path / "empty", "contains no images")
    missing = tmp_path / "none" / "c.png"
    assert_one_line(go(predict, trained, tmp_path / "whole.png", "--attention", missing), "cannot write")
    assert not missing.parent.exists()
    assert_one_line(go(predict, trained), "IMAGE")


@pytest.fixture
def weights(tmp_path):
    """weights(CLASSES): an official file of an untrained model with a lively head."""

    def weights(classes):
        config = preset("nano/4", 8, classes)
        params = initialise(config)
        params["head.bias"] = np.random.default_rng(0).standard_normal(classes)
        save_official(tmp_path / f"{classes}.npz", config, params)
        return tmp_path / f"{classes}.npz", params["head.bias"].argsort()[::-1]

    return weights


def test_predict_with_published_weights_names_the_classes_of_imagenet(go, weights, tmp_path):
    picture("RGB").save(tmp_path / "a.png")
    path, order = weights(1000)
    status, out, err = go(predict, "--weights", path, tmp_path / "a.png", "--attention", tmp_path / "b.png")
    assert (status, err) == (0, "")
    name, *lines, wrote = out.splitlines()
    assert name == str(tmp_path / "a.png")
    assert [line.split("%  ")[1] for line in lines] == [imagenet_classes()[c] for c in order[:5]]
    assert wrote == f"wrote {tmp_path / 'b.png'}"


def test_predict_with_weights_of_other_classes_numbers_them(go, weights, tmp_path):
    for name in "ab":
        picture("RGB").save(tmp_path / f"{name}.png")
    path, order = weights(7)
    images = tmp_path / "a.png", tmp_path / "b.png"
    for words in ((*images, "--weights", path), (images[0], "--weights", path, images[1])):
        status, out, err = go(predict, *words, "--top", "2")
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[::3] == [str(image) for image in images]
        assert [line.split("%  ")[1] for line in lines[1:3]] == [f"class {c}" for c in order[:2]]


def test_predict_takes_a_run_as_weights_too(go, trained, tmp_path):
    picture("RGB").save(tmp_path / "a.png")
    assert go(predict, "--weights", trained, tmp_path / "a.png") == go(predict, trained, tmp_path / "a.png")


def test_predict_without_usable_weights(go, trained, tmp_path):
    picture("RGB").save(tmp_path / "a.png")
    assert_one_line(go(predict, "--weights", tmp_path / "none.npz", tmp_path / "a.png"), "none.npz")
    assert_one_line(go(predict, "--weights", "nonsense", tmp_path / "a.png"), "nonsense", "Ti_16-384")
    assert_one_line(go(predict, "--weights", trained), "IMAGE")
    assert_one_line(go(predict, tmp_path / "a.png"), "RUN IMAGE")


def test_a_model_looks_at_the_picture_in_another_resolution(go, tmp_path):
    picture("RGB").save(tmp_path / "a.png")
    config, params = random_model()
    params["head.weight"] *= 0.1  # lest it be sure of itself whatever it sees
    save_official(tmp_path / "w.npz", config, params)
    words = "--weights", tmp_path / "w.npz", tmp_path / "a.png"
    plain, larger, otherwise = (
        go(predict, *words, *flags)
        for flags in ((), ("--resolution", "16"), ("--resolution", "16", "--position-resize", "bicubic"))
    )
    assert plain[0] == larger[0] == otherwise[0] == 0
    assert len({plain[1], larger[1], otherwise[1]}) == 3
    assert_one_line(go(predict, *words, "--resolution", "18"), "18 x 18", "--resolution 16 or 20")


@pytest.fixture
def headless(tmp_path):
    """A file of weights without a head."""
    config, params = random_model()
    arrays = to_official(config, params)
    del arrays["head/kernel"], arrays["head/bias"]
    np.savez(tmp_path / "w.npz", **arrays)
    return tmp_path / "w.npz"


def test_a_model_without_a_head_names_no_classes(go, headless, tmp_path):
    picture("RGB").save(tmp_path / "a.png")
    words = "--weights", headless, tmp_path / "a.png"
    assert_one_line(go(predict, *words), "w.npz has no head", "--attention")
    assert_one_line(go(predict, *words, "--json", "--attention", tmp_path / "b.png"), "omit --json")
    assert_one_line(go(export, headless, tmp_path / "out"), "w.npz has no head")


def test_a_model_without_a_head_draws_what_it_attends_to(go, headless, drawn, tmp_path):
    picture("RGB").save(tmp_path / "a.png")
    picture("RGB").save(tmp_path / "b.png")
    words = tmp_path / "a.png", tmp_path / "b.png", "--attention", tmp_path / "c.png"
    assert go(predict, "--weights", headless, *words) == (0, f"wrote {tmp_path / 'c.png'}\n", "")
    assert [(one.photo.path.name, one.caption) for one in drawn] == [("a.png", ""), ("b.png", "")]
    assert (tmp_path / "c.png").is_file()


def test_images_of_the_same_file_name_are_told_apart_on_the_sheet(go, trained, tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        picture("RGB").save(tmp_path / name / "1.png")
    picture("RGB").save(tmp_path / "b" / "2.png")
    names = []
    monkeypatch.setattr(
        predict, "save_overlays", lambda rows, path: names.extend(row[0].name for row in rows)
    )
    assert go(predict, trained, tmp_path / "a", tmp_path / "b", "--attention", tmp_path / "c.png")[0] == 0
    assert names == [os.path.join("a", "1.png"), os.path.join("b", "1.png"), "2.png"]


def test_flags_that_make_no_sense(go, trained, tmp_path):
    picture("RGB").save(tmp_path / "a.png")
    words = trained, tmp_path / "a.png"
    assert_one_line(go(predict, *words, "--attention", tmp_path / "look.jpg"), "look.jpg", "end in .png")
    assert_one_line(go(predict, *words, "--position-resize", "bicubic"), "--resolution")
    assert_one_line(go(predict, *words, "--heads", "3"), "states that it has 4 heads")
    assert_one_line(go(predict, tmp_path / "a.png", tmp_path / "a.png"), "use --weights")


def test_flags_may_stand_among_the_words(go, trained, tmp_path):
    for name in "ab":
        picture("RGB").save(tmp_path / f"{name}.png")
    words = [trained, tmp_path / "a.png", tmp_path / "b.png"]
    plain = go(predict, *words, "--top", "1")
    assert plain[0] == 0
    for i in range(3):
        assert go(predict, *words[:i], "--top", "1", *words[i:]) == plain


def test_imagenet_has_a_thousand_names_in_their_usual_order():
    names = imagenet_classes()
    assert len(names) == 1000
    assert all(name == name.strip() and name for name in names)
    for c, name in {
        0: "tench",
        1: "goldfish",
        207: "golden retriever",
        281: "tabby",
        388: "giant panda",
    }.items():
        assert names[c].startswith(name)
    assert names[999].startswith("toilet tissue")


# Many images.


def make_folder(folder):
    """Images here and below, a file that is not an image, and a hidden one: the paths of the images."""
    paths = [folder / name for name in ("a.png", "b/1.png", "b/2.png", "c.png")]
    (folder / "b").mkdir(parents=True)
    for path in paths:
        picture("RGB").save(path)
    picture("RGB").save(folder / ".hidden.png")
    (folder / "notes.txt").write_text("hello")
    return paths


def test_a_folder_stands_for_the_images_in_it_and_below(go, trained, tmp_path):
    paths = make_folder(tmp_path / "p")
    status, out, err = go(predict, trained, tmp_path / "p", "--top", "1")
    assert status == 0
    assert out.splitlines()[::2] == [str(path) for path in paths]
    assert err == f"tinyvit.predict: {tmp_path / 'p'} contains 4 images; skipped 1 other file\n"
    assert go(predict, trained, *paths, "--top", "1")[:2] == (0, out)


def test_predict_continues_after_bad_files_and_says_which_and_why(go, trained, tmp_path):
    paths = make_folder(tmp_path)
    paths[1].write_text("not an image")
    paths[2].unlink()
    (tmp_path / "empty").mkdir()
    status, out, err = go(predict, trained, *paths, tmp_path / "empty", "--top", "1")
    assert status == 1
    assert out.splitlines()[::2] == [str(paths[0]), str(paths[3])]
    empty, text, gone, total = err.splitlines()
    assert text.startswith(f"tinyvit.predict: error: {paths[1]} cannot be read as an image")
    assert gone.startswith(f"tinyvit.predict: error: {paths[2]} does not exist")
    assert empty.startswith(f"tinyvit.predict: error: {tmp_path / 'empty'} contains no images")
    assert total == "tinyvit.predict: read 2 images; 3 could not be read"


def test_predict_has_failed_if_nothing_could_be_read(go, trained, tmp_path):
    sheet = tmp_path / "look.png"
    status, out, err = go(predict, trained, tmp_path / "a.png", tmp_path / "b.png", "--attention", sheet)
    assert (status, out) == (2, "")
    assert err.count(": error: ") == 2
    assert not sheet.exists()


def test_predictions_do_not_depend_on_the_batch(go, trained, tmp_path, monkeypatch):
    for i in range(7):
        picture("RGB", colour=(40 * i, 80, 255 - 40 * i)).save(tmp_path / f"{i}.png")
    (tmp_path / "3.png").write_text("not an image")
    at_once = go(predict, trained, tmp_path)
    monkeypatch.setattr(predict, "BATCH", 2)
    assert go(predict, trained, tmp_path) == at_once
    assert at_once[0] == 1
    assert len(at_once[1].splitlines()) == 6 * 3


def test_no_more_than_a_batch_of_images_is_read_at_a_time(go, trained, tmp_path, monkeypatch):
    make_folder(tmp_path)
    batches, read = [], predict.read_photos
    monkeypatch.setattr(predict, "BATCH", 3)
    monkeypatch.setattr(
        predict,
        "read_photos",
        lambda paths, *how, **more: batches.append(len(paths)) or read(paths, *how, **more),
    )
    assert go(predict, trained, tmp_path)[0] == 0
    assert batches == [3, 1]


def test_the_sheet_of_attention_holds_so_many_images_and_says_so(go, trained, drawn, tmp_path, monkeypatch):
    paths = make_folder(tmp_path / "p")
    paths[0].write_text("not an image")
    monkeypatch.setattr(predict, "BATCH", 2)
    monkeypatch.setattr(predict, "MOST_DRAWN", 2)
    status, out, _ = go(predict, trained, tmp_path / "p", "--attention", tmp_path / "look.png")
    assert status == 1
    assert out.endswith(f"wrote {tmp_path / 'look.png'} with the first 2 of 4 images\n")
    assert [one.photo.path.name for one in drawn] == ["1.png", "2.png"]
    assert out.count("%") == 3 * 2


def test_the_sheet_is_given_the_whole_photo_its_box_and_the_attention(go, trained, drawn, tmp_path):
    picture("RGB", (60, 30)).save(tmp_path / "wide.png")
    assert go(predict, trained, tmp_path / "wide.png", "--attention", tmp_path / "look.png")[0] == 0
    (one,) = drawn
    assert one.photo.whole.shape == (30, 60, 3)
    assert one.photo.box == (15, 0, 45, 30)
    assert one.attention.shape == (2, 2)
    assert one.attention.sum() == pytest.approx(1)
    assert re.fullmatch(r"(red|blue) [\d.]+%", one.caption)


# Fitting.


def test_much_that_is_cropped_away_is_said_in_one_line(go, trained, tmp_path):
    wide, wider, square = (tmp_path / f"{name}.png" for name in ("wide", "wider", "square"))
    picture("RGB", (40, 20)).save(wide)
    picture("RGB", (80, 20)).save(wider)
    picture("RGB", (30, 20)).save(square)  # loses a third, as most photos do
    say = "tinyvit.predict: cropping cut"
    assert go(predict, trained, square)[2] == ""
    assert go(predict, trained, square, wide)[2] == (
        f"{say} 50% off {wide}; with --fit pad the model sees all of it\n"
    )
    assert go(predict, trained, wide, wider, square)[2] == (
        f"{say} more than a third off 2 of 3 images, 75% off {wider}; "
        "with --fit pad the model sees all of them\n"
    )
    for fit in ("pad", "squash"):
        assert go(predict, trained, wide, wider, "--fit", fit)[2] == ""


def test_the_fit_reaches_the_model(go, trained, drawn, tmp_path):
    picture("RGB", (60, 30)).save(tmp_path / "a.png")
    for fit in ("crop", "pad", "squash"):
        go(predict, trained, tmp_path / "a.png", "--fit", fit, "--attention", tmp_path / "look.png")
    assert [one.photo.box for one in drawn] == [(15, 0, 45, 30), (0, -15, 60, 45), (0, 0, 60, 30)]
    assert_one_line(go(predict, trained, tmp_path / "a.png", "--fit", "stretch"), "crop", "pad", "squash")


# JSON.


def test_json_is_one_object_on_a_line_for_each_image(go, trained, tmp_path):
    make_folder(tmp_path)
    (tmp_path / "c.png").write_text("not an image")
    names = [str(tmp_path / name) for name in ("a.png", "b/1.png", "c.png")]
    status, out, err = go(predict, trained, *names, tmp_path / "none", "--json")
    assert status == 1
    first, second, third, fourth = map(json.loads, out.splitlines())
    assert [first["file"], second["file"], third["file"]] == names
    assert first["classes"] == second["classes"]
    assert {entry["class"]: entry["index"] for entry in first["classes"]} == {"blue": 0, "red": 1}
    shares = [entry["probability"] for entry in first["classes"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1, abs=2e-6)
    assert set(third) == {"file", "error"}
    assert "cannot be read as an image" in third["error"]
    assert "does not exist" in fourth["error"]
    assert err.count(": error: ") == 2


def test_json_prints_as_many_classes_as_asked_for(go, weights, tmp_path):
    picture("RGB").save(tmp_path / "a.png")
    path, order = weights(7)
    _, out, _ = go(predict, "--weights", path, tmp_path / "a.png", "--json", "--top", "3")
    assert [entry["index"] for entry in json.loads(out)["classes"]] == order[:3].tolist()
    assert json.loads(out)["classes"][0]["class"] == f"class {order[0]}"


def test_standard_output_is_for_json_alone(go, trained, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)  # import cupy fails: a note says so
    make_folder(tmp_path / "p")
    words = tmp_path / "p", "--json", "--device", "gpu", "--attention", tmp_path / "look.png"
    status, out, err = go(predict, trained, *words)
    assert status == 0
    assert [set(json.loads(line)) for line in out.splitlines()] == [{"file", "classes"}] * 4
    assert "CuPy" in err
    assert f"wrote {tmp_path / 'look.png'}\n" in err


# On a terminal.


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_is_shown_how_far_it_is_between_the_results(go, trained, tmp_path, monkeypatch):
    paths = make_folder(tmp_path)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr("tinyvit.shell.moving_line.REDRAW_SECONDS", 0)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(predict, "BATCH", 2)
    go(predict, trained, *paths, "--top", "1")
    rows = terminal.getvalue().split("\n")
    assert len(rows) == 2 * 4 + 1
    for row, path in zip(rows[:-1:2], paths, strict=True):
        assert row.split("\r")[-1] == str(path)
    assert "3/4" in rows[4]
    assert "predicting" in rows[4]
    assert "predicting" not in rows[6]
