"""Image data sets as Hugging Face ships them; the pixels of a lossless image of the right size are kept."""

import base64
import io
import json
import sys

import numpy as np
import pytest
from PIL import Image

from tests.tiny_runs import assert_one_line
from tinyvit import evaluate, train
from tinyvit.data import load_dataset
from tinyvit.support.errors import UserError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

PIXELS = np.random.default_rng(5).integers(0, 256, (20, 8, 8, 3), dtype=np.uint8)
LABELS = [1, 0] * 10


def packed(image, kind="PNG"):
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, kind)
    return buffer.getvalue()


def write(file, pixels=PIXELS, labels=LABELS, names=("cat", "dog"), columns=("image", "label"), cells=None):
    """A file with these images, as the library `datasets` writes it."""
    cells = cells or [{"bytes": packed(image), "path": f"{i}.png"} for i, image in enumerate(pixels)]
    feature = (
        {"names": list(names), "_type": "ClassLabel"} if names else {"dtype": "string", "_type": "Value"}
    )
    features = {columns[0]: {"_type": "Image"}, columns[1]: feature}
    table = pa.table(dict(zip(columns, (cells, labels), strict=True)))
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table.replace_schema_metadata(metadata), file)
    return file


@pytest.mark.parametrize("columns", [("image", "label"), ("img", "label"), ("img", "fine_label")])
@pytest.mark.parametrize("place", ["", "data", "plain_text"])
def test_the_pixels_of_images_of_the_right_size_are_kept(tmp_path, place, columns):
    write(tmp_path / place / "train-00000-of-00002.parquet", PIXELS[:12], LABELS[:12], columns=columns)
    write(tmp_path / place / "train-00001-of-00002.parquet", PIXELS[12:], LABELS[12:], columns=columns)
    write(tmp_path / place / "test-00000-of-00001.parquet", PIXELS[:3], LABELS[:3], columns=columns)
    write(tmp_path / place / "validation-00000-of-00001.parquet", PIXELS[3:5], LABELS[3:5], columns=columns)
    notes = []
    dataset = load_dataset("parquet", tmp_path, 8, note=notes.append)
    np.testing.assert_array_equal(dataset.train.images, PIXELS)
    assert dataset.classes == ("cat", "dog") and dataset.train.labels.tolist() == LABELS
    np.testing.assert_array_equal(dataset.test.images, PIXELS[:3])
    np.testing.assert_array_equal(dataset.validation.images, PIXELS[3:5])
    assert dataset.train.names[13] == "train-00001-of-00002.parquet row 1"
    assert "20 to train on, 2 for validation and 3 to test on" in notes[0]


def test_other_sizes_are_fitted_and_without_a_test_part_some_are_held_out(tmp_path):
    write(tmp_path / "train-0.parquet")
    dataset = load_dataset("parquet", tmp_path, 4, seed=3)
    assert dataset.train.images.shape == (16, 4, 4, 3) and len(dataset.test) == 4
    write(tmp_path / "validation-0.parquet", PIXELS[:5], LABELS[:5])
    assert len(load_dataset("parquet", tmp_path, 4).test) == 5
    assert load_dataset("parquet", tmp_path).train.images.shape == (20, 64, 64, 3)


def test_labels_can_be_text(tmp_path):
    write(tmp_path / "train-0.parquet", labels=[*"abcb"] * 5, names=())
    assert load_dataset("parquet", tmp_path, 8).classes == ("a", "b", "c")
    kept = load_dataset("parquet", tmp_path, 8, only="c,a")
    assert kept.classes == ("c", "a") and len(kept.train) + len(kept.test) == 10


