"""Image data sets as Hugging Face ships them; the pixels of a lossless image of the right size are kept."""

import io
import json
import sys

import numpy as np
import pytest
from PIL import Image

from tests.tiny_runs import assert_one_line
from tinyvit import evaluate, train
from tinyvit.data import load_dataset
from tinyvit.errors import UserError

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
    write(tmp_path / "train-0.parquet", labels=["b", "a"] * 10, names=())
    assert load_dataset("parquet", tmp_path, 8).classes == ("a", "b")


def test_rows_without_label_or_image_are_left_out_and_named(tmp_path):
    cells = [{"bytes": packed(image), "path": None} for image in PIXELS]
    cells[2], cells[3] = {"bytes": None, "path": "gone.png"}, {"bytes": b"hello", "path": "x.png"}
    write(tmp_path / "train-0.parquet", labels=[-1, None, *LABELS[2:]], cells=cells)
    write(tmp_path / "test-0.parquet", PIXELS[:3], [-1] * 3)
    notes = []
    dataset = load_dataset("parquet", tmp_path, 8, note=notes.append)
    assert len(dataset.train) + len(dataset.test) == 16, "a test part without labels is none"
    assert len(dataset.left_out) == 7 and dataset.left_out["train-0.parquet row 1"] == "it has no label"
    assert "train-0.parquet row 3 cannot be read" in dataset.left_out["train-0.parquet row 3"]
    assert any("left out 2 of 23 images" in note for note in notes)
    with pytest.raises(UserError, match="--strict does not allow"):
        load_dataset("parquet", tmp_path, 8, strict=True)
    write(tmp_path / "train-0.parquet", cells=[{"bytes": b"hello", "path": None}] * 20)
    with pytest.raises(UserError, match=r"20 of 23 images .* cannot be read, more than 20%"):
        load_dataset("parquet", tmp_path, 8)


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(UserError, match=r"has no such files, expected train-\*\.parquet"):
        load_dataset("parquet", tmp_path)
    file = write(tmp_path / "train-0.parquet", columns=("photo", "label"))
    with pytest.raises(UserError, match="has the columns 'photo', 'label', expected one called image"):
        load_dataset("parquet", tmp_path)
    write(file, labels=[5] * 20)
    with pytest.raises(UserError, match="has the label 5 among the images to train on"):
        load_dataset("parquet", tmp_path, 8)
    write(file, cells=list(range(20)))
    with pytest.raises(UserError, match=r"20 of 20 images .* cannot be read"):
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
