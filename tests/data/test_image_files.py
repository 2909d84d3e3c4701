import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from tinyvit.data import image_files
from tinyvit.data.image_files import files_below, images_below, is_image, is_image_name


def touch(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")


def found(folder):
    images, skipped = images_below(folder)
    return [path.relative_to(folder).as_posix() for path in images], skipped


@pytest.mark.parametrize("name", ["a.png", "b.JPG", "c.jpeg", "d.webp", "e.tiff", "f.gif", "g.bmp", "h.ppm"])
def test_images_are_known_by_their_extension(name):
    assert is_image_name(Path("photos") / name)


@pytest.mark.parametrize(
    "name", [".a.png", "png", "notes.txt", "photo.png.zip", "film.mpg", "table.h5", "a.pdf"]
)
def test_hidden_files_and_what_cannot_be_decoded_are_not_images(name):
    assert not is_image_name(Path("photos") / name)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "TIFF", "WEBP", "AVIF"])
def test_images_are_known_by_their_content_too(tmp_path, kind):
    try:
        Image.new("RGB", (4, 4)).save(tmp_path / "photo", format=kind)
    except KeyError:
        pytest.skip(f"this Pillow does not write {kind}")
    (tmp_path / "notes").write_text("GIF is a format, and BM is not the beginning of this text")
    assert is_image(tmp_path / "photo") and not is_image(tmp_path / "notes")
    (tmp_path / "photo").rename(tmp_path / "._photo")
    assert not is_image(tmp_path / "._photo")


def test_what_systems_leave_behind_is_neither_an_image_nor_another_file(tmp_path):
    junk = ["__MACOSX/._1.png", "b/Thumbs.db", "b/desktop.ini", ".ipynb_checkpoints/1.png", "b/.DS_Store"]
    touch(tmp_path, "b/a.png", "b/notes.txt", *junk)
    assert found(tmp_path) == (["b/a.png"], 1)
    assert {path.relative_to(tmp_path).parts[0] for path in files_below(tmp_path).junk} == {
        "__MACOSX",
        ".ipynb_checkpoints",
        "b",
    }


def test_images_in_folders_below_are_found_and_sorted(tmp_path):
    touch(tmp_path, "b/2.png", "b/1.png", "a.png", "c.png", "b/deep/er/3.jpg")
    assert found(tmp_path) == (["a.png", "b/1.png", "b/2.png", "b/deep/er/3.jpg", "c.png"], 0)


def link(path, to):
    try:
        path.symlink_to(to, target_is_directory=to.is_dir())
    except OSError:
        pytest.skip("this system does not let us make links")


def test_links_are_followed_but_for_those_that_lead_back_or_nowhere(tmp_path):
    touch(tmp_path, "p/a/1.png", "p/b/2.png", "store/3.png", "store/deep/4.png")
    links = {"a/store": "store", "a/up": "p/a", "b/root": "p", "b/above": ".", "b/gone.png": "nowhere"}
    for name, to in {**links, "a/file.png": "p/b/2.png"}.items():
        link(tmp_path / "p" / name, tmp_path / to)
    link(tmp_path / "store" / "back", tmp_path / "p")  # which leads back only by way of a/store
    images = ["a/1.png", "a/file.png", "a/store/3.png", "a/store/deep/4.png", "b/2.png"]
    assert found(tmp_path / "p") == (images, 5)
    unusable = files_below(tmp_path / "p").unusable
    back = dict.fromkeys(("a/up", "b/root", "b/above", "a/store/back"), "a link to a folder that it is in")
    assert unusable == {tmp_path / "p" / k: v for k, v in {**back, "b/gone.png": "a link to nothing"}.items()}


def test_other_files_are_counted_and_hidden_ones_ignored(tmp_path):
    touch(tmp_path, "a.png", "a.txt", "b/b.csv", ".DS_Store", ".thumbnails/c.png", "b/.git/d.png", "b/.e.png")
    assert found(tmp_path) == (["a.png"], 2)


def test_a_hidden_folder_that_is_named_is_searched(tmp_path):
    touch(tmp_path, ".cache/a.png")
    assert found(tmp_path / ".cache") == (["a.png"], 0)


def test_an_empty_folder_contains_nothing(tmp_path):
    assert found(tmp_path) == ([], 0)


@pytest.fixture
def lock(monkeypatch):
    """lock(FOLDER): from now on, it cannot be read."""

    def lock(folder):
        def scandir(path):
            if Path(path) == folder:
                raise PermissionError(13, "Permission denied", str(path))
            return scan(path)

        scan = os.scandir
        monkeypatch.setattr(os, "scandir", scandir)

    return lock


def test_a_folder_that_cannot_be_read_is_an_error(tmp_path, lock):
    touch(tmp_path, "a.png", "locked/b.png")
    lock(tmp_path / "locked")
    with pytest.raises(PermissionError):
        images_below(tmp_path)


def test_an_unreadable_folder_does_not_hide_other_files(tmp_path, lock):
    touch(tmp_path, "a.png", "locked/b.png")
    lock(tmp_path / "locked")
    assert files_below(tmp_path).images == [tmp_path / "a.png"]
    why = "a folder that cannot be read (Permission denied)"
    assert files_below(tmp_path).unusable == {tmp_path / "locked": why}


def test_formats_that_another_package_adds_are_known_from_the_first_file_on(monkeypatch, tmp_path):
    def register():
        Image.register_open("NEW", Image.OPEN["PNG"][0], lambda prefix: False)
        Image.register_extension("NEW", ".new")

    monkeypatch.setattr(Image, "OPEN", dict(Image.OPEN))
    monkeypatch.setattr(Image, "EXTENSION", dict(Image.EXTENSION))
    monkeypatch.setattr(Image, "ID", list(Image.ID))
    monkeypatch.setitem(sys.modules, "pillow_heif", SimpleNamespace(register_heif_opener=register))
    try:
        for cached in (image_files.readable_formats, image_files._extensions):
            cached.cache_clear()
        assert image_files.is_image_name(tmp_path / "photo.new")
    finally:
        for cached in (image_files.readable_formats, image_files._extensions):
            cached.cache_clear()
