"""Evaluating a run, class by class, as text, as JSON and as pictures."""

import csv
import json
import re
import shutil

import numpy as np
import pytest
from PIL import Image

from tests.tiny_runs import assert_one_line, metrics, tiny
from tinyvit import engine as engines
from tinyvit import evaluate, load, train
from tinyvit.api import Model
from tinyvit.data import Dataset, ImageSet
from tinyvit.data import folder as folder_module
from tinyvit.model import initialise, preset
from tinyvit.support.errors import UserError
from tinyvit.support.shell.predictions import csv_line
from tinyvit.training.run_data import check_classes
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings


def said(out):
    """Accuracy in percent, number of images, and the recall, the second of four figures, by class."""
    accuracy, count = re.search(r"accuracy ([\d.]+)%", out)[1], re.search(r"on (\d+) \w+ images", out)[1]
    by_class = re.findall(r"^(\w+) +[\d.]+% +([\d.]+)% +[\d.]+% +\d+$", out, re.MULTILINE)
    return float(accuracy), int(count), dict(by_class)


def test_evaluate_agrees_with_the_metrics(go, trained):
    records = metrics(trained)
    status, out, err = go(evaluate, trained, "--split", "validation")
    assert (status, err) == (0, "")
    accuracy, count, by_class = said(out)
    assert count == 8
    assert accuracy == pytest.approx(100 * max(record["val_accuracy"] for record in records), abs=0.01)
    assert by_class.keys() == {"red", "blue"}
    assert np.mean([float(share) for share in by_class.values()]) == pytest.approx(accuracy, abs=0.1)
    accuracy, count, _ = said(go(evaluate, trained, "--checkpoint", "last")[1])
    assert count == 8
    assert accuracy == pytest.approx(100 * records[-1]["test_accuracy"], abs=0.01)
    assert said(go(evaluate, trained, "--split", "train", "--threads", "2", "--device", "cpu")[1])[1] == 24


def test_evaluate_without_a_validation_split(go, photos, tmp_path):
    go(train, *tiny(photos, tmp_path / "run", "--epochs", "1"))
    assert_one_line(go(evaluate, tmp_path / "run", "--split", "validation"), "without a validation split")


def test_evaluate_accepts_data_that_were_moved_but_no_others(go, photos, trained, tmp_path):
    shutil.copytree(photos, tmp_path / "moved")
    assert go(evaluate, trained, "--data-dir", tmp_path / "moved")[1] == go(evaluate, trained)[1]
    (tmp_path / "moved" / "red").rename(tmp_path / "moved" / "pink")
    assert_one_line(
        go(evaluate, trained, "--data-dir", tmp_path / "moved"), "classes of the data", "--data-dir"
    )
    assert_one_line(go(evaluate, trained, "--data-dir", tmp_path / "nowhere"), "nowhere is not a folder")


def names(go, run, *flags):
    """The files that a run is judged on, and all that is said meanwhile."""
    status, out, err = go(evaluate, run, "--json", *flags)
    assert status == 0, err
    return [each["file"] for each in json.loads(out)["files"]], err


def test_photos_that_come_and_go_change_nothing_of_the_split(go, photos, trained, tmp_path):
    """A new draw would test on photos that were trained on. Names of a Mac are the same names."""
    before = {split: names(go, trained, "--split", split)[0] for split in ("train", "validation", "test")}
    more = shutil.copytree(photos, tmp_path / "more")
    new = [f"red/{name}.png" for name in ("0 copy", "a", "zz")]
    for name in new:
        Image.new("RGB", (8, 8), (len(name), 0, 0)).save(more / name)
    gone = before["train"][0], before["test"][0]
    for name in gone:
        (more / name).unlink()
    for split, files in before.items():
        found, said = names(go, trained, "--split", split, "--data-dir", more)
        assert found == [name for name in files if name not in gone]
        assert (
            f"since {trained} was trained, {more} has changed: 3 images new and left out (red/0 copy.png"
            in said
        )
        assert "2 images gone (" in said and all(name in said for name in (*new, *gone))
    assert "has changed" not in names(go, trained)[1]
    image = more / before["train"][1]
    Image.open(image).resize((9, 9)).save(image)
    assert "2 images gone" in names(go, trained, "--data-dir", more)[1]
    for name in before["test"][1:]:
        (more / name).unlink()
    assert_one_line(
        go(evaluate, trained, "--data-dir", more), "none of the images that the run was tested", "--split all"
    )