def test_rows_without_label_or_image_are_left_out_and_named(tmp_path):
    cells = [{"bytes": packed(image), "path": None} for image in PIXELS]
    cells[2], cells[3] = {"bytes": None, "path": "gone.png"}, {"bytes": b"hello", "path": "x.png"}
    write(tmp_path / "train-0.parquet", labels=[-1, None, *LABELS[2:]], cells=cells)
    write(tmp_path / "test-0.parquet", PIXELS[:3], [-1] * 3)
    notes = []
    dataset = load_dataset("parquet", tmp_path, 8, note=notes.append)
    assert len(dataset.train) + len(dataset.test) == 16, "a test part without labels is none"
    assert len(dataset.left_out) == 7 and dataset.left_out["train-0.parquet row 1"] == "it has no label"
    assert dataset.left_out["train-0.parquet row 2"] == (
        "it is the path of an image, expected its bytes: embed the images"
    )
    damaged = "it cannot be read as an image (Pillow does not recognise its format)"
    assert dataset.left_out["train-0.parquet row 3"] == damaged
    assert any("left out 2 of 23 images" in note for note in notes)
    assert f"  train-0.parquet row 3: {damaged}" in notes
    with pytest.raises(UserError, match="--strict does not allow"):
        load_dataset("parquet", tmp_path, 8, strict=True)
    write(tmp_path / "train-0.parquet", cells=[{"bytes": b"hello", "path": None}] * 20)
    with pytest.raises(UserError, match=r"20 of 23 images .* cannot be read, more than 20%"):
        load_dataset("parquet", tmp_path, 8)


