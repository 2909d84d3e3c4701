"""Predicting folders and many images: in batches, with bad files among them, as JSON, on a terminal."""

import csv
import io
import json
import re
import sys

import pytest

from tests.predict.pictures import make_folder, picture
from tests.tiny_runs import assert_one_line
from tinyvit import predict, visualize

# Many images.


def test_a_folder_stands_for_the_images_in_it_and_below(go, trained, tmp_path):
    paths = make_folder(tmp_path / "p")
    status, out, err = go(predict, trained, tmp_path / "p", "--top", "1")
    assert status == 0
    assert out.splitlines()[::2] == [str(path) for path in paths]
    assert err == f"tinyvit.predict: {tmp_path / 'p'} contains 4 images; skipped 1 other file\n"
    assert go(predict, trained, *paths, "--top", "1")[:2] == (0, out)


def test_links_to_folders_are_followed_as_the_help_says(go, trained, tmp_path):
    paths = make_folder(tmp_path / "p")
    try:
        (tmp_path / "p" / "link").symlink_to(paths[1].parent, target_is_directory=True)
        (tmp_path / "p" / "link" / "back").symlink_to(tmp_path / "p", target_is_directory=True)
    except OSError:
        pytest.skip("this system does not let us make links")
    assert "contains 6 images; skipped 3 other files" in go(predict, trained, tmp_path / "p")[2]
    for command in (predict, visualize):
        assert "links to folders are followed" in " ".join(go(command, "--help")[1].split())


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


def test_the_attention_sheet_has_a_limit_and_says_so(go, trained, drawn, tmp_path, monkeypatch):
    paths = make_folder(tmp_path / "p")
    paths[0].write_text("not an image")
    monkeypatch.setattr(predict, "BATCH", 2)
    monkeypatch.setattr(predict, "MOST_DRAWN", 2)
    status, out, _ = go(predict, trained, tmp_path / "p", "--attention", tmp_path / "look.png")
    assert status == 1
    assert out.endswith(f"wrote {tmp_path / 'look.png'} with the first 2 of 3 images\n")
    assert [one.photo.path.name for one in drawn] == ["1.png", "2.png"]
    assert out.count("%") == 3 * 2
    paths[1].write_text("not an image")
    out = go(predict, trained, tmp_path / "p", "--attention", tmp_path / "look.png")[1]
    assert out.endswith(f"wrote {tmp_path / 'look.png'}\n")


def test_the_sheet_is_given_the_whole_photo_its_box_and_the_attention(go, trained, drawn, tmp_path):
    picture("RGB", (60, 30)).save(tmp_path / "wide.png")
    assert go(predict, trained, tmp_path / "wide.png", "--attention", tmp_path / "look.png")[0] == 0
    (one,) = drawn
    assert one.photo.whole.shape == (30, 60, 3)
    assert one.photo.box == (15, 0, 45, 30)
    assert one.attention.shape == (2, 2)
    assert one.attention.sum() == pytest.approx(1)
    assert re.fullmatch(r"(red|blue) [\d.]+%", one.caption)


# JSON.


def test_json_is_one_object_on_a_line_for_each_image(go, trained, tmp_path):
    make_folder(tmp_path)
    (tmp_path / "c.png").write_text("not an image")
    names = [str(tmp_path / name) for name in ("a.png", "b/1.png", "c.png")]
    status, out, err = go(predict, trained, *names, tmp_path / "none", "--json")
    assert status == 1
    first, second, third, fourth = map(json.loads, out.splitlines())
    assert [first["file"], second["file"], third["file"]] == names
    for one, other in zip(first["classes"], second["classes"], strict=True):
        assert one == other | {"probability": pytest.approx(other["probability"], abs=2e-6)}
    assert {entry["class"]: entry["index"] for entry in first["classes"]} == {"blue": 0, "red": 1}
    shares = [entry["probability"] for entry in first["classes"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1, abs=2e-6)
    assert set(third) == {"file", "error"}
    assert "cannot be read as an image" in third["error"]
    assert "does not exist" in fourth["error"]
    assert err.count(": error: ") == 2


def test_json_prints_the_requested_number_of_classes(go, weights, tmp_path):
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


# CSV.


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def test_csv_is_a_file_with_a_row_for_each_image_that_can_be_read(go, trained, tmp_path):
    make_folder(tmp_path)
    (tmp_path / "c.png").write_text("not an image")
    names, table = [str(tmp_path / name) for name in ("a.png", "c.png", "b/1.png")], tmp_path / "t.csv"
    status, out, err = go(predict, trained, *names, "--json", "--csv", table)
    assert status == 1 and f"wrote {table}\n" in err and "c.png cannot be read as an image" in err
    assert table.read_text().partition("\n")[0] == "file,class,probability,class_2,probability_2"
    rows = read_csv(table)
    assert [row["file"] for row in rows] == [names[0], names[2]]
    for row, line in zip(rows, out.splitlines()[::2], strict=True):
        for entry, number in zip(json.loads(line)["classes"], ("", "_2"), strict=True):
            assert row[f"class{number}"] == entry["class"]
            assert float(row[f"probability{number}"]) == pytest.approx(entry["probability"], abs=1e-6)
    status, out, _ = go(predict, trained, names[0], "--csv", table, "--top", "1")  # its own table is replaced
    assert status == 0 and out.endswith(f"wrote {table}\n")
    assert table.read_text().startswith("file,class,probability\n")


def test_csv_never_takes_a_photo_or_the_users_own_table_for_its_file(go, trained, tmp_path):
    make_folder(tmp_path)
    (tmp_path / "a.csv").write_text("my,own\n")
    for words, expected in (
        (("--csv", tmp_path / "a.png"), "a.png' does not end in .csv"),
        (("--csv", tmp_path / "a.csv"), "a.csv' exists, and it is not a table of this command"),
        (("--csv", tmp_path / "none" / "a.csv"), "there is no folder"),
        (("--csv",), "--csv: expected one argument"),
    ):
        assert_one_line(go(predict, trained, tmp_path / "b" / "1.png", *words), expected)
    assert (tmp_path / "a.csv").read_text() == "my,own\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names")
@pytest.mark.parametrize("name", ["a, b.png", 'say "a".png', "two\nlines.png", "two\rlines.png", "ä\r\n.png"])
def test_csv_quotes_what_is_not_plain_in_a_name(go, trained, tmp_path, name):
    picture("RGB").save(tmp_path / name)
    assert go(predict, trained, tmp_path / name, "--csv", tmp_path / "t.csv")[0] == 0
    (row,) = read_csv(tmp_path / "t.csv")
    assert row["file"] == str(tmp_path / name)
    assert {row["class"], row["class_2"]} == {"red", "blue"}


# On a terminal.


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_is_shown_how_far_it_is_between_the_results(go, trained, tmp_path, monkeypatch):
    paths = make_folder(tmp_path)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr("tinyvit.support.shell.moving_line.REDRAW_SECONDS", 0)
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