@pytest.mark.parametrize("kind", ["older", "changed", "damaged"])
def test_what_a_run_did_not_record_is_drawn_again_and_said(go, photos, trained, tmp_path, kind):
    """Older runs recorded only what they held out: these are the images that they are judged on."""
    run, more = shutil.copytree(trained, tmp_path / "run"), shutil.copytree(photos, tmp_path / "more")
    split = json.loads((run / "split.json").read_text())
    if kind == "older":
        (run / "split.json").write_text(json.dumps({part: split[part] for part in ("validation", "test")}))
    if kind == "damaged":
        (run / "split.json").write_text("{")
    Image.new("RGB", (8, 8)).save(more / "red" / "a.png" if kind != "changed" else more / split["train"][0])
    found, said = names(go, run, "--data-dir", more)
    assert f"the image files in {more} have changed since {run} was trained" in said
    assert ("may have been trained on" in said) == (kind == "damaged")
    assert (found == split["test"]) == (kind != "damaged")


@pytest.mark.parametrize("flags", [("--fraction", "0.5"), ("--only", "red,green")])
def test_photos_that_a_run_did_not_use_are_not_new(go, photos, tmp_path, flags):
    folder, run = shutil.copytree(photos, tmp_path / "p"), tmp_path / "run"
    for i in range(5):
        (folder / "green").mkdir(exist_ok=True)
        Image.new("RGB", (8, 8), (0, 9 * i, 0)).save(folder / "green" / f"{i}.png")
    assert go(train, *tiny(folder, run, "--epochs", "1", *flags))[0] == 0
    before = [names(go, run, "--split", split)[0] for split in ("train", "test")]
    Image.new("RGB", (8, 8), (9, 9, 9)).save(folder / "red" / "new.png")
    assert [names(go, run, "--split", split)[0] for split in ("train", "test")] == before
    assert "has changed: 1 image new and left out (red/new.png)\n" in names(go, run)[1]


def test_a_photo_that_is_new_in_the_users_own_test_folder_counts(go, photos, tmp_path):
    folder, run = tmp_path / "p", tmp_path / "run"
    shutil.copytree(photos, folder / "train")
    for name in ("red", "blue"):
        (folder / "test" / name).mkdir(parents=True)
        for i in range(3):
            (folder / "train" / name / f"{i}.png").rename(folder / "test" / name / f"{i}.png")
    assert go(train, *tiny(folder, run, "--epochs", "1", "--validation", "6"))[0] == 0
    held_out = names(go, run, "--split", "validation")[0]
    for part in ("train", "test"):
        Image.new("RGB", (8, 8), (9, len(part), 9)).save(folder / part / "red" / "new.png")
    found, said = names(go, run)
    assert len(found) == 7 and "test/red/new.png" in found
    assert "2 images new (test/red/new.png, train/red/new.png)" in said
    assert names(go, run, "--split", "validation")[0] == held_out


@pytest.mark.parametrize(
    ("classes", "difference"),
    [
        (("cat", "dog"), r"\(2\).*\(3\): 'emu' is missing\."),
        (("ant", "cat", "dog", "emu"), r"\(4\).*\(3\): 'ant' is new\."),
        (("cat", "cow", "emu"), r"\(3\).*\(3\): 'dog' is missing, and 'cow' is new\."),
        (("cat", "emu", "dog"), "their order differs: class 1 is 'emu' instead of 'dog'"),
    ],
)
def test_the_first_class_that_differs_is_named(tmp_path, classes, difference):
    run = RunFolder(tmp_path / "run")
    run.create(Settings(dataset="folder", model="nano/4"), preset("nano/4", 8, 3), ("cat", "dog", "emu"), 7)
    images = ImageSet(np.zeros((2, 8, 8, 3), np.uint8), np.zeros(2, np.int64))
    check_classes(run, Dataset("data", ("cat", "dog", "emu"), images, images))
    with pytest.raises(UserError, match=difference):
        check_classes(run, Dataset("data", classes, images, images))