@pytest.mark.parametrize("first", ["train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001"])
def test_each_file_names_its_classes_for_itself(tmp_path, first):
    """The files count classes in another order: labels go by name, and a line says so."""
    names = ("train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001")
    for i, name in enumerate(names):
        order, labels = (("dog", "cat"), [0, 1]) if name == first else (("cat", "dog"), [1, 0])
        write(tmp_path / f"{name}.parquet", PIXELS[4 * i : 4 * i + 2], labels, order)
    notes = []
    dataset = load_dataset("parquet", tmp_path, 8, note=notes.append)
    for part in (dataset.train, dataset.test):
        assert [dataset.classes[c] for c in part.labels] == ["dog", "cat"] * (len(part) // 2)
    assert any("the names of the classes differ from file to file, in " in note for note in notes)


def test_names_of_classes_in_some_of_the_files_only_are_refused(tmp_path):
    write(tmp_path / "train-0.parquet")
    write(tmp_path / "test-0.parquet", PIXELS[:4], LABELS[:4], names=())
    with pytest.raises(UserError, match=r"test-0\.parquet has numbers for labels and no names of classes"):
        load_dataset("parquet", tmp_path, 8)
    write(tmp_path / "train-0.parquet", names=())
    write(tmp_path / "test-0.parquet", PIXELS[:4], ["0", "1"] * 2, names=())
    with pytest.raises(UserError, match=r"train-0\.parquet has numbers for labels and no names of classes"):
        load_dataset("parquet", tmp_path, 8)
    write(tmp_path / "train-0.parquet")
    write(tmp_path / "test-0.parquet", PIXELS[:4], ["dog", "cat"] * 2, names=())
    assert load_dataset("parquet", tmp_path, 8).test.labels.tolist() == [1, 0, 1, 0]
    write(tmp_path / "test-0.parquet", PIXELS[:4], [0, 1] * 2, names=("cat", "emu"))
    with pytest.raises(UserError, match="has the label 'emu' among the images to test on"):
        load_dataset("parquet", tmp_path, 8, decoding=lambda done, total: pytest.fail("decoded"))


@pytest.mark.parametrize(
    ("names", "lacking"),
    [
        (["train-00000-of-00003"], "00001, 00002"),
        (["train-00001-of-00002-0123456789abcdef"], "00000"),
        (["train/0000", "train/0002"], "00001"),
        (["default/train/0000", "default/train/0001"], ""),
        (["train"], ""),
        (["train-1", "train-2"], ""),
        (["train-20240101", "train-20240201"], ""),
        (["train-00000-of-99999999999"], ""),
    ],
)
def test_files_that_are_missing_are_named(tmp_path, names, lacking):
    for i, name in enumerate(names):
        write(tmp_path / f"{name}.parquet", PIXELS[8 * i : 8 * i + 8], LABELS[:8])
    notes = []
    dataset = load_dataset("parquet", tmp_path, 8, note=notes.append)
    assert len({*dataset.train.names, *dataset.test.names}) == 8 * len(names)
    said = [note for note in notes if "files to train on" in note]
    assert [note.partition("without ")[2] for note in said] == ([lacking] if lacking else [])
    if lacking:
        with pytest.raises(UserError, match=f"without {lacking}, which --strict does not allow"):
            load_dataset("parquet", tmp_path, 8, strict=True)


def test_parts_may_be_folders_and_what_is_no_part_is_named(tmp_path):
    for place, first in (("default/train", 0), ("default/test", 10), ("default/validation", 15)):
        write(tmp_path / place / "0000.parquet", PIXELS[first : first + 5], LABELS[:5])
    write(tmp_path / "default" / "extra-0.parquet")
    write(tmp_path / ".cache" / "train-0.parquet")
    (tmp_path / "default" / "test").rename(tmp_path / ".elsewhere")
    try:
        (tmp_path / "default" / "test").symlink_to(tmp_path / ".elsewhere", target_is_directory=True)
    except OSError:
        pytest.skip("this system does not let us make links")
    notes = []
    dataset = load_dataset("parquet", tmp_path, 8, note=notes.append)
    assert dataset.test.names[4] == "test/0000.parquet row 4" and len(dataset.validation) == 5
    assert notes[0] == "left out default/extra-0.parquet: not named train, validation or test"


def test_files_that_do_not_belong_together_are_refused(tmp_path):
    for name in ("train_small-0", "train_full-0"):
        write(tmp_path / f"{name}.parquet")
    with pytest.raises(
        UserError, match="several kinds of files to train on, train_full, train_small, expected"
    ):
        load_dataset("parquet", tmp_path, 8)
    (tmp_path / "train_full-0.parquet").unlink()
    assert load_dataset("parquet", tmp_path, 8).classes == ("cat", "dog")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (lambda image: image.tolist(), r"'image' of type list<.*>, expected the bytes of image files: save"),
        (
            lambda image: base64.b64encode(packed(image)).decode(),
            "'image' of type string, expected the bytes",
        ),
        (lambda image: {"bytes": "text", "path": ""}, "'image' of type struct<bytes: string"),
        (lambda image: None, "'image' of type null"),
        (
            lambda image: {"bytes": b"" if image.sum() % 2 else None, "path": "x.png"},
            r"20 of 20 images.*\n  train-0.parquet row 0,.* and 15 more: it is the path of an image",
        ),
        (
            lambda image: base64.b64encode(packed(image)),
            r"20 of 20 images.*\n  train-0.parquet row 0,.* and 15 more: it cannot be read as an image",
        ),
        (lambda image: b"", r"20 of 20 images.*\n  train-0.parquet row 0,.* and 15 more: it has no image"),
    ],
)
def test_cells_that_are_no_image_files_are_named_once(tmp_path, cell, expected):
    write(tmp_path / "train-0.parquet", cells=[cell(image) for image in PIXELS])
    with pytest.raises(UserError, match=expected) as refused:
        load_dataset("parquet", tmp_path, 8)
    assert str(refused.value).count("\n") < 2


@pytest.mark.parametrize(("words", "fits"), [(["train"] * 20, True), (["train", "test"] * 10, False)])
def test_a_column_that_splits_a_file_is_refused_unless_it_says_what_the_name_does(tmp_path, words, fits):
    cells = [packed(image) for image in PIXELS]
    pq.write_table(pa.table({"image": cells, "label": LABELS, "split": words}), tmp_path / "train.parquet")
    if fits:
        assert len(load_dataset("parquet", tmp_path, 8).train) == 16
    else:
        with pytest.raises(UserError, match="a column 'split' that splits it, but its name says"):
            load_dataset("parquet", tmp_path, 8)


