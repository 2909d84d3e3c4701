"""Predicting with a run or with published weights: classes, attention, flags, and what cannot be read."""

import io
import os
import re

import numpy as np
import pytest
from PIL import Image

from tests.predict.pictures import picture
from tests.tiny_runs import assert_one_line
from tests.weights.checkpoints import random_model
from tinyvit import export, predict
from tinyvit.model import initialise, preset
from tinyvit.weights.description import imagenet_classes
from tinyvit.weights.official import to_official
from tinyvit.weights.save import save_official


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


def test_predict_distinguishes_red_from_blue(go, trained, tmp_path):
    picture("RGB", colour=(160, 80, 80)).save(tmp_path / "r.png")
    picture("RGB", colour=(80, 80, 160)).save(tmp_path / "b.png")
    _, out, _ = go(predict, trained, tmp_path / "r.png", tmp_path / "b.png", "--top", "1")
    lines = out.splitlines()
    assert [line.split()[-1] for line in lines[1::2]] == ["red", "blue"]
    assert len(lines) == 4


def test_predict_says_that_pictures_are_dark(go, trained, tmp_path):
    Image.new("L", (9, 9), 16).save(tmp_path / "a.png")
    status, out, err = go(predict, trained, tmp_path / "a.png", "--attention", tmp_path / "b.png")
    assert status == 0 and "red" in out
    assert err == (
        "tinyvit.predict: the images are dark: hardly a pixel is above 16, and white is 255. "
        "If 16 is white in them, scale them by 255 / 16\n"
    )


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


def test_predict_takes_weights_in_the_place_of_a_run(go, trained, tmp_path):
    picture("RGB").save(tmp_path / "a.png")
    for model in (tmp_path / "model.npz", tmp_path / "folder"):
        assert go(export, trained, model)[0] == 0
        assert go(predict, model, tmp_path / "a.png") == go(predict, "--weights", model, tmp_path / "a.png")
    assert_one_line(
        go(predict, "Ti_16_384", tmp_path / "a.png"), "no folder Ti_16_384 (did you mean Ti_16-384?)"
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_weights_too_large_to_compute_with_are_refused_in_one_line(go, tmp_path, flags):
    config = preset("nano/4", 8, 2)
    params = initialise(config)
    params.flat[:] = 1e30
    save_official(tmp_path / "huge.npz", config, params)
    picture("RGB").save(tmp_path / "a.png")
    result = go(predict, "--weights", tmp_path / "huge.npz", tmp_path / "a.png", *flags)
    assert_one_line(result, "answer is not a number", "damaged", "Use another checkpoint")


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
    with pytest.warns(UserWarning, match=r"do not divide images of 18 x 18 pixels.* of 16 or 20\.$"):
        assert go(predict, *words, "--resolution", "18")[0] == 0
    assert_one_line(go(predict, *words, "--resolution", "3"), "3 x 3", "(--resolution) of 4")


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
    for flag in (("--json",), ("--csv", tmp_path / "a.csv")):
        assert_one_line(go(predict, *words, *flag, "--attention", tmp_path / "b.png"), f"omit {flag[0]}")
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


def test_the_attention_never_replaces_the_photo(go, trained, tmp_path):
    photo = tmp_path / "a.png"
    picture("RGB").save(photo)
    before = photo.read_bytes()
    assert_one_line(go(predict, trained, photo, "--attention", photo), "--attention", "choose another name")
    assert photo.read_bytes() == before
    for _ in range(2):
        assert go(predict, trained, photo, "--attention", tmp_path / "look.png")[0] == 0


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


# Fitting.


def test_cropping_much_of_a_photo_is_mentioned_in_one_line(go, trained, tmp_path):
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
    picture("RGB", (400, 1)).save(wide)
    assert f"{say} 99% off" in go(predict, trained, wide)[2]
    for fit in ("pad", "squash"):
        assert go(predict, trained, wide, wider, "--fit", fit)[2] == ""


def test_the_fit_reaches_the_model(go, trained, drawn, tmp_path):
    picture("RGB", (60, 30)).save(tmp_path / "a.png")
    for fit in ("crop", "pad", "squash"):
        go(predict, trained, tmp_path / "a.png", "--fit", fit, "--attention", tmp_path / "look.png")
    assert [one.photo.box for one in drawn] == [(15, 0, 45, 30), (0, -15, 60, 45), (0, 0, 60, 30)]
    assert_one_line(go(predict, trained, tmp_path / "a.png", "--fit", "stretch"), "crop", "pad", "squash")


def test_a_pattern_that_the_shell_left_alone_is_expanded(go, trained, tmp_path):
    for name in ("a1.png", "a2.png", "b.png", "[a].png"):
        picture("RGB").save(tmp_path / name)
    status, out, err = go(predict, trained, tmp_path / "a*.png", "--top", "1")
    assert (status, err) == (0, "")
    assert out.splitlines()[::2] == [str(tmp_path / "a1.png"), str(tmp_path / "a2.png")]
    assert go(predict, trained, tmp_path / "[a].png", "--top", "1")[1].splitlines()[0] == str(
        tmp_path / "[a].png"
    )
    assert_one_line(go(predict, trained, tmp_path / "c*.png"), "c*.png does not exist")


def test_a_photo_that_comes_in_through_a_pipe_is_read(go, trained, tmp_path, monkeypatch):
    picture("RGB").save(tmp_path / "a.png")
    content = (tmp_path / "a.png").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    piped, named = go(predict, trained, "-")[1], go(predict, trained, tmp_path / "a.png")[1]
    assert piped.splitlines() == ["-", *named.splitlines()[1:]]


def test_an_address_is_refused_in_a_sentence_that_says_how(go, trained):
    assert_one_line(
        go(predict, trained, "https://a.org/b c.jpg"), "curl -L 'https://a.org/b c.jpg' | python -m"
    )


def test_files_are_written_even_if_the_reader_of_the_predictions_leaves(trained, tmp_path, monkeypatch):
    for name in "ab":
        picture("RGB").save(tmp_path / f"{name}.png")

    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    words = [trained, tmp_path / "a.png", tmp_path / "b.png"]
    words += ["--csv", tmp_path / "c.csv", "--attention", tmp_path / "d.png"]
    args = predict.parser().parse_args([*map(str, words)])
    monkeypatch.setattr("sys.stdout", Closed())
    with pytest.raises(BrokenPipeError):  # once everything is written
        predict.main(args)
    assert len((tmp_path / "c.csv").read_text().splitlines()) == 3 and (tmp_path / "d.png").exists()
