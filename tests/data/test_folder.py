import numpy as np
import pytest
from PIL import Image

from tinyvit.data.folder import load_folder
from tinyvit.data.photos import read_image
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


@pytest.mark.parametrize("name", [".DS_Store", ".hidden.png", "notes.txt", "labels.json"])
def test_files_that_are_no_images_are_passed_over(tmp_path, name):
    make_classes(tmp_path, count=5)
    (tmp_path / "cat" / name).write_text("not an image")
    (tmp_path / name).write_text("not an image")
    dataset = load_folder(tmp_path, 8, seed=0)
    assert len(dataset.train) + len(dataset.test) == 10


def test_a_hidden_folder_is_no_class(tmp_path):
    make_classes(tmp_path, names=("cat", "dog", ".cache"))
    assert load_folder(tmp_path, 8, seed=0).classes == ("cat", "dog")


def test_the_shorter_side_is_scaled_and_the_centre_kept(tmp_path):
    image = Image.new("RGB", (90, 30), (255, 0, 0))
    image.paste((0, 0, 255), (30, 0, 60, 30))
    image.save(tmp_path / "wide.png")
    pixels = read_image(tmp_path / "wide.png", 10)
    assert pixels.shape == (10, 10, 3)
    assert pixels.dtype == np.uint8
    assert (pixels[:, 2:-2] == (0, 0, 255)).all()  # at the cut itself the red beyond shines through


def test_a_fine_pattern_is_averaged_not_sampled(tmp_path):
    board = np.indices((64, 64)).sum(axis=0) % 2 * np.uint8(255)
    Image.fromarray(board.astype(np.uint8)).save(tmp_path / "board.png")
    assert np.abs(read_image(tmp_path / "board.png", 8).astype(int) - 127).max() < 20


def test_a_photo_taken_sideways_is_turned_upright(tmp_path):
    image = Image.new("RGB", (32, 32), (0, 0, 0))
    image.paste((255, 255, 255), (0, 0, 16, 32))  # left half white
    exif = image.getexif()
    exif[0x0112] = 6  # orientation: to be turned a quarter to the right
    image.save(tmp_path / "photo.png", exif=exif)
    pixels = read_image(tmp_path / "photo.png", 32)
    assert pixels[:12].min() == 255  # the left became the top
    assert pixels[20:].max() == 0


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "CMYK", "1", "LA"])
def test_images_of_every_colour_mode_become_rgb(tmp_path, mode):
    Image.new("RGB", (9, 9), (255, 255, 255)).convert(mode).save(tmp_path / "image.tif")
    assert (read_image(tmp_path / "image.tif", 4) == 255).all()


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(UserError, match=r"nowhere is no folder.*PATH/CLASS/image"):
        load_folder(tmp_path / "nowhere", 8, seed=0)


def test_images_without_class_folders_are_a_users_mistake(tmp_path):
    save(tmp_path / "cat.png")
    with pytest.raises(UserError, match="holds no folder, expected at least two class folders"):
        load_folder(tmp_path, 8, seed=0)


def test_a_single_class_is_a_users_mistake(tmp_path):
    make_classes(tmp_path, names=("cat",))
    with pytest.raises(UserError, match="only the class 'cat'"):
        load_folder(tmp_path, 8, seed=0)


def test_a_class_without_images_is_named(tmp_path):
    make_classes(tmp_path)
    (tmp_path / "emu").mkdir()
    with pytest.raises(UserError, match="emu holds no image"):
        load_folder(tmp_path, 8, seed=0)


def test_a_class_too_small_to_split_is_named(tmp_path):
    make_classes(tmp_path)
    save(tmp_path / "emu" / "one.png")
    with pytest.raises(UserError, match="emu holds a single image"):
        load_folder(tmp_path, 8, seed=0)


@pytest.mark.parametrize("content", [b"", b"not an image", None], ids=["empty", "text", "cut short"])
def test_a_broken_image_is_named(tmp_path, content):
    make_classes(tmp_path)
    broken = tmp_path / "dog" / "broken.jpg"
    save(broken, size=(64, 64))
    broken.write_bytes(broken.read_bytes()[:400] if content is None else content)
    with pytest.raises(UserError, match=r"dog/broken\.jpg cannot be read as an image"):
        load_folder(tmp_path, 8, seed=0)


def test_an_image_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(UserError, match=r"gone\.png does not exist"):
        read_image(tmp_path / "gone.png", 8)


@pytest.mark.parametrize("with_emu, without", [("train", "test"), ("test", "train")])
def test_a_class_that_only_one_side_has_is_named(tmp_path, with_emu, without):
    make_classes(tmp_path / "train", count=2)
    make_classes(tmp_path / "test", count=2)
    save(tmp_path / with_emu / "emu" / "one.png")
    with pytest.raises(UserError, match=rf"{with_emu} has a class 'emu' that \S*{without} has not"):
        load_folder(tmp_path, 8, seed=0)


def test_sixteen_bits_are_scaled_and_not_cut_off(tmp_path):
    Image.fromarray(np.full((4, 4), 0x8080, np.uint16)).save(tmp_path / "grey.png")
    assert (read_image(tmp_path / "grey.png", 4) == 0x80).all()


def test_floating_point_pixels_are_refused(tmp_path):
    Image.fromarray(np.full((4, 4), 0.5, np.float32)).save(tmp_path / "grey.tiff")
    with pytest.raises(UserError, match="floating-point numbers of no known range"):
        read_image(tmp_path / "grey.tiff", 4)


def test_a_picture_for_a_model_that_is_not_square_keeps_its_proportions(tmp_path):
    pixels = np.zeros((20, 40, 3), np.uint8)
    pixels[5:15, 10:20] = 255
    Image.fromarray(pixels).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_image(tmp_path / "a.png", (20, 40)), pixels)
    assert read_image(tmp_path / "a.png", (10, 20)).shape == (10, 20, 3)


def test_a_very_large_picture_is_read_without_a_word(tmp_path, monkeypatch, recwarn):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    Image.new("RGB", (40, 40)).save(tmp_path / "a.png")
    read_image(tmp_path / "a.png", 4)
    assert not recwarn.list
