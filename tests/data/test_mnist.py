"""The four files of MNIST, in any of their usual places and spellings; what is wrong with them is named."""

import gzip
import hashlib
import re

import numpy as np
import pytest

from tinyvit.data import is_at_hand, load_dataset, mnist
from tinyvit.data.mnist import SOURCES, load_mnist
from tinyvit.support.errors import UserError

COUNTS = {"train": 6, "t10k": 4}


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*arguments):
        raise AssertionError(f"tried to download {arguments[0]}")

    monkeypatch.setattr(mnist, "download", refuse)


def contents(seed=3):
    """The bytes of the four files, by their names."""
    rng, files = np.random.default_rng(seed), {}
    for part, count in COUNTS.items():
        pixels = rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        labels = rng.integers(0, 10, count, dtype=np.uint8)
        for kind, array in (("images-idx3", pixels), ("labels-idx1", labels)):
            header = np.array([0x800 + array.ndim, *array.shape], ">u4").tobytes()
            files[f"{part}-{kind}-ubyte"] = header + array.tobytes()
    return files


def write(folder, packed=False, dot=False, changed=()):
    """The four files, with some contents replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (contents() | dict(changed)).items():
        name = (name.replace("-idx", ".idx") if dot else name) + (".gz" if packed else "")
        (folder / name).write_bytes(gzip.compress(content) if packed else content)
    return folder


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("dot", [False, True])
@pytest.mark.parametrize("place", ["", "raw", "MNIST/raw", "MNIST", "mnist"])
def test_the_files_are_found_and_read(tmp_path, place, packed, dot):
    write(tmp_path / place, packed, dot)
    assert is_at_hand("mnist", tmp_path)
    dataset = load_dataset("mnist", tmp_path)
    pixels = np.frombuffer(contents()["t10k-images-idx3-ubyte"][16:], np.uint8).reshape(4, 28, 28)
    for channel in range(3):
        np.testing.assert_array_equal(dataset.test.images[..., channel], pixels)
    assert dataset.train.images.shape == (6, 28, 28, 3)
    assert bytes(dataset.train.labels.astype(np.uint8)) == contents()["train-labels-idx1-ubyte"][8:]
    assert dataset.classes == tuple("0123456789")


def test_both_data_sets_in_one_folder_are_told_apart(tmp_path):
    write(tmp_path / "MNIST" / "raw")
    assert not is_at_hand("fashion-mnist", tmp_path)
    write(
        tmp_path / "FashionMNIST" / "raw", changed={"t10k-labels-idx1-ubyte": b"\0\0\x08\1\0\0\0\4\1\2\3\4"}
    )
    assert load_mnist("fashion-mnist", tmp_path).test.labels.tolist() == [1, 2, 3, 4]
    assert load_mnist("mnist", tmp_path).test.labels.tolist() != [1, 2, 3, 4]


def test_the_files_of_the_other_data_set_are_not_taken_for_this_one(tmp_path, monkeypatch):
    write(tmp_path)
    pixels = hashlib.md5(contents()["train-images-idx3-ubyte"]).hexdigest()
    other = SOURCES["fashion-mnist"]
    monkeypatch.setitem(SOURCES, "fashion-mnist", mnist.Source(*(*vars(other).values(),)[:4], pixels))
    with pytest.raises(UserError, match="the files of fashion-mnist: give --dataset fashion-mnist"):
        load_mnist("mnist", tmp_path)
    notes = []
    load_mnist("fashion-mnist", tmp_path, note=notes.append)
    assert not notes


def test_other_data_in_this_form_are_read_and_mentioned(tmp_path):
    notes = []
    load_mnist("mnist", write(tmp_path), note=notes.append)
    assert len(notes) == 1 and "not mnist as published" in notes[0]


@pytest.mark.parametrize("name", ["mnist", "fashion-mnist"])
@pytest.mark.parametrize("url", [None, "http://mirror/here/"])
def test_what_is_missing_is_downloaded_into_a_folder_of_its_own(tmp_path, monkeypatch, name, url):
    packed, seen, reports = contents(), [], []
    sums = SOURCES[name].packed

    def fake_download(urls, target, size, checksum, report):
        place = list(packed).index(target.name.removesuffix(".gz"))
        assert (size, checksum) == (sums[place][0], f"md5:{sums[place][1]}")
        assert all(each.endswith(f"/{target.name}") for each in urls)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.compress(packed[target.name.removesuffix(".gz")]))
        report(size, size)
        seen.append(urls)

    monkeypatch.setattr(mnist, "download", fake_download)
    report = lambda done, total: reports.append((done, total))
    assert len(load_mnist(name, tmp_path, url, report).train) == 6
    assert len(list((tmp_path / name).iterdir())) == len(seen) == 4
    if url:
        assert seen[0] == ["http://mirror/here/train-images-idx3-ubyte.gz"]
    else:
        assert len(set(seen[0])) == 3
    whole = sum(size for size, _ in sums)
    assert reports[0] == (sums[0][0], whole) and reports[-1] == (whole, whole)
    (tmp_path / name / "t10k-labels-idx1-ubyte.gz").unlink()
    load_mnist(name, tmp_path, url, report)
    assert len(seen) == 5, "what is there already is not downloaded again"


IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
PIXELS = contents()[IMAGES]


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({IMAGES: PIXELS[:-1]}, "has 4,719 bytes, expected 4,720: the file is truncated"),
        ({IMAGES: PIXELS + b"1"}, "has 4,721 bytes, expected 4,720: the file is too long"),
        ({IMAGES: PIXELS[:7]}, "not an idx file of images"),
        ({IMAGES: b""}, "begins with nothing, expected 00000803: it is not an idx file of images"),
        ({IMAGES: b"<!DOCTYPE html>" * 9}, "begins with 3c21444f, expected 00000803"),
        ({IMAGES: contents()[LABELS]}, "not an idx file of images"),
        ({LABELS: PIXELS}, "expected 00000801: it is not an idx file of labels"),
        ({LABELS: contents()["t10k-labels-idx1-ubyte"]}, r"shape \(6, 28, 28\) and .* 4 labels"),
        ({LABELS: b"\0\0\x08\1\0\0\0\6\1\2\3\4\5\x0a"}, "has the label 10, expected 0 to 9"),
        ({IMAGES: PIXELS[:4] + b"\xff" * 12 + PIXELS[16:]}, "the file is truncated"),
        ({IMAGES: PIXELS[:8] + b"\0\0\0\x0e\0\0\0\x38" + PIXELS[16:]}, r"expected \(n, 28, 28\)"),
        ({IMAGES: PIXELS[:4] + bytes(4) + PIXELS[8:16], LABELS: b"\0\0\x08\1\0\0\0\0"}, r"\(0, 28, 28\)"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, changed, expected):
    with pytest.raises(UserError, match=expected) as caught:
        load_mnist("mnist", write(tmp_path, changed=changed))
    assert re.search("train-(images|labels)", str(caught.value))


@pytest.mark.parametrize("cut", [1, 5, 30, -1])
def test_half_a_compressed_file_is_named(tmp_path, cut):
    file = write(tmp_path, packed=True) / f"{IMAGES}.gz"
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(UserError, match=rf"{file.name} .*(truncated|not an idx file)"):
        load_mnist("mnist", tmp_path)


def test_a_file_that_unpacks_without_end_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(mnist, "_MOST", 10_000)
    write(tmp_path, packed=True, changed={IMAGES: bytes(100_000)})
    with pytest.raises(UserError, match="holds more than 10,000 bytes"):
        load_mnist("mnist", tmp_path)