def test_evaluate_when_something_is_missing(go, photos, tmp_path):
    shutil.copytree(photos, tmp_path / "photos")
    run = tmp_path / "run"
    assert go(train, *tiny(tmp_path / "photos", run, "--epochs", "1"))[0] == 0
    (run / "best.npz").unlink()
    assert_one_line(go(evaluate, run), "best.npz, but there is last.npz", "with --checkpoint last")
    shutil.move(tmp_path / "photos", tmp_path / "moved")
    assert_one_line(go(evaluate, run, "--checkpoint", "last"), "no longer in", "--data-dir")
    moved = ("--data-dir", tmp_path / "moved")
    assert go(evaluate, run, "--checkpoint", "last", *moved)[0] == 0


def test_evaluate_prints_json_that_agrees_with_the_text(go, trained):
    status, out, err = go(evaluate, trained, "--json")
    assert (status, err) == (0, "")
    result = json.loads(out)
    accuracy, count, by_class = said(go(evaluate, trained)[1])
    assert result["images"] == count == np.sum(result["confusion"])
    assert 100 * result["accuracy"] == pytest.approx(accuracy, abs=0.01)
    assert (result["run"], result["checkpoint"], result["split"]) == (str(trained), "best", "test")
    for i, a_class in enumerate(result["classes"]):
        assert 100 * a_class["accuracy"] == pytest.approx(float(by_class[a_class["name"]]), abs=0.1)
        assert a_class["images"] == sum(result["confusion"][i])
        assert a_class["accuracy"] == result["confusion"][i][i] / a_class["images"] == a_class["recall"]
    assert f"loss {result['loss']:.4f}" in go(evaluate, trained)[1]


def test_confusion_rows_are_what_an_image_is(go, photos, trained, tmp_path):
    shutil.copytree(photos, tmp_path / "swapped")
    for image in (tmp_path / "swapped" / "red").iterdir():  # all that is called red is blue
        shutil.copyfile(photos / "blue" / image.name, image)
    status, out, _ = go(evaluate, trained, "--split", "train", "--json", "--data-dir", tmp_path / "swapped")
    assert status == 0
    result = json.loads(out)
    red = [a_class["name"] for a_class in result["classes"]].index("red")
    assert result["confusion"][red][red] < result["confusion"][red][1 - red]


def test_precision_f1_interval_and_calibration_are_those_of_the_answers(go, trained):
    out = go(evaluate, trained)[1]
    result = json.loads(go(evaluate, trained, "--json")[1])
    confusion = np.array(result["confusion"])
    heading, *rows = out.partition("\n\n")[0].splitlines()
    assert heading.split() == ["precision", "recall", "F1", "images"]
    counts = [int(row.split()[-1]) for row in rows]
    assert counts == [*(a_class["images"] for a_class in result["classes"]), result["images"]]
    table = {
        row.rsplit(maxsplit=4)[0]: [float(cell.strip("%")) for cell in row.split()[-4:-1]] for row in rows
    }
    for c, a_class in enumerate(result["classes"]):
        precision = confusion[c, c] / confusion[:, c].sum()
        f1 = 2 / (1 / precision + 1 / a_class["recall"])
        assert (a_class["precision"], a_class["f1"]) == pytest.approx((precision, f1))
        shown = [100 * share for share in (precision, a_class["recall"], f1)]
        assert table[a_class["name"]] == pytest.approx(shown, abs=0.051)
    means = [
        np.mean([a_class[key] for a_class in result["classes"]]) for key in ("precision", "recall", "f1")
    ]
    assert [*result["macro_mean"].values()] == pytest.approx(means)
    assert table["macro mean"] == pytest.approx([100 * mean for mean in means], abs=0.051)
    low, high = result["accuracy_interval"]
    assert f"% (95% interval {100 * low:.2f} to {100 * high:.2f}), loss" in out  # of 8 images
    assert result["top_5_accuracy"] is None and "top-5" not in out  # of two classes
    used = [each for each in result["reliability"] if each["images"]]
    assert sum(each["images"] for each in used) == result["images"]
    assert all(each["from"] < each["confidence"] <= each["to"] for each in used)
    gaps = [each["images"] / 8 * abs(each["accuracy"] - each["confidence"]) for each in used]
    assert result["calibration_error"] == pytest.approx(sum(gaps))
    assert out.endswith(f", calibration error {100 * sum(gaps):.2f}%\n")


