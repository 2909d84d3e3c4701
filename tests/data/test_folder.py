import os
import shutil
import sys

import numpy as np
import pytest
from PIL import Image

from tinyvit.data import class_names, folder, hold_out, keep_classes
from tinyvit.data.folder import load_folder
from tinyvit.support.errors import UserError


def save(path, colour=(200, 30, 60), size=(12, 12), **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path, **options)


def make_classes(folder, names=("cat", "dog"), count=10, first=0):
    """Image i of class c is a plain (10 * c, i, 0), so that every pixel tells where it came from."""
    for label, name in enumerate(names):
        for number in range(first, first + count):
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


@pytest.mark.parametrize("name", ["val", "valid", "validation", "dev", "Test"])
def test_the_only_other_folder_is_tested_on_whatever_its_name(tmp_path, name):
    make_classes(tmp_path / "train", count=3)
    make_classes(tmp_path / name, count=2)
    dataset = load_folder(tmp_path, 8, seed=0)
    assert len(dataset.test) == 4 and dataset.validation is None


@pytest.mark.parametrize("name", ["val", "valid", "validation", "dev"])
def test_beside_a_test_folder_it_is_for_validation(tmp_path, name):
    make_classes(tmp_path / "train", count=5)
    make_classes(tmp_path / name, count=3)
    make_classes(tmp_path / "test", count=2)
    dataset = load_folder(tmp_path, 8, seed=0)
    assert [len(part) for part in (dataset.train, dataset.validation, dataset.test)] == [10, 6, 4]
    assert "10 to train on, 6 for validation and 4 to test on" in told(tmp_path)[0]
    with pytest.raises(UserError, match="validation images already: omit --validation"):
        hold_out(dataset, 2, seed=0)


def test_train_alone_is_split(tmp_path):
    make_classes(tmp_path / "train")
    assert len(load_folder(tmp_path, 8, seed=0).test) == 4


def test_folders_of_a_class_are_searched_and_names_of_files_do_not_matter(tmp_path):
    make_classes(tmp_path, count=5)
    save(tmp_path / "cat" / "deep" / "er" / "photo", (0, 5, 0), format="PNG")
    dataset = load_folder(tmp_path, 8, seed=0)
    assert sorted(origin(dataset.train) + origin(dataset.test))[5] == (0, 5)


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


def test_what_is_not_an_image_of_a_class_is_left_out_and_told(tmp_path):
    make_classes(tmp_path / "train", count=5)
    make_classes(tmp_path / "test", count=2)
    plain = load_folder(tmp_path, 8, seed=0)
    for name in ("labels.csv", "train/cat/notes.txt", "train/cat/b.txt", "train/cat/clip", ".DS_Store"):
        (tmp_path / name).write_text("not an image")
    save(tmp_path / "train" / "cat" / ".hidden.png")
    save(tmp_path / "elsewhere" / "stray.png")
    (tmp_path / "train" / "emu").mkdir()
    save(tmp_path / "train" / ".cache" / "one.png")
    dataset = load_folder(tmp_path, 8, seed=0)
    assert dataset.classes == ("cat", "dog") and dataset.files == plain.files
    np.testing.assert_array_equal(dataset.train.images, plain.train.images)
    assert told(tmp_path)[1:] == [
        "left out train/emu: a folder without images",
        "left out .DS_Store, train/.cache, train/cat/.hidden.png: hidden, or left by a system",
        "left out labels.csv, train/cat/b.txt, train/cat/clip, train/cat/notes.txt: not an image",
        "left out elsewhere/stray.png: not in the folder of a class",
    ]
    assert dataset.left_out.keys() == {
        *(".DS_Store", "labels.csv", "elsewhere/stray.png", "train/.cache", "train/emu"),
        *(f"train/cat/{name}" for name in (".hidden.png", "notes.txt", "b.txt", "clip")),
    }


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(UserError, match=r"nowhere is not a folder.*PATH/CLASS/image"):
        load_folder(tmp_path / "nowhere", 8, seed=0)


