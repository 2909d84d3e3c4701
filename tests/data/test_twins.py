"""Images that are there twice: in two parts of a data set, or in two classes."""

import shutil

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.tiny_runs import tiny
from tinyvit import train
from tinyvit.data import Dataset, ImageSet, load_dataset
from tinyvit.data.parts import without_twins

PARTS = {"train": "to train on", "validation": "for validation", "test": "to test on"}


def plain(numbers, labels=None, part=""):
    """An image of one colour for each number, with names if a part is given."""
    images = np.array(numbers, np.uint8)[:, None, None, None] * np.ones((2, 2, 3), np.uint8)
    names = tuple(f"{part}/{i}.png" for i in range(len(numbers))) if part else ()
    return ImageSet(images, np.array(labels or [0] * len(numbers), np.int64), names)


numbers = st.lists(st.integers(0, 12), min_size=1, max_size=8)


@given(
    given=st.tuples(numbers, st.none() | numbers, numbers), drawn=st.sets(st.sampled_from(list(PARTS)[1:]))
)
def test_no_part_that_was_drawn_keeps_an_image_of_an_earlier_part_unless_nothing_else_is_left(given, drawn):
    sets = {part: each and plain(each, part=part) for part, each in zip(PARTS, given, strict=True)}
    notes = []
    after = without_twins(Dataset("d", ("a", "b"), **sets, drawn=tuple(drawn)), notes.append)
    earlier, lost = set(), 0
    for (part, purpose), there in zip(PARTS.items(), given, strict=True):
        if there is None:
            continue
        kept, own = getattr(after, part).images[:, 0, 0, 0].tolist(), [n for n in there if n not in earlier]
        assert kept == (own if own and part in drawn else there)
        assert any(f"images {purpose} that are also there" in note for note in notes) == (own != there)
        earlier, lost = earlier | set(there), lost + len(there) - len(kept)
    assert len(after.left_out) == lost


def test_they_are_counted_and_named():
    train, test = plain([1, 2, 3, 1], [0, 0, 1, 1], "train"), plain([2, 9, 3, 1], [0, 1, 1, 1], "test")
    notes = []
    data = without_twins(Dataset("d", ("a", "b"), train, test, drawn=("test",)), notes.append)
    assert data.test.names == ("test/1.png",)
    assert data.left_out["test/0.png"] == "the same image: test/0.png = train/1.png"
    assert notes == [
        "images to test on that are also there to train on: 3, left out (test/0.png = train/1.png, "
        "test/2.png = train/2.png, test/3.png = train/0.png)",
        "images that are in two classes: 2 (train/0.png = train/3.png, train/0.png = test/3.png)",
    ]
    notes.clear()
    same = without_twins(Dataset("d", ("a", "b"), train, test), notes.append)
    assert len(same.test) == 4 and notes[0].startswith(
        "images to test on that are also there to train on: 3 ("
    )
    notes.clear()
    without_twins(Dataset("d", ("a", "b"), plain([1, 2]), plain([2, 3])), notes.append)
    assert "image 0 to test on = image 1 to train on" in notes[0]


def test_copies_of_photos_are_not_tested_on_whatever_their_names_and_files(go, photos, tmp_path):
    """A copy, and the same pixels in another format, of many images, so that some are held out."""
    folder = shutil.copytree(photos, tmp_path / "p")
    for i in range(0, 20, 2):
        shutil.copy(folder / "red" / f"{i}.png", folder / "red" / f"IMG_{i} copy.png")
        Image.open(folder / "blue" / f"{i}.png").save(folder / "blue" / f"{i}.bmp")
    shutil.copy(folder / "red" / "1.png", folder / "blue" / "z.png")
    status, out, _ = go(train, *tiny(folder, tmp_path / "run", "--epochs", "1", "--validation", "8"))
    assert status == 0 and "images that are in two classes: 1 (" in out
    assert "images to test on that are also there to train on: " in out
    assert "images for validation that are also there to train on: " in out
    data = load_dataset("folder", folder, 8)
    pixels = [{image.tobytes() for image in part.images} for part in (data.train, data.test)]
    assert not pixels[0] & pixels[1] and len(data.left_out) == 61 - len(data.train) - len(data.test) > 2
    assert all("copy" in why or ".bmp" in why or "z.png" in why for why in data.left_out.values())