def test_many_classes_have_a_top_5_and_one_without_images_has_no_recall(go, photos, tmp_path):
    config = preset("nano/4", 8, 7)
    params = initialise(config)
    params["head.bias"][...] = np.arange(7)  # the last is always the answer, the first two never in the top 5
    names = ["red", "blue", "a", "b", "c", "d", "e"]
    Model(config, params, names).save(tmp_path / "model.npz")
    flags = "--weights", tmp_path / "model.npz", "--data-dir", tmp_path / "photos"
    for name in ("red", "a", "e"):
        (tmp_path / "photos" / name).mkdir(parents=True)
        shutil.copy(photos / "red" / "0.png", tmp_path / "photos" / name / f"{name}.png")
    status, out, _ = go(evaluate, *flags)
    assert status == 0 and "accuracy 33.33% (95% interval 6.15 to 79.23), top-5 66.67%, loss" in out
    result = json.loads(go(evaluate, *flags, "--json")[1])
    assert result["top_5_accuracy"] == 2 / 3
    assert [a_class["recall"] for a_class in result["classes"]] == [0, None, 0, None, None, None, 1]
    assert [a_class["precision"] for a_class in result["classes"]] == [None] * 6 + [1 / 3]
    assert re.search(r"^blue +- +- +- +0$", out, re.M) and re.search(r"^red +- +0.0% +0.0% +1$", out, re.M)


