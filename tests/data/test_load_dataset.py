import numpy as np
import pytest
from PIL import Image

from tinyvit import data
from tinyvit.data import DATASETS, cifar, load_dataset
from tinyvit.support.errors import UserError


@pytest.fixture
def image_folder(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        for number in range(2):
            Image.new("RGB", (9, 9)).save(tmp_path / name / f"{number}.png")
    return tmp_path


def test_shapes_need_nothing_but_their_name(shapes):
    assert shapes.name == "shapes"
    assert shapes.train.images.shape == (10_000, 32, 32, 3)
    assert len(shapes.test) == 2_000


def test_the_seed_reaches_the_shapes(monkeypatch):
    monkeypatch.setattr(data, "make_shapes", lambda seed: seed)
    assert load_dataset("shapes", seed=7) == 7


@pytest.mark.parametrize("given, used", [(None, 64), (16, 16)])
def test_the_image_size_reaches_the_folder(image_folder, given, used):
    assert load_dataset("folder", image_folder, given).train.images.shape == (2, used, used, 3)


def test_photos_that_are_all_dark_are_mentioned(image_folder):
    """Masks, for example, whose classes are 0, 1, 2 and so on."""
    lines = []
    load_dataset("folder", image_folder, note=lines.append)  # black
    assert not any("images are dark" in line for line in lines)
    for i, path in enumerate(sorted(image_folder.glob("*/*.png"))):
        Image.new("L", (9, 9), 1 + i).save(path)
    load_dataset("folder", image_folder, note=lines.append)
    assert "the images are dark: hardly a pixel is above 3, and white is 255" in lines[-1]


def test_a_folder_given_as_text_will_do(image_folder):
    expected = load_dataset("folder", image_folder).train.images
    np.testing.assert_array_equal(load_dataset("folder", str(image_folder)).train.images, expected)


def test_cifar_is_kept_in_a_folder_called_data_by_default(monkeypatch, tmp_path):
    monkeypatch.setattr(cifar, "load_cifar", lambda name, folder, url, *more: (name, str(folder), url))
    assert load_dataset("cifar10") == ("cifar10", "data", None)
    assert load_dataset("cifar100", tmp_path, data_url="http://m/") == (
        "cifar100",
        str(tmp_path),
        "http://m/",
    )


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UserError, match=f"'imagenet', expected one of {', '.join(DATASETS)}"):
        load_dataset("imagenet")


@pytest.mark.parametrize(
    ("name", "instead"),
    [("cifar10", "create it or omit --data-dir"), ("folder", "name one with a folder for each class")],
)
def test_a_data_folder_that_does_not_exist_is_not_created(name, instead, tmp_path):
    with pytest.raises(UserError, match=rf"nowhere is not a folder.*{instead}"):
        load_dataset(name, tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_data_set_without_its_folder_asks_for_it():
    with pytest.raises(UserError, match="--data-dir"):
        load_dataset("folder")


@pytest.mark.parametrize(
    ("name", "side"),
    [("shapes", 32), ("cifar10", 32), ("cifar100", 32), ("mnist", 28), ("fashion-mnist", 28)],
)
def test_another_image_size_than_the_data_have_is_a_users_mistake(name, side):
    with pytest.raises(UserError, match=f"{name} are {side} pixels wide, not 64"):
        load_dataset(name, image_size=64)


@pytest.mark.parametrize("size", [0, -1, 1.5, "64", 10**9])
def test_an_image_size_that_cannot_be_is_refused(image_folder, size):
    with pytest.raises(
        UserError, match=f"the image size is {size!r}, expected a whole number from 1 to 16,384"
    ):
        load_dataset("folder", image_folder, size)


@pytest.mark.parametrize("seed", [-1, 1.5, None, 2**64])
@pytest.mark.parametrize("name", ["shapes", "folder"])
def test_a_seed_that_cannot_be_is_refused(image_folder, name, seed):
    with pytest.raises(UserError, match=f"the seed is {seed}, expected a whole number, 0 or more, and below"):
        load_dataset(name, image_folder if name == "folder" else None, seed=seed)


@pytest.mark.parametrize("name", ["shapes", "folder"])
def test_an_address_for_what_is_not_downloaded_is_refused(name, image_folder):
    with pytest.raises(UserError, match=f"{name} is not downloaded: omit --data-url"):
        load_dataset(name, image_folder if name == "folder" else None, data_url="https://example.org")


@pytest.mark.parametrize("name", ["shapes", "cifar10", "mnist"])
def test_classes_to_keep_are_checked_before_anything_is_drawn_or_read(name, tmp_path, monkeypatch):
    monkeypatch.setattr(data, "make_shapes", lambda **_: pytest.fail("they were drawn"))
    with pytest.raises(UserError, match=f"{name} has no class 'unicorn'"):
        load_dataset(name, tmp_path if name != "shapes" else None, only="unicorn,other")