def test_images_without_class_folders_are_a_users_mistake(tmp_path):
    save(tmp_path / "cat.png")
    with pytest.raises(
        UserError, match="contains no folders with images, expected at least two class folders"
    ):
        load_folder(tmp_path, 8, seed=0)


def test_a_single_class_is_a_users_mistake(tmp_path):
    make_classes(tmp_path, names=("cat",))
    with pytest.raises(UserError, match="only images of the class 'cat'"):
        load_folder(tmp_path, 8, seed=0)


def test_the_only_image_of_a_class_is_trained_on(tmp_path):
    make_classes(tmp_path)
    save(tmp_path / "emu" / "one.png")
    dataset = load_folder(tmp_path, 8, seed=0)
    assert np.bincount(dataset.train.labels).tolist() == [8, 8, 1]
    assert np.bincount(dataset.test.labels, minlength=3).tolist() == [2, 2, 0]
    assert told(tmp_path)[1] == "there are no images of 'emu' to test on"


def test_labels_go_by_the_names_of_classes_not_by_their_places(tmp_path):
    make_classes(tmp_path / "train", names=("cat", "dog", "emu"), count=2)
    make_classes(tmp_path / "test", names=("ant", "x", "emu"), count=2)
    shutil.rmtree(tmp_path / "test" / "x")
    dataset = load_folder(tmp_path, 8, seed=0)
    assert dataset.classes == ("cat", "dog", "emu")
    assert dataset.test.labels.tolist() == [2, 2] and [red for red, _ in origin(dataset.test)] == [2, 2]
    assert told(tmp_path)[1:] == [
        "there are no images of 'cat', 'dog' to test on",
        "left out test/ant/00.png, test/ant/01.png: its class has no images to train on",
    ]


BROKEN = {"empty.png": b"", "text.jpg": b"not an image", "cut.jpg": None}


def break_some(folder):
    for name, content in BROKEN.items():
        save(folder / name, size=(64, 64))
        (folder / name).write_bytes((folder / name).read_bytes()[:400] if content is None else content)


def test_a_few_damaged_images_are_left_out_and_all_named(tmp_path):
    make_classes(tmp_path)
    plain = load_folder(tmp_path, 8, seed=0)
    break_some(tmp_path / "eel")
    save(tmp_path / "eel" / "good.png", (20, 0, 0))
    dataset = load_folder(tmp_path, 8, seed=3)
    assert len(dataset.train) + len(dataset.test) == len(plain.train) + len(plain.test) + 1
    for part in (dataset.train, dataset.test):
        assert [label for label, _ in origin(part)] == part.labels.tolist()
    lines = [line for line in told(tmp_path, seed=3) if "cannot be read" in line]
    assert lines[0] == f"left out 3 of 24 images in {tmp_path}, which cannot be read:"
    for name in BROKEN:
        assert sum(f"eel/{name} cannot be read as an image (" in line for line in lines) == 1
        assert f"eel/{name}" in dataset.left_out
    with pytest.raises(UserError, match="--strict does not allow") as refused:
        load_folder(tmp_path, 8, seed=3, strict=True)
    assert all(name in str(refused.value) for name in BROKEN)


def test_many_damaged_images_are_refused_and_all_named(tmp_path):
    make_classes(tmp_path, count=5)
    break_some(tmp_path / "dog")
    with pytest.raises(UserError, match=r"3 of 13 images in .* more than 20% of them") as refused:
        load_folder(tmp_path, 8, seed=0)
    assert all(f"dog/{name} cannot be read as an image" in str(refused.value) for name in BROKEN)


def test_a_class_that_has_nothing_else_is_refused(tmp_path):
    make_classes(tmp_path)
    break_some(tmp_path / "eel")
    with pytest.raises(UserError, match="no image of 'eel' to train on can be read"):
        load_folder(tmp_path, 8, seed=0)