def test_csv_has_a_row_for_each_image_which_can_be_filtered(go, photos, trained, tmp_path):
    table = tmp_path / "answers.csv"
    status, out, _ = go(evaluate, trained, "--split", "train", "--csv", table)
    assert status == 0 and out.startswith(f"wrote {table}\n")
    with open(table, encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    files = json.loads(go(evaluate, trained, "--split", "train", "--json")[1])["files"]
    assert [row["image"] for row in rows] == [each["file"] for each in files]
    for row, each in zip(rows, files, strict=True):
        assert (row["class"], row["predicted"]) == (each["class"], each["predicted"])
        assert float(row["probability"]) == pytest.approx(each["probability"], abs=1e-6)
        assert float(row["probability"]) + float(row["probability_2"]) == pytest.approx(1, abs=2e-6)
        assert {row["predicted"], row["predicted_2"]} == {"red", "blue"}
        assert row["answer"] == ("right" if row["class"] == row["predicted"] else "wrong")
    assert len(table.read_text("utf-8").splitlines()) == 25
    assert go(evaluate, trained, "--csv", table)[0] == 0  # its own table is replaced
    assert len(table.read_text("utf-8").splitlines()) == 9


def test_csv_names_images_without_files_by_number_and_quotes_commas(go, few_shapes, tmp_path):
    flags = ("--dataset", "shapes", "--steps", "1", "--model", "nano/8", "--width", "16", "--layers", "1")
    assert go(train, *flags, "--out", tmp_path / "run")[0] == 0
    assert go(evaluate, tmp_path / "run", "--csv", tmp_path / "a.csv")[0] == 0
    with open(tmp_path / "a.csv", encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [row["image"] for row in rows] == [str(i) for i in range(few_shapes)]
    top = [[row["predicted"], *(row[f"predicted_{i}"] for i in range(2, 6))] for row in rows]
    assert {len(set(names)) for names in top} == {5}
    assert csv_line(["a,b", 'c"', "d\ne", "f\rg"]) == '"a,b","c""","d\ne","f\rg"'


def test_csv_never_replaces_the_users_own(go, trained, tmp_path):
    for content in ("", "image,class\n", "my,own,table\n"):
        (tmp_path / "a.csv").write_text(content)
        assert_one_line(go(evaluate, trained, "--csv", tmp_path / "a.csv"), "a.csv' exists", "another name")
        assert (tmp_path / "a.csv").read_text() == content
    assert_one_line(go(evaluate, trained, "--csv", tmp_path / "a.txt"), "end in .csv")
    assert_one_line(go(evaluate, trained, "--csv", tmp_path / "none" / "a.csv"), "there is no folder")


@pytest.mark.parametrize("as_json", [False, True])
def test_evaluate_draws_the_confusion_and_the_mistakes(as_json, go, trained, tmp_path):
    flags = ["--confusion", tmp_path / "c.png", "--mistakes", tmp_path / "m.png"]
    flags += ["--reliability", tmp_path / "r.png"]
    status, out, err = go(evaluate, trained, *flags, *(["--json"] if as_json else []))
    assert status == 0
    for name in ("c.png", "m.png", "r.png"):
        with Image.open(tmp_path / name) as picture:
            assert picture.format == "PNG"
    wrote = "".join(f"wrote {tmp_path / name}\n" for name in ("c.png", "m.png", "r.png"))
    if as_json:
        assert json.loads(out)["images"] == 8
        assert err == wrote
    else:
        assert out.startswith(wrote)
        assert err == ""


def test_the_mistakes_are_the_surest_ones_and_no_more_than_asked_for(
    go, photos, trained, tmp_path, monkeypatch
):
    drawn = {}
    monkeypatch.setattr(evaluate, "draw_mistakes", lambda mistakes, *args: drawn.update(mistakes=mistakes))
    monkeypatch.setattr(evaluate, "MISTAKES", 5)
    shutil.copytree(photos, tmp_path / "photos")
    for i in range(20):  # every image under the wrong name: almost all are mistakes
        red, blue = (tmp_path / "photos" / name / f"{i}.png" for name in ("red", "blue"))
        red.rename(tmp_path / "red.png")
        blue.rename(red)
        (tmp_path / "red.png").rename(blue)
    flags = "--split", "train", "--data-dir", tmp_path / "photos", "--mistakes", tmp_path / "m.png"
    assert go(evaluate, trained, *flags)[0] == 0
    mistakes = drawn["mistakes"]
    assert len(mistakes) == 5
    sureness = [mistake.probability for mistake in mistakes]
    assert sureness == sorted(sureness, reverse=True)
    assert sureness[-1] > 0.5
    for mistake in mistakes:
        assert {mistake.said, mistake.truth} == {"red", "blue"}
        assert mistake.image.shape == (8, 8, 3)
        channels = mistake.image.mean(axis=(0, 1))
        assert (mistake.said == "red") == (channels[0] > channels[2])  # the picture is the one it speaks of


def test_pictures_that_cannot_be_drawn_are_one_line(go, trained, tmp_path, monkeypatch):
    assert_one_line(go(evaluate, trained, "--confusion", tmp_path / "c.jpg"), "c.jpg", "end in .png")
    missing = tmp_path / "none" / "m.png"
    assert_one_line(go(evaluate, trained, "--mistakes", missing), "cannot write", "no folder")
    monkeypatch.setattr(evaluate, "MOST_CLASSES", 1)
    words = "--confusion draws 2 to 1 classes", "has 2", "--json"
    assert_one_line(go(evaluate, trained, "--confusion", tmp_path / "c.png"), *words)


def test_flip_is_off_unless_asked_for_and_then_said(go, trained):
    plain, flipped = go(evaluate, trained)[1], go(evaluate, trained, "--flip")[1]
    assert "mirror" not in plain
    assert "best.npz on 8 test images, each averaged with its mirror image: accuracy " in flipped
    losses = [float(re.search(r"loss ([\d.]+)", out)[1]) for out in (plain, flipped)]
    results = [json.loads(go(evaluate, trained, "--json", *more)[1]) for more in ([], ["--flip"])]
    assert [result["flip"] for result in results] == [False, True]
    assert results[0]["loss"] != results[1]["loss"]
    assert [result["loss"] for result in results] == pytest.approx(losses, abs=1e-4)


@pytest.fixture
def labelled(photos, tmp_path):
    """The photos of two classes, in folders of which one is deeper; one photo is damaged."""
    folder = tmp_path / "labelled"
    shutil.copytree(photos / "red", folder / "red" / "deeper")
    shutil.copytree(photos / "blue", folder / "blue")
    (folder / "blue" / "bad.png").write_text("not an image")
    return folder


def test_a_folder_with_labels_is_judged_whole_and_by_names(go, trained, labelled, tmp_path):
    flags = ("--data-dir", labelled, "--split", "all")
    status, out, _ = go(evaluate, trained, *flags)
    images = sum(path.suffix == ".png" for path in labelled.rglob("*")) - 1
    assert status == 0 and f"best.npz on {images} images: accuracy" in out
    assert "left out: " in out and "bad.png cannot be read" in out
    result = json.loads(go(evaluate, trained, *flags, "--json", "--mistakes", tmp_path / "m.png")[1])
    assert len(result["files"]) == images == result["images"]
    assert {(labelled / each["file"]).is_file() for each in result["files"]} == {True}
    for each in result["files"]:
        assert each["class"] == each["file"].split("/")[0]
    right = sum(each["class"] == each["predicted"] for each in result["files"])
    assert result["accuracy"] == right / images
    model = load(trained)
    probabilities = model.probabilities([labelled / each["file"] for each in result["files"]])
    assert [model.names[c] for c in probabilities.argmax(1)] == [
        each["predicted"] for each in result["files"]
    ]


def test_a_folder_is_judged_in_batches(go, photos, trained, labelled, tmp_path, monkeypatch):
    """However many photos there are, few are decoded at a time; damaged ones may be anywhere."""
    for name in ("a.png", "zz.png"):
        (labelled / "red" / name).write_text("not an image")
    flags = ("--data-dir", labelled, "--split", "all", "--json", "--mistakes", tmp_path / "m.png")
    expected = go(evaluate, trained, *flags)
    read, at_a_time = folder_module.read_photos, []
    monkeypatch.setattr(engines, "images_at_a_time", lambda config: 3)
    monkeypatch.setattr(
        folder_module,
        "read_photos",
        lambda files, *how, **more: read(at_a_time.append(files := list(files)) or files, *how, **more),
    )
    result, again = (json.loads(each[1]) for each in (expected, go(evaluate, trained, *flags)))
    assert result["loss"] == pytest.approx(again.pop("loss")) and result.pop("loss")
    assert max(map(len, at_a_time)) == 3 and sum(map(len, at_a_time)) >= 43
    assert [each["file"] for each in result["files"]] == [each["file"] for each in again["files"]]
    assert result["images"] == again["images"] == 40 and result["confusion"] == again["confusion"]
    for path in labelled.rglob("*.png"):
        path.write_text("not an image")
    assert_one_line(
        (2, "", go(evaluate, trained, *flags)[2].splitlines(True)[-1]), "none of the 43 images can be read"
    )


def test_photos_that_are_nearly_all_dark_are_said(go, trained, labelled):
    """As of a camera with 12 bits that were saved as 16."""
    flags = ("--data-dir", labelled, "--split", "all")
    assert "are dark" not in "".join(map(str, go(evaluate, trained, *flags)))
    for path in labelled.rglob("[0-9]*.png"):
        Image.fromarray(np.full((9, 9), 4095, np.uint16)).save(path)
    status, *said = go(evaluate, trained, *flags)
    assert status == 0 and "the images are dark: hardly a pixel is above 16, and white" in "".join(said)


def test_what_is_in_no_class_of_a_folder_with_labels_is_said(go, photos, trained, labelled):
    shutil.copy(photos / "red" / "0.png", labelled / "loose.png")
    try:
        (labelled / "red" / "gone.png").symlink_to(labelled / "nowhere.png")
    except OSError:
        pytest.skip("this system does not let us make links")
    out = go(evaluate, trained, "--data-dir", labelled, "--split", "all")[1]
    assert "has 1 image beside its folders, in no class" in out and "gone.png: a link to nothing" in out


def test_weights_are_judged_on_a_folder_with_labels(go, trained, labelled, tmp_path):
    load(trained).save(tmp_path / "model.npz")
    given = ("--weights", tmp_path / "model.npz")
    status, out, _ = go(evaluate, *given, "--data-dir", labelled)
    expected = go(evaluate, trained, "--data-dir", labelled, "--split", "all")[1]
    assert status == 0 and out.split(" on ")[-1] == expected.split(" on ")[-1]
    assert go(evaluate, given[1], "--data-dir", labelled)[:2] == (0, out)  # in the place of a run, too
    assert_one_line(go(evaluate, *given), "weights without a run need --data-dir DIR as well")
    assert_one_line(go(evaluate, trained, *given, "--data-dir", labelled), "expected RUN or --weights FILE")
    (labelled / "red").rename(labelled / "pink")
    assert_one_line(go(evaluate, *given, "--data-dir", labelled), "a folder 'pink'", "'blue'", "rename it")


def test_answers_that_are_no_numbers_are_not_judged(go, trained, labelled, tmp_path):
    model = load(trained)
    model.params["norm.weight"][:] = 3e38
    model.params["head.weight"][:] = 9
    model.save(tmp_path / "model.npz")
    given = ("--weights", tmp_path / "model.npz", "--data-dir", labelled, "--csv", tmp_path / "a.csv")
    assert_one_line(go(evaluate, *given), "the model's answer is not a number")
    assert not (tmp_path / "a.csv").exists()


def test_at_another_resolution_the_photos_of_a_run_are_read_at_that_size(go, photos, trained, tmp_path):
    rng, photos = np.random.default_rng(0), shutil.copytree(photos, tmp_path / "photos")
    for path in photos.glob("*/*"):
        Image.fromarray(rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)).save(path)
    given = ("--data-dir", photos, "--resolution", "16", "--json")
    found = json.loads(go(evaluate, trained, *given)[1])["files"]
    model = load(trained).at_resolution(16)
    expected = model.probabilities([photos / each["file"] for each in found]).max(axis=1)
    np.testing.assert_allclose([each["probability"] for each in found], expected, atol=1e-5)


def test_a_run_on_other_data_is_judged_on_a_folder_with_labels(go, photos, few_shapes, tmp_path):
    flags = ("--dataset", "shapes", "--steps", "1", "--model", "nano/8", "--width", "16", "--layers", "1")
    assert go(train, *flags, "--out", tmp_path / "run")[0] == 0
    shutil.copytree(photos / "red", tmp_path / "photos" / "star")
    status, out, _ = go(evaluate, tmp_path / "run", "--data-dir", tmp_path / "photos")
    assert status == 0 and "images: accuracy" in out and "star" in out


def test_the_files_of_the_test_images_of_a_run_are_named(go, photos, trained):
    result = json.loads(go(evaluate, trained, "--json")[1])
    assert len(result["files"]) == result["images"]
    assert all((photos / each["file"]).is_file() for each in result["files"])
