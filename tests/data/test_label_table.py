"""Photos whose classes are in a table, as Kaggle ships them: its usual forms, and what can be wrong."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image

from tests.tiny_runs import assert_one_line
from tinyvit import evaluate, fewshot, train
from tinyvit.data import load_dataset
from tinyvit.support.errors import UserError

RED, BLUE = (200, 10, 10), (10, 10, 200)
ROWS = [(f"{number}.png", ("red", "blue")[number % 2]) for number in range(10)]


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "images"
    (folder / "more").mkdir(parents=True)
    for name, label in ROWS:
        Image.new("RGB", (9, 9), RED if label == "red" else BLUE).save(folder / name)
    for number in (1, 2):
        Image.new("RGB", (9, 9), RED).save(folder / "more" / f"{number}.jpg")
    return folder


@pytest.fixture
def load(pictures, tmp_path):
    """load(TEXT) of the pictures with a table of that text; load.notes is what was said."""

    def load(text, name="t.csv", **more):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        load.notes = []
        more = {"image_size": 8, "note": load.notes.append} | more
        return load_dataset("folder", pictures, labels=tmp_path / name, **more)

    return load


def text_of(rows, header="", delimiter=","):
    return "\n".join([header] * bool(header) + [delimiter.join(row) for row in rows]) + "\n"


STEMS = [(name.removesuffix(".png"), label) for name, label in ROWS]
SWAPPED = [(label, name) for name, label in ROWS]
WIDE = [("7", name, "x", label) for name, label in ROWS]


@pytest.mark.parametrize(
    "text",
    [
        text_of(ROWS),
        text_of(ROWS, "image,label"),
        text_of(ROWS, "Id,breed"),
        text_of(ROWS, "image_id,cultivar"),
        text_of(STEMS, "id,target"),
        text_of(STEMS),
        text_of(SWAPPED, "label,file"),
        text_of(SWAPPED, "class_name,anything"),
        text_of(WIDE, "number,file_name,note,category"),
        text_of(WIDE, "image_id,image,label_group,label"),
        text_of(ROWS, "filename\tclass", "\t").replace(",", "\t"),
        text_of(ROWS, "filename;class", ";"),
        text_of(ROWS, "filename,class").replace("\n", "\r\n"),
        "\ufeff" + text_of(ROWS, "image,label"),
        text_of(ROWS, '"image","label"').replace("red", '"red"'),
        text_of(ROWS, "image,label").replace(",red", ', "red"'),
        text_of(ROWS + ROWS[:3], "image,label"),
        text_of([(f" ./{name} ", f" {label} ") for name, label in ROWS]),
        text_of(ROWS, "image,label") + "\n\n , \n",
    ],
)
def test_every_usual_form_of_a_table(load, text):
    dataset = load(text)
    assert dataset.classes == ("blue", "red")
    assert len(dataset.train) == 8 and np.bincount(dataset.test.labels).tolist() == [1, 1]
    for part in (dataset.train, dataset.test):
        assert ((part.images[:, 4, 4, 0] > 99) == part.labels).all()
        assert [dict(ROWS)[name] for name in part.names] == [dataset.classes[c] for c in part.labels]
    assert set(dataset.left_out.values()) == {"it is not in the table"}
    assert "10 images of 2 classes, 8 to train on and 2 to test on" in load.notes[0]


def test_the_split_depends_on_the_seed_alone(load):
    text = text_of(ROWS)
    names = [set(load(text, seed=seed).test.names) for seed in (1, 1, 2, 3)]
    assert names[0] == names[1] and len(set(map(frozenset, names))) > 1
    assert set(load(text_of(ROWS[::-1]), seed=1).test.names) == names[0], "whatever the order of the rows"


def test_folders_are_part_of_the_names(load):
    dataset = load(text_of([*ROWS, ("more/1", "dark"), ("more\\2.jpg", "dark")]))
    assert dataset.classes == ("blue", "dark", "red") and not dataset.left_out


def test_what_is_missing_unlisted_or_unlabelled_is_left_out_and_named(load):
    rows = [
        *ROWS[:9],
        ("nowhere.png", "red"),
        ("/far/x.png", "blue"),
        ("../y", "blue"),
        ("", "red"),
        ("9.png", ""),
    ]
    left_out = load(text_of(rows, "image,label")).left_out
    missing = "it is in the table, but not in the folder"
    assert left_out["nowhere.png"] == left_out["/far/x.png"] == left_out["../y"] == left_out["."] == missing
    assert left_out["9.png"] == "it has no label in the table"
    assert left_out["more/1.jpg"] == "it is not in the table" and len(left_out) == 7
    told = "\n".join(load.notes)
    assert f"left out /far/x.png, ., ../y, nowhere.png: {missing}" in told


def test_two_files_of_one_name_are_not_guessed_at(load, pictures):
    Image.new("RGB", (9, 9)).save(pictures / "0.bmp")
    assert load(text_of(STEMS)).left_out["0"] == "several files have this name"
    assert "0" not in load(text_of(ROWS)).left_out
    Image.new("RGB", (9, 9)).save(pictures / "0.png.webp")
    assert load(text_of(ROWS)).left_out.keys() >= {"0.png.webp"} and len(load(text_of(ROWS)).train) == 8
    with pytest.raises(UserError, match="lists '0', but several files have this name: give names with their"):
        load(text_of([("0", "red"), ("0", "blue")]))


@pytest.mark.parametrize("odd", ["-1", "None", "?", "NA"])
def test_a_class_that_may_stand_for_no_label_is_said_and_so_are_numbers_written_in_two_ways(load, odd):
    notes = "\n".join((load(text_of([(f"{i}.png", ("0", odd)[i % 2]) for i in range(10)])), load.notes)[1])
    assert f"a class is called '{odd}': if its images have no label, leave them out" in notes
    labels = ["1", "1.0", "20", "2"] * 2
    notes = "\n".join((load(text_of([(f"{i}.png", each) for i, each in enumerate(labels)])), load.notes)[1])
    assert "the classes '1' and '1.0' have nearly the same name" in notes and "'2'" not in notes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is empty"),
        ("\ufeff\n\n", "is empty"),
        ("image,label\n", "lists no images to train on, expected several images of at least two classes"),
        ("0.png\n1.png\n", "has the columns '0.png', expected two, or one called image"),
        (text_of(WIDE, "a,b,c,d"), "has the columns 'a', 'b', 'c', 'd', expected two, or one called image"),
        (text_of(WIDE, "x,path,c,path"), "has the columns 'x', 'path', 'c', 'path'"),
        (text_of(WIDE), "has the columns '7', '0.png', 'x', 'red'"),
        (text_of(ROWS[::2], "image,label"), "only the class 'red'"),
        (text_of(ROWS[:2], "image,label"), "has a single image of each class, expected several"),
        (
            text_of([("a.png", "x"), ("b.png", "y")]),
            "lists 'a.png', but no image in .* is called that: names",
        ),
        (text_of([*ROWS, ("0.png", "blue")]), "lists 0.png as 'red' and as 'blue'"),
        (text_of([*ROWS, ("0", "blue")]), "lists 0 as 'red' and as 'blue'"),
        (text_of([*ROWS, ("x.png",)]), "has 1 columns in row 11, expected 2"),
        (text_of(ROWS) + '"open,red\n', "has 1 columns in row 11"),
        (text_of(ROWS).encode("utf-16"), "cannot be read as a table .*UTF-8"),
        (b"\xff\x00\x81", "cannot be read as a table"),
        ("0.png," + "x" * 200_000, "cannot be read as a table .*field"),
    ],
)
def test_a_table_that_cannot_be_used(load, text, expected):
    with pytest.raises(UserError, match=rf"t\.csv .*{expected}"):
        load(text)


PARTS = ["train"] * 6 + ["valid", "valid", "test", "test"]


def with_column(words):
    return [(name, label, word) for (name, label), word in zip(ROWS, words, strict=True)]


def flags(part, yes="True", no="False"):
    return [yes if word == part else no for word in PARTS]


@pytest.mark.parametrize(
    ("header", "words", "sizes"),
    [
        ("file,label,split", PARTS, (6, 2, 2)),
        ("file,label,data set", [part.upper() for part in PARTS], (6, 2, 2)),
        ("", PARTS, (6, 2, 2)),
        ("name,label,is_valid", flags("valid"), (8, 0, 2)),
        ("file,label,is_test", flags("test", "1", "0"), (8, 0, 2)),
        ("file,label,is_train", flags("train", "yes", "no"), (6, 0, 4)),
        ("file,label,test", flags("test"), (8, 0, 2)),
        ("file,label,train", flags("train", "1", "0"), (6, 0, 4)),
        ("file,label,valid", ["1"] * 10, (8, 0, 2)),
        ("file,label,subset", [part.replace("test", "train") for part in PARTS], (8, 0, 2)),
        ("file,label,split", ["training"] * 10, (8, 0, 2)),
        ("file,label,fold", list("0123401234"), (8, 0, 2)),
    ],
)
def test_a_column_that_splits_the_images_is_honoured(load, header, words, sizes):
    dataset = load(text_of(with_column(words), header))
    parts = dataset.train, dataset.validation, dataset.test
    assert tuple(len(part) if part else 0 for part in parts) == sizes
    given = dict(zip((name for name, _ in ROWS), words, strict=True))
    for part in parts if len(set(words)) in (2, 3) else ():  # those that are split by the table
        assert len({given[name] for name in (part.names if part else ())} & set(words)) < 2
    assert not set(dataset.train.names) & set(dataset.test.names)


def test_a_class_or_a_part_without_images_to_train_on_is_left_out(load):
    rows = [*with_column(PARTS)[:8], ("8.png", "green", "test"), ("9.png", "", "test")]
    dataset = load(text_of(rows, "file,label,split"))
    assert dataset.classes == ("blue", "red") and len(dataset.test) == 2 and dataset.validation is None
    assert dataset.left_out["8.png"] == "its class has no images to train on"


@pytest.mark.parametrize("near", [False, True])
def test_names_may_be_absolute_or_relative_to_the_table(load, pictures, near):
    where = "images/" if near else f"{pictures}/"
    assert len(load(text_of([(where + name, label) for name, label in ROWS], "path,label")).train) == 8
    assert len(load(text_of([(where + name, label) for name, label in STEMS], "path,label")).train) == 8
    try:
        (pictures.parent / "link").symlink_to(pictures, target_is_directory=True)
    except OSError:
        pytest.skip("this system does not let us make links")
    table = pictures.parent / "t.csv"
    assert len(load_dataset("folder", pictures.parent / "link", 8, labels=table).train) == 8


@pytest.mark.parametrize("nothing", ["", "NaN", "nan", "null", "<NA>", "#N/A", " "])
def test_what_stands_for_no_label_is_no_class(load, nothing):
    dataset = load(text_of([*ROWS[:8], ("8.png", nothing), ("9.png", nothing)], "file,label"))
    assert dataset.classes == ("blue", "red")
    assert dataset.left_out["9.png"] == "it has no label in the table"
    assert any("8.png, 9.png: it has no label" in note for note in load.notes)


@pytest.mark.parametrize("name", ["None", "NA"])
def test_what_may_stand_for_no_label_is_a_class_and_said(load, name):
    assert name in load(text_of([*ROWS[:8], ("8.png", name), ("9.png", name)], "file,label")).classes
    assert any(f"a class is called {name!r}: if its images have no label" in note for note in load.notes)


@pytest.mark.parametrize(
    ("text", "classes"),
    [
        (text_of([(name, f"{label}, a") for name, label in ROWS], delimiter=";"), ("blue, a", "red, a")),
        (text_of([(name, f"{label}; a") for name, label in ROWS]), ("blue; a", "red; a")),
        (text_of([(str(i), *row) for i, row in enumerate(ROWS)], "id,file,class"), ("blue", "red")),
        (text_of([(str(i + 1), *row) for i, row in enumerate(ROWS)], "id,file,class"), ("blue", "red")),
        (text_of([(name, "http://a/b", label) for name, label in STEMS], "id,image,label"), ("blue", "red")),
        (text_of([(name, "x", "y", label) for name, label in ROWS], "path,file,note,label"), ("blue", "red")),
        (text_of([(str(i), *row) for i, row in enumerate(ROWS)], ",file,label"), ("blue", "red")),
    ],
)
def test_delimiters_and_columns_are_told_apart_by_the_files_that_they_name(load, text, classes):
    dataset = load(text)
    assert dataset.classes == classes and len(dataset.train) == 8
    columns = text.partition("\n")[0].split(",")
    assert any(f"of the {len(columns)} columns of" in note for note in load.notes) == (len(columns) > 2)
    for part in (dataset.train, dataset.test):
        assert all(
            classes[c].startswith(dict(ROWS)[name]) for name, c in zip(part.names, part.labels, strict=True)
        )


@pytest.mark.parametrize(
    ("header", "words", "expected"),
    [
        (
            "file,label,split",
            ["fold1"] * 10,
            "has 'fold1' in its column 'split', expected train",
        ),
        ("file,label,split", [*PARTS[:9], ""], "has '' in its column 'split'"),
        ("file,label,data_split", ["fold1"] * 10, "has 'fold1' in its column 'data_split'"),
        ("file,label,set", [*PARTS[:9], "extra"], "has 'extra' in its column 'set', expected train"),
        ("file,label,tvt", [*PARTS[:9], ""], "has '' in its column 'tvt', expected train"),
        ("file,label,is_valid", PARTS, "has 'train' in its column 'is_valid'"),
        ("file,label,split", ["test"] * 10, "lists no images to train on"),
    ],
)
def test_a_column_that_splits_the_images_is_refused_if_it_is_unclear(load, header, words, expected):
    with pytest.raises(UserError, match=expected):
        load(text_of(with_column(words), header))
    rows = [(*row, "True") for row in with_column(PARTS)]
    with pytest.raises(UserError, match="the columns 'split', 'is_valid', expected one that says"):
        load(text_of(rows, "file,label,split,is_valid"))


def test_a_table_that_contradicts_itself_or_names_nothing_is_refused(load, pictures):
    rows = [*with_column(PARTS), ("0.png", "red", "test")]
    with pytest.raises(UserError, match=r"lists 0\.png to train on and to test on"):
        load(text_of(rows, "file,label,split"))
    elsewhere = [(f"/far/{name}", label) for name, label in ROWS]
    with pytest.raises(UserError, match=r"lists '/far/0\.png', but no image in .* only .*0\.png: names"):
        load(text_of(elsewhere, "path,label"))


def test_accents_may_be_written_in_two_ways_in_the_table_and_on_the_disk(load, pictures):
    for one in "ab":
        Image.new("RGB", (9, 9), RED).save(pictures / f"cafe\u0301{one}.png")
    rows = [("caf\u00e9a.png", "caf\u00e9"), ("caf\u00e9b.png", "cafe\u0301")]
    dataset = load(text_of([*ROWS, *rows]))
    assert dataset.classes == ("blue", "caf\u00e9", "red") and len(dataset.train) + len(dataset.test) == 12


def test_a_table_that_is_not_there_or_not_for_this_data_set(pictures, tmp_path):
    with pytest.raises(UserError, match=r"there is no file .*none\.csv"):
        load_dataset("folder", pictures, labels=tmp_path / "none.csv")
    with pytest.raises(UserError, match="cannot be read as a table"):
        load_dataset("folder", pictures, labels=tmp_path)
    with pytest.raises(UserError, match="give --dataset folder"):
        load_dataset("cifar10", labels="t.csv")


def test_a_run_finds_its_table_again_and_notices_other_labels(go, pictures, tmp_path):
    table, run = tmp_path / "t.csv", tmp_path / "run"
    table.write_text(text_of(ROWS, "image,label"))
    flags = ("--dataset", "folder", "--data-dir", pictures, "--labels", table, "--image-size", "8")
    more = ("--device", "cpu", "--threads", "1", "--batch-size", "4", "--model", "nano/4", "--epochs", "1")
    more += ("--crop-padding", "1")
    status, out, _ = go(train, *flags, *more, "--out", run)
    assert status == 0 and "it is not in the table" in out
    assert "more" in (run / "left_out.json").read_text()
    assert json.loads((run / "config.json").read_text())["settings"]["labels"] == str(table)
    status, out, _ = go(evaluate, run)
    assert status == 0 and "2 test images" in out and "changed" not in out
    assert go(fewshot, run, *flags, "--shots", "1", "--device", "cpu")[0] == 0
    (tmp_path / "new").mkdir()
    shutil.move(pictures, tmp_path / "new" / "images")
    shutil.move(table, tmp_path / "new" / "t.csv")
    assert go(evaluate, run, "--data-dir", tmp_path / "new" / "images")[0] == 0
    moved = ("--data-dir", tmp_path / "new" / "images", "--labels", tmp_path / "new" / "t.csv")
    assert go(train, "--resume", run, "--epochs", "2", *moved)[0] == 0
    swapped = [(name, {"red": "blue", "blue": "red"}[label]) for name, label in ROWS]
    (tmp_path / "new" / "t.csv").write_text(text_of(swapped))
    assert_one_line(go(train, "--resume", run, "--epochs", "3", *moved), "have changed since")