def test_decoded_photos_are_kept_until_a_file_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("TINYVIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(folder, "LONG", 0.0)
    photos = tmp_path / "photos"
    make_classes(photos)
    break_some(photos / "cat")
    first = load_folder(photos, 8, seed=0)
    (kept,) = [line for line in told(photos, seed=1) if "decoded photos" in line]
    assert kept.startswith("the decoded photos are those of an earlier run, in ")
    monkeypatch.setattr(folder, "read_photos", None)  # they are not decoded again
    again = load_folder(photos, 8, seed=0)
    for part in ("train", "test"):
        np.testing.assert_array_equal(getattr(again, part).images, getattr(first, part).images)
        np.testing.assert_array_equal(getattr(again, part).labels, getattr(first, part).labels)
    assert again.left_out == first.left_out
    monkeypatch.undo()
    monkeypatch.setenv("TINYVIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(folder, "LONG", 0.0)
    save(photos / "dog" / "00.png", (10, 77, 0))
    changed = load_folder(photos, 8, seed=0)
    assert (1, 77) in origin(changed.train) + origin(changed.test)
    assert len(list((tmp_path / "cache" / "photos").iterdir())) == 2  # the former ones have been replaced
    with monkeypatch.context() as patch:  # as once pillow-heif is installed
        patch.setattr(folder, "readable_formats", lambda: ("PNG", "HEIF"))
        assert not [line for line in told(photos, seed=1) if "earlier run" in line]
    (damaged,) = (tmp_path / "cache" / "photos").glob("*.npy")
    damaged.write_bytes(damaged.read_bytes()[:500])
    assert (1, 77) in origin(load_folder(photos, 8, seed=0).train) + origin(
        load_folder(photos, 8, seed=0).test
    )


def test_decoding_is_counted_from_the_first_image_to_the_last(tmp_path):
    make_classes(tmp_path / "train", count=3)
    make_classes(tmp_path / "test", count=2)
    counts = []
    load_folder(tmp_path, 8, 0, decoding=lambda done, total: counts.append((done, total)))
    assert counts == [(done, 10) for done in range(11)]


def told(path, seed=0):
    """The lines that load_folder has to say of a folder."""
    lines = []
    load_folder(path, 8, seed, note=lines.append)
    return lines


def test_findings_are_reported(tmp_path):
    make_classes(tmp_path)
    assert told(tmp_path) == [f"{tmp_path}: 20 images of 2 classes, 16 to train on and 4 to test on"]


def link(path, to):
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.symlink_to(to, target_is_directory=True)
    except OSError:
        pytest.skip("this system does not let us make links")


@pytest.mark.parametrize("links", [("cat", "dog"), ("train", "test"), ("cat/more", "cat/more/up")])
def test_links_to_parts_to_classes_and_within_classes_are_read(tmp_path, links):
    store, folder = tmp_path / "store", tmp_path / "linked"
    if "train" in links:
        make_classes(store / "train", count=8)
        make_classes(store / "test", count=2, first=8)
    else:
        make_classes(store)
    if links[0] == "cat/more":
        make_classes(folder, names=("other", "dog"))
        link(folder / "cat" / "more", store / "cat")
        link(store / "cat" / "up", folder)
        shutil.rmtree(folder / "other")
    else:
        for name in links:
            link(folder / name, store / name)
    lines = told(folder)
    assert lines[0].endswith("20 images of 2 classes, 16 to train on and 4 to test on")
    loop = ["left out cat/more/up: a link to a folder that it is in"]
    assert lines[1:] == (loop if links[0] == "cat/more" else [])


COMPOSED, SPLIT = "caf\u00e9", "cafe\u0301"  # the same name, as most systems and as a Mac write it


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac has one name for both")
@pytest.mark.parametrize("names", [(SPLIT, COMPOSED), (COMPOSED, SPLIT)])
def test_names_whose_accents_are_written_in_two_ways_are_one_class(tmp_path, names):
    for part, name in zip(("train", "test"), names, strict=True):
        make_classes(tmp_path / "parts" / part, names=(name, "dog", "zebra"), count=2)
    dataset = load_folder(tmp_path / "parts", 8, seed=0)
    assert dataset.classes == (COMPOSED, "dog", "zebra")
    assert dataset.test.labels.tolist() == [0, 0, 1, 1, 2, 2] and not dataset.left_out
    assert all(
        (tmp_path / "parts" / name).is_file() for name in dataset.test.names
    )  # as they are on the disk
    kept = keep_classes(dataset, class_names(f"dog,{SPLIT}", dataset.classes))
    assert kept.classes == ("dog", COMPOSED) and len(kept.left_out) == 4
    for name in (*names, "dog"):
        make_classes(tmp_path / "beside" / name, names=(".",), count=5)
    assert told(tmp_path / "beside")[0].endswith("15 images of 2 classes, 12 to train on and 3 to test on")


def flat(folder, count=3):
    for number in range(count):
        save(folder / f"{number}.png")


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda p: make_classes(p, count=1), "has a single image of each class, expected several"),
        (
            lambda p: (make_classes(p / "train"), flat(p / "test")),
            r"test has 3 images, none of them in a folder named by one of the classes 'cat', .* move them",
        ),
        (
            lambda p: (make_classes(p / "train"), flat(p / "test" / "unknown")),
            "test has 3 images, none of them in a folder named by",
        ),
        (lambda p: (make_classes(p / "train"), (p / "val").mkdir()), "val has 0 images, none of them"),
        (
            lambda p: (flat(p / "train"), flat(p / "test1")),
            "'test1', 'train', named as parts of the data and not as classes.* --labels",
        ),
        (lambda p: (make_classes(p), make_classes(p / "test")), "the folder 'test', named as parts of"),
        (
            lambda p: (make_classes(p / "train"), make_classes(p / "holdout")),
            "the folder 'train', named as parts of the data",
        ),
        (
            lambda p: [make_classes(p / each / part) for each in "ab" for part in ("train", "test")],
            "a is split into 'test', 'train', expected the parts above the classes",
        ),
        (
            lambda p: make_classes(p / "all"),
            "only images of the class 'all'.* Perhaps the classes are in .*all",
        ),
        (
            lambda p: (make_classes(p / "data" / "train"), make_classes(p / "data" / "test")),
            "only images of the class 'data'.* Perhaps the classes are in .*data",
        ),
        (
            lambda p: (make_classes(p, names=("old", "new")), flat(p, 6)),
            r"has 6 images beside its folders, in no class.* one class of several, give --data-dir",
        ),
    ],
)
def test_folders_that_are_not_of_classes_are_refused_before_anything_is_decoded(tmp_path, make, expected):
    make(tmp_path / "p")
    with pytest.raises(UserError, match=expected):
        load_folder(tmp_path / "p", 8, 0, decoding=lambda done, total: pytest.fail("decoded"))