@pytest.mark.parametrize(
    ("name", "cells", "fits"),
    [
        ("set", ["train", "test"] * 10, False),
        ("set", ["train", "test", "extra", "extra"] * 5, False),
        ("data_split", ["train"] * 19 + ["eval"], False),
        ("test", [True] + [False] * 19, False),
        ("set", ["train"] * 20, True),
        ("test", [False] * 20, True),
        ("valid", [True] * 20, True),
        ("caption", ["a train", "a test"] * 10, True),
        ("test", [7] * 20, True),
    ],
)
def test_so_is_a_column_that_holds_parts_under_another_name(tmp_path, name, cells, fits):
    images = [packed(image) for image in PIXELS]
    pq.write_table(pa.table({"image": images, "label": LABELS, name: cells}), tmp_path / "train.parquet")
    if fits:
        assert len(load_dataset("parquet", tmp_path, 8).train) == 16
    else:
        with pytest.raises(UserError, match=f"a column '{name}' that splits it, but its name says"):
            load_dataset("parquet", tmp_path, 8)


@pytest.mark.parametrize("nothing", ["", "nan", None])
def test_text_that_stands_for_no_label_is_none(tmp_path, nothing):
    write(tmp_path / "train-0.parquet", labels=["b", "a"] * 9 + [nothing] * 2, names=())
    dataset = load_dataset("parquet", tmp_path, 8)
    assert dataset.classes == ("a", "b") and dataset.left_out["train-0.parquet row 18"] == "it has no label"


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UserError, match=r"has no such files, expected train-\*\.parquet"):
        load_dataset("parquet", tmp_path)
    file = write(tmp_path / "train-0.parquet", columns=("photo", "label"))
    with pytest.raises(UserError, match="has the columns 'photo', 'label', expected one called image"):
        load_dataset("parquet", tmp_path)
    write(file, labels=[5] * 20)
    with pytest.raises(UserError, match="has the label 5, expected 0 to 1"):
        load_dataset("parquet", tmp_path, 8)
    write(file, cells=list(range(20)))
    with pytest.raises(UserError, match="'image' of type int64, expected the bytes of image files"):
        load_dataset("parquet", tmp_path, 8)
    write(file, labels=[[1]] * 20)
    with pytest.raises(UserError, match=r"'label' of .* expected whole numbers or text"):
        load_dataset("parquet", tmp_path, 8)
    content = write(file).read_bytes()
    for cut in (0, 3, 100, len(content) // 2, len(content) - 1):
        file.write_bytes(content[:cut])
        with pytest.raises(UserError, match=r"the parquet files in .* cannot be read"):
            load_dataset("parquet", tmp_path, 8)
    write(file)
    write(tmp_path / "other" / "train-0.parquet")
    with pytest.raises(UserError, match=r"has such files in .*other.* in one folder"):
        load_dataset("parquet", tmp_path, 8)


def test_without_pyarrow_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(UserError, match="needs pyarrow: python -m pip install pyarrow"):
        load_dataset("parquet", tmp_path)


def test_a_run_finds_its_data_again(go, tmp_path):
    file, run = write(tmp_path / "d" / "data" / "train-0.parquet"), tmp_path / "run"
    flags = ("--dataset", "parquet", "--data-dir", tmp_path / "d", "--image-size", "8", "--crop-padding", "1")
    more = ("--device", "cpu", "--threads", "1", "--batch-size", "4", "--model", "nano/4", "--epochs", "1")
    assert go(train, *flags, *more, "--out", run)[0] == 0
    assert len(json.loads((run / "split.json").read_text())["test"]) == 4
    status, out, _ = go(evaluate, run)
    assert status == 0 and "4 test images" in out and "changed" not in out
    assert go(train, "--resume", run, "--epochs", "2")[0] == 0
    write(file, PIXELS[:18], LABELS[:18])
    assert_one_line(go(train, "--resume", run, "--epochs", "3"), "have changed since")
