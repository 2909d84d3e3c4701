import hashlib
import pickle
import tarfile

import numpy as np
import pytest

from tinyvit.data import cifar
from tinyvit.data.cifar import SOURCES, load_cifar
from tinyvit.support.errors import UserError
from tinyvit.support.files import locks

IMAGES = 6  # in each file, instead of 10,000


@pytest.fixture(autouse=True)
def small_files(monkeypatch):
    for source in SOURCES.values():
        for file in source.images_per_file:
            monkeypatch.setitem(source.images_per_file, file, IMAGES)


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*arguments):
        raise AssertionError(f"tried to download {arguments[0]}")

    monkeypatch.setattr(cifar, "download", refuse)


def write_binary(name, folder):
    """Random images in the binary layout."""
    source, rng = SOURCES[name], np.random.default_rng(1)
    folder.mkdir(parents=True, exist_ok=True)
    for file in source.binary.train + source.binary.test:
        records = rng.integers(0, 256, (IMAGES, source.label_bytes + 3072), dtype=np.uint8)
        records[:, : source.label_bytes] = rng.integers(0, 10, (IMAGES, source.label_bytes))
        records.tofile(folder / file)


def write_python(name, folder):
    """The images of write_binary in the Python layout."""
    source, rng = SOURCES[name], np.random.default_rng(1)
    folder.mkdir(parents=True, exist_ok=True)
    for file in source.python.train + source.python.test:
        records = rng.integers(0, 256, (IMAGES, source.label_bytes + 3072), dtype=np.uint8)
        records[:, : source.label_bytes] = rng.integers(0, 10, (IMAGES, source.label_bytes))
        batch = {b"data": records[:, source.label_bytes :]}
        keys = {"cifar10": [b"labels"], "cifar100": [b"coarse_labels", b"fine_labels"]}[name]
        batch |= {key: records[:, column].tolist() for column, key in enumerate(keys)}
        (folder / file).write_bytes(pickle.dumps(batch, protocol=4))


def pack(folder, archive):
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder, arcname=folder.name)


def assert_same(first, second):
    for part in ("train", "test"):
        np.testing.assert_array_equal(getattr(first, part).images, getattr(second, part).images)
        np.testing.assert_array_equal(getattr(first, part).labels, getattr(second, part).labels)


@pytest.fixture(params=["cifar10", "cifar100"])
def name(request):
    return request.param


def test_both_layouts_give_the_same_images_and_labels(tmp_path, name):
    write_binary(name, tmp_path / "binary")
    write_python(name, tmp_path / "python")
    assert_same(load_cifar(name, tmp_path / "binary"), load_cifar(name, tmp_path / "python"))


@pytest.mark.parametrize("layout, write", [("binary", write_binary), ("python", write_python)])
def test_the_folder_of_the_archive_is_found(tmp_path, name, layout, write):
    write(name, tmp_path / "files")
    write(name, tmp_path / "data" / getattr(SOURCES[name], layout).folder)
    assert_same(load_cifar(name, tmp_path / "data"), load_cifar(name, tmp_path / "files"))


@pytest.mark.parametrize("layout, write", [("binary", write_binary), ("python", write_python)])
def test_an_official_archive_is_unpacked(tmp_path, name, layout, write):
    layout = getattr(SOURCES[name], layout)
    write(name, tmp_path / layout.folder)
    (tmp_path / "data").mkdir()
    pack(tmp_path / layout.folder, tmp_path / "data" / layout.archive)
    assert_same(load_cifar(name, tmp_path / "data"), load_cifar(name, tmp_path / layout.folder))


@pytest.mark.parametrize("kind, write", [("binary", write_binary), ("python", write_python)])
def test_a_missing_data_set_is_downloaded_from_a_mirror_of_either_archive(
    tmp_path, name, kind, write, monkeypatch
):
    layout = getattr(SOURCES[name], kind)
    write(name, tmp_path / layout.folder)
    mirror = f"http://mirror/{layout.archive}?download=1"

    def fake_download(url, target, size, checksum, report):
        assert (url, size, checksum) == (mirror, layout.size, layout.checksum)
        target.parent.mkdir(parents=True)
        pack(tmp_path / layout.folder, target)

    monkeypatch.setattr(cifar, "download", fake_download)
    loaded = load_cifar(name, tmp_path / "data", url=mirror)
    assert_same(loaded, load_cifar(name, tmp_path / layout.folder))


def test_without_an_address_the_python_archive_is_downloaded_from_one_of_its_sources(
    tmp_path, name, monkeypatch
):
    source = SOURCES[name]
    write_python(name, tmp_path / source.python.folder)
    seen = []

    def fake_download(urls, target, size, checksum, report):
        seen.extend(urls)
        assert (size, checksum) == (source.python.size, source.python.checksum)
        target.parent.mkdir(parents=True)
        pack(tmp_path / source.python.folder, target)

    monkeypatch.setattr(cifar, "download", fake_download)
    load_cifar(name, tmp_path / "data")
    assert len(set(seen)) > 2 and seen[-1].startswith("https://www.cs.toronto.edu/~kriz/")
    assert all(url.startswith("https://") and source.python.archive in url for url in seen)


def test_a_deleted_file_is_unpacked_again(tmp_path):
    layout = SOURCES["cifar10"].binary
    write_binary("cifar10", tmp_path / layout.folder)
    whole = load_cifar("cifar10", tmp_path)
    pack(tmp_path / layout.folder, tmp_path / layout.archive)
    (tmp_path / layout.folder / "data_batch_3.bin").unlink()
    assert_same(load_cifar("cifar10", tmp_path), whole)