@pytest.mark.parametrize(
    ("make", "line"),
    [
        (
            lambda p: [make_classes(p / each, names=("2019", "2020"), count=5) for each in ("cat", "dog")],
            "all images of 'cat', 'dog' are in folders below: cat/2019, cat/2020, dog/2019, dog/2020; if",
        ),
        (
            lambda p: [make_classes(p / f"seg_{c}" / f"seg_{c}", count=5) for c in ("test", "train")],
            "all images of 'seg_test', 'seg_train' are in folders below: seg_test/seg_test/cat, seg_test/",
        ),
        (
            lambda p: (make_classes(p), flat(p, 4)),
            "has 4 images beside its folders, in no class: sort them or",
        ),
        (
            lambda p: make_classes(p, names=("Cat", "cat")),
            "the classes 'Cat' and 'cat' have nearly the same name",
        ),
        (lambda p: make_classes(p, names=("bus", "train")), None),
        (
            lambda p: [
                make_classes(p / each, names=names, count=5)
                for each, names in {"bus": ("red", "blue"), "train": ("steam", "tram")}.items()
            ],
            "all images of 'bus', 'train' are in folders below",
        ),
    ],
)
def test_what_may_be_meant_is_let_through_and_said(tmp_path, make, line):
    make(tmp_path)
    lines = told(tmp_path)
    assert "20 images of 2 classes, 16 to train on and 4 to test on" in lines[0]
    assert (line is None and lines[1:] == []) or line in lines[1]
