import os
import shutil

import numpy as np
import pytest
from PIL import Image

from tinyvit.data.folder import load_folder
from tinyvit.errors import UserError


def save(path, colour=(200, 30, 60), size=(12, 12), **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path, **options)


def make_classes(folder, names=("cat", "dog"), count=10):
    """Image i of class c is a plain (10 * c, i, 0), so that every pixel tells where it came from."""
    for label, name in enumerate(names):
        for number in range(count):
            save(folder / name / f"{number:02}.png", (10 * label, number, 0))


def origin(part):
    """(class, number) of each image."""
    return [(red // 10, green) for red, green in part.images[:, 0, 0, :2].tolist()]


def test_train_and_test_folders_are_read_in_sorted_order(tmp_path):
    make_classes(tmp_path / "train", count=3)
    make_classes(tmp_path / "test", count=2)
    dataset = load_folder(tmp_path, 8, seed=0)
    assert dataset.classes == ("cat", "dog")
    assert origin(dataset.train) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert origin(dataset.test) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert dataset.train.images.shape == (6, 8, 8, 3)


@pytest.mark.skipif(os.name == "nt", reason="Windows allows no such names")
def test_names_of_classes_cannot_command_the_terminal(tmp_path):
    make_classes(tmp_path, names=("cat", "d\x1b[2Jog"))
    assert load_folder(tmp_path, 8, seed=0).classes == ("cat", r"d\x1b[2Jog")


@pytest.mark.skipif(os.name == "nt", reason="Windows allows no such names")
def test_classes_whose_names_are_printed_alike_are_refused(tmp_path):
    """A control character, and a backslash with x01: neither takes the place of the other without a word."""
    make_classes(tmp_path, names=("cat", "\x01", r"\x01"))
    with pytest.raises(UserError) as refused:
        load_folder(tmp_path, 8, seed=0)
    assert r"contains the folders '\x01' and '\\x01', whose names are printed alike" in str(refused.value)


def test_the_test_folder_may_be_called_val(tmp_path):
    make_classes(tmp_path / "train", count=3)
    make_classes(tmp_path / "val", count=2)
    assert len(load_folder(tmp_path, 8, seed=0).test) == 4


def test_labels_belong_to_their_images(tmp_path):
    make_classes(tmp_path, names=("a", "b", "c"))
    dataset = load_folder(tmp_path, 8, seed=0)
    for part in (dataset.train, dataset.test):
        assert [label for label, _ in origin(part)] == part.labels.tolist()


def test_a_fifth_of_every_class_is_held_out_for_testing(tmp_path):
    make_classes(tmp_path)
    dataset = load_folder(tmp_path, 8, seed=0)
    assert np.bincount(dataset.test.labels).tolist() == [2, 2]
    assert sorted(origin(dataset.train) + origin(dataset.test)) == [
        (c, i) for c in range(2) for i in range(10)
    ]


def test_the_split_depends_on_the_seed_alone(tmp_path):
    make_classes(tmp_path)
    assert origin(load_folder(tmp_path, 8, seed=1).test) == origin(load_folder(tmp_path, 8, seed=1).test)
    assert origin(load_folder(tmp_path, 8, seed=1).test) != origin(load_folder(tmp_path, 8, seed=2).test)


def test_the_digest_tells_other_files_from_the_same_ones_elsewhere(tmp_path):
    make_classes(tmp_path / "a", count=5)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    digest = load_folder(tmp_path / "a", 8, seed=0).files
    assert load_folder(tmp_path / "b", 16, seed=1).files == digest
    (tmp_path / "b" / "notes.txt").write_text("not an image")
    assert load_folder(tmp_path / "b", 8, seed=0).files == digest
    found = {digest}
    for change in (
        lambda cat: save(cat / "00.png", size=(13, 14)),
        lambda cat: (cat / "01.png").rename(cat / "1.png"),
        lambda cat: (cat / "02.png").unlink(),
    ):
        change(tmp_path / "b" / "cat")
        found.add(load_folder(tmp_path / "b", 8, seed=0).files)
    assert len(found) == 4


@pytest.mark.parametrize("name", [".DS_Store", ".hidden.png", "notes.txt", "labels.json"])
def test_files_that_are_not_images_are_skipped(tmp_path, name):
    make_classes(tmp_path, count=5)
    (tmp_path / "cat" / name).write_text("not an image")
    (tmp_path / name).write_text("not an image")
    dataset = load_folder(tmp_path, 8, seed=0)
    assert len(dataset.train) + len(dataset.test) == 10


def test_a_hidden_folder_is_not_a_class(tmp_path):
    make_classes(tmp_path, names=("cat", "dog", ".cache"))
    assert load_folder(tmp_path, 8, seed=0).classes == ("cat", "dog")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(UserError, match=r"nowhere is not a folder.*PATH/CLASS/image"):
        load_folder(tmp_path / "nowhere", 8, seed=0)


def test_images_without_class_folders_are_a_users_mistake(tmp_path):
    save(tmp_path / "cat.png")
    with pytest.raises(UserError, match="contains no folders, expected at least two class folders"):
        load_folder(tmp_path, 8, seed=0)


def test_a_single_class_is_a_users_mistake(tmp_path):
    make_classes(tmp_path, names=("cat",))
    with pytest.raises(UserError, match="only the class 'cat'"):
        load_folder(tmp_path, 8, seed=0)


def test_a_class_without_images_is_named(tmp_path):
    make_classes(tmp_path)
    (tmp_path / "emu").mkdir()
    with pytest.raises(UserError, match="emu contains no images"):
        load_folder(tmp_path, 8, seed=0)


def test_a_class_too_small_to_split_is_named(tmp_path):
    make_classes(tmp_path)
    save(tmp_path / "emu" / "one.png")
    with pytest.raises(UserError, match="emu contains a single image"):
        load_folder(tmp_path, 8, seed=0)


@pytest.mark.parametrize("content", [b"", b"not an image", None], ids=["empty", "text", "cut short"])
def test_a_broken_image_is_named(tmp_path, content):
    make_classes(tmp_path)
    broken = tmp_path / "dog" / "broken.jpg"
    save(broken, size=(64, 64))
    broken.write_bytes(broken.read_bytes()[:400] if content is None else content)
    with pytest.raises(UserError, match=r"dog/broken\.jpg cannot be read as an image"):
        load_folder(tmp_path, 8, seed=0)


@pytest.mark.parametrize("with_emu, without", [("train", "test"), ("test", "train")])
def test_a_class_that_only_one_side_has_is_named(tmp_path, with_emu, without):
    make_classes(tmp_path / "train", count=2)
    make_classes(tmp_path / "test", count=2)
    save(tmp_path / with_emu / "emu" / "one.png")
    with pytest.raises(UserError, match=rf"{with_emu} has a class 'emu' that \S*{without} does not have"):
        load_folder(tmp_path, 8, seed=0)


def test_decoding_is_counted_from_the_first_image_to_the_last(tmp_path):
    make_classes(tmp_path / "train", count=3)
    make_classes(tmp_path / "test", count=2)
    counts = []
    load_folder(tmp_path, 8, 0, decoding=lambda done, total: counts.append((done, total)))
    assert counts == [(done, 10) for done in range(11)]


def told(folder):
    """The lines that load_folder has to say of a folder."""
    lines = []
    load_folder(folder, 8, 0, note=lines.append)
    return lines


def test_findings_are_reported(tmp_path):
    make_classes(tmp_path)
    assert told(tmp_path) == [f"{tmp_path}: 20 images of 2 classes, 16 to train on and 4 to test on"]


def test_skipped_files_are_counted_wherever_they_are_but_not_hidden_ones(tmp_path):
    make_classes(tmp_path / "train", count=3)
    make_classes(tmp_path / "test", count=2)
    save(tmp_path / "train" / "cat" / "deeper" / "unused.png")
    save(tmp_path / "elsewhere" / "unused.png")
    for name in ("labels.csv", "train/cat/notes.txt", ".DS_Store", "test/dog/.hidden.png", ".git/index"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("not an image")
    (line,) = told(tmp_path)
    assert line.endswith("10 images of 2 classes, 6 to train on and 4 to test on; skipped 4 other files")
    (tmp_path / "labels.csv").unlink()
    (tmp_path / "elsewhere" / "unused.png").unlink()
    (tmp_path / "train" / "cat" / "notes.txt").unlink()
    assert told(tmp_path)[0].endswith("skipped 1 other file")


def test_classes_that_are_links_to_folders_are_read(tmp_path):
    make_classes(tmp_path / "store")
    (tmp_path / "linked").mkdir()
    for name in ("cat", "dog"):
        try:
            (tmp_path / "linked" / name).symlink_to(tmp_path / "store" / name, target_is_directory=True)
        except OSError:
            pytest.skip("this system does not let us make links")
    assert told(tmp_path / "linked")[0].endswith("16 to train on and 4 to test on")


def test_the_first_broken_image_is_the_one_that_is_named(tmp_path):
    make_classes(tmp_path, count=30)
    for name in ("dog/03.png", "cat/29.png", "dog/04.png", "dog/29.png"):
        (tmp_path / name).write_text("not an image")
    with pytest.raises(UserError, match=r"(cat.29|dog.0[34])\.png cannot be read") as first:
        load_folder(tmp_path, 8, 0)
    for _ in range(3):
        with pytest.raises(UserError) as again:
            load_folder(tmp_path, 8, 0)
        assert str(again.value) == str(first.value)