def test_red_green_and_blue_planes_become_channels(tmp_path):
    write_binary("cifar10", tmp_path)
    record = np.fromfile(tmp_path / "data_batch_2.bin", np.uint8).reshape(IMAGES, 3073)[4]
    image = load_cifar("cifar10", tmp_path).train.images[IMAGES + 4]
    for channel in range(3):
        for row, column in [(0, 0), (0, 31), (5, 9), (31, 0)]:
            assert image[row, column, channel] == record[1 + 1024 * channel + 32 * row + column]


def test_batches_are_in_order_and_the_test_batch_is_separate(tmp_path):
    write_binary("cifar10", tmp_path)
    for number, file in enumerate(SOURCES["cifar10"].binary.train + SOURCES["cifar10"].binary.test):
        np.full((IMAGES, 3073), number, np.uint8).tofile(tmp_path / file)
    dataset = load_cifar("cifar10", tmp_path)
    np.testing.assert_array_equal(dataset.train.labels, np.repeat(range(5), IMAGES))
    np.testing.assert_array_equal(dataset.test.labels, [5] * IMAGES)


def test_the_label_of_cifar_100_is_the_fine_one(tmp_path):
    write_binary("cifar100", tmp_path)
    records = np.fromfile(tmp_path / "train.bin", np.uint8).reshape(IMAGES, 3074)
    records[:, 0], records[:, 1] = 7, 99
    records.tofile(tmp_path / "train.bin")
    dataset = load_cifar("cifar100", tmp_path)
    assert dataset.train.labels.tolist() == [99] * IMAGES
    assert dataset.classes[99] == "worm"


def test_class_names_are_as_many_as_classes_and_in_alphabetical_order():
    assert len(SOURCES["cifar10"].classes) == 10
    assert len(set(SOURCES["cifar100"].classes)) == 100
    for source in SOURCES.values():
        assert list(source.classes) == sorted(source.classes)


def test_half_a_binary_file_is_named_with_its_size(tmp_path):
    write_binary("cifar10", tmp_path)
    file = tmp_path / "data_batch_3.bin"
    file.write_bytes(file.read_bytes()[:9_999])
    with pytest.raises(
        UserError, match=r"data_batch_3\.bin has 9,999 bytes, expected 18,438: the file is truncated"
    ):
        load_cifar("cifar10", tmp_path)


def test_half_a_pickled_file_is_named(tmp_path, name):
    write_python(name, tmp_path)
    file = tmp_path / SOURCES[name].python.train[0]
    file.write_bytes(file.read_bytes()[:9_999])
    with pytest.raises(UserError, match=rf"{file.name} cannot be read .* truncated or damaged"):
        load_cifar(name, tmp_path)


def test_a_pickle_of_something_else_is_named(tmp_path):
    write_python("cifar10", tmp_path)
    (tmp_path / "data_batch_2").write_bytes(pickle.dumps({b"num_vis": 3072}))
    with pytest.raises(UserError, match=r"data_batch_2 contains arrays of shape \(\)"):
        load_cifar("cifar10", tmp_path)


def test_a_label_out_of_range_is_named(tmp_path):
    write_binary("cifar10", tmp_path)
    records = np.fromfile(tmp_path / "test_batch.bin", np.uint8).reshape(IMAGES, 3073)
    records[3, 0] = 10
    records.tofile(tmp_path / "test_batch.bin")
    with pytest.raises(UserError, match=r"test_batch\.bin has the label 10, expected 0 to 9"):
        load_cifar("cifar10", tmp_path)


@pytest.mark.parametrize(
    "label",
    ["3", None, float("nan"), 2**70, 10**5000, [3], True, b"1", 1.0, -(2**70), {}],
    ids=lambda label: type(label).__name__,
)
def test_labels_that_are_no_small_whole_numbers_are_refused(tmp_path, label):
    write_python("cifar10", tmp_path)
    file = tmp_path / "data_batch_2"
    batch = pickle.loads(file.read_bytes())
    batch[b"labels"][2] = label
    file.write_bytes(pickle.dumps(batch, protocol=4))
    with pytest.raises(UserError, match="data_batch_2"):
        load_cifar("cifar10", tmp_path)


def test_files_that_are_not_the_official_ones_are_mentioned_once(tmp_path, monkeypatch):
    write_binary("cifar10", tmp_path)
    notes = []
    load_cifar("cifar10", tmp_path, note=notes.append)
    assert len(notes) == 1
    assert "6 of 6 files" in notes[0]
    for file in SOURCES["cifar10"].binary.train[1:] + SOURCES["cifar10"].binary.test:
        monkeypatch.setitem(cifar.OFFICIAL, file, hashlib.md5((tmp_path / file).read_bytes()).hexdigest())
    load_cifar("cifar10", tmp_path, note=notes.append)
    assert "data_batch_1.bin" in notes[1]
    first = tmp_path / "data_batch_1.bin"
    monkeypatch.setitem(cifar.OFFICIAL, first.name, hashlib.md5(first.read_bytes()).hexdigest())
    load_cifar("cifar10", tmp_path, note=notes.append)
    assert len(notes) == 2


@pytest.mark.skipif(locks.fcntl is None, reason="Windows has no locks of this kind")
def test_what_was_left_by_a_killed_process_is_cleared_away_even_if_nothing_is_unpacked(tmp_path):
    write_binary("cifar10", tmp_path)
    left = tmp_path / ".cifar-10-binary.tar.gz.123-0123abcd.unpacking"
    (left / "cifar-10-batches-bin").mkdir(parents=True)
    load_cifar("cifar10", tmp_path)
    assert not left.exists()
