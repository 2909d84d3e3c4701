"""The files of a folder that are images to train on, to choose the best epoch by, and to test on."""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from tinyvit.data.image_files import Files, files_below, is_junk
from tinyvit.data.parts import (
    NAMES,
    PURPOSES,
    first_word,
    listed,
    part_called,
    split_classes,
    summary,
    with_test,
)
from tinyvit.support.errors import UserError, class_name
from tinyvit.support.figures import counted

LAYOUT = "PATH/train/CLASS/image and PATH/test/CLASS/image, or just PATH/CLASS/image"
_MOST_LOOSE = 0.2  # of the images, that may lie beside the folders of the classes
NEW = "it was not there when the run was trained"

Classes = dict[str, list[Path]]  # the image files of each class, both in sorted order


@dataclass
class Found:
    """The images below path by part and class, the names of the classes, and what of the rest was left out.

    notes are lines about what is odd; left_out has a reason for each file, or folder, that is not used.
    has_table is True if the classes are those of a table, and not of folders; is_drawn if the user has not
    split the images into parts, so that tinyvit did.
    """

    path: Path
    classes: tuple[str, ...]
    parts: dict[str, Classes]
    notes: list[str] = field(default_factory=list)
    left_out: dict[Path, str] = field(default_factory=dict)
    has_table: bool = False
    is_drawn: bool = False

    @property
    def files(self) -> list[Path]:
        """All images, part after part and class after class."""
        return [file for part in self.parts.values() for files in part.values() for file in files]

    def digest(self) -> str:
        """A digest of the names and the sizes of the files, and of the labels if a table gives them."""
        classes = {
            file: f" {name}" for part in self.parts.values() for name, files in part.items() for file in files
        }
        return digest_of(self.path, self.files, classes if self.has_table else {})

    def split_as(self, recorded: Mapping[str, str]) -> None:
        """Put each image into the part that it had in an earlier run, by its composed name; '' is for none.

        Images that are new stay in the part that the user has put them into; where tinyvit split them, they
        are left out. Raises UserError if no image to test on is left.
        """
        is_known = self.is_drawn and "train" in recorded.values()  # older runs recorded what they held out
        parts: dict[str, Classes] = {part: {name: [] for name in self.classes} for part in NAMES}
        for part, classes in self.parts.items():
            otherwise = NEW if is_known else "train" if self.is_drawn else part
            for name, files in classes.items():
                for file in files:
                    to = recorded.get(composed(name_below(self.path, file)), otherwise)
                    if to in parts:
                        parts[to][name].append(file)
                    else:
                        self.left_out[file] = to or "it was not used when the run was trained"
        if not any(parts["test"].values()):
            raise UserError(
                f"{self.path} has none of the images that the run was tested on: give the folder that has "
                "them or, to judge the model on all images of this one, --split all."
            )
        for classes in parts.values():
            for files in classes.values():
                files.sort()
        self.parts = {part: classes for part, classes in parts.items() if any(classes.values())}

    def lines(self) -> list[str]:
        """Lines about the images of each part, and a line for each reason to leave out files."""
        counts = {part: sum(map(len, named.values())) for part, named in self.parts.items()}
        lines = summary(self.path, counts, self.classes) + self.notes
        for part, named in self.parts.items():
            if missing := [name for name in self.classes if not named[name]]:
                lines.append(f"there are no images of {listed(map(repr, missing))} {PURPOSES[part]}")
        by_reason: dict[str, list[str]] = {}
        for file, why in sorted(self.left_out.items()):
            by_reason.setdefault(why, []).append(name_below(self.path, file))
        return lines + [f"left out {listed(files)}: {why}" for why, files in sorted(by_reason.items())]


def name_below(path: Path, file: Path) -> str:
    """The name of a file as it is printed and recorded: relative to path, if it is below."""
    return str(file.relative_to(path)) if file.is_relative_to(path) else str(file)


def composed(name: str) -> str:
    """The name with accents as one character each, as it is compared: a Mac may write them as two."""
    return unicodedata.normalize("NFC", name)


def digest_of(path: Path, files: Iterable[Path], more: dict[Path, str] | None = None) -> str:
    """A digest of the names and the sizes of files below path, and what more there is to each."""
    lines = sorted(
        f"{file.relative_to(path).as_posix()} {file.stat().st_size}{(more or {}).get(file, '')}"
        for file in files
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def folders_of_parts(path: Path) -> dict[str, Path]:
    """The folders in which every folder is a class: of 'train', 'validation' and 'test', or of 'all'.

    Without images for one of the latter two, the others are called 'test'.
    """
    folders = {entry.name.lower(): entry for entry in _folders(path)}
    parts = {
        part: next((folders[name] for name in names if name in folders), None)
        for part, names in NAMES.items()
    }
    present = {part: folder for part, folder in parts.items() if folder}
    if present.keys() == {"train"} and len(folders) == 1:
        return {"all": present["train"]}
    present = with_test(present)
    return present if {"train", "test"} <= present.keys() else {"all": path}


def find_images(path: Path, seed: int) -> Found:
    """The images below path, in one of the two layouts of LAYOUT, and what else is there.

    In the second, TEST_SHARE of each class, chosen by the seed, is held out for testing. Raises UserError if
    path is not such a folder, has fewer than two classes, or has a part without images of these.
    """
    if not path.is_dir():
        raise UserError(f"{path} is not a folder, expected one with a folder for each class: {LAYOUT}.")
    folders = folders_of_parts(path)
    below = files_below(path)
    parts = {part: images_by_class(folder, below.images) for part, folder in folders.items()}
    train = next(iter(parts.values()))
    main = next(iter(folders.values()))
    notes = _check_level(main, train)
    loose = [file for file in below.images if file.parent == main]
    if len(loose) > _MOST_LOOSE * (len(loose) + sum(map(len, train.values()))):
        raise UserError(f"{beside_classes(main, len(loose))}.")
    if loose:
        notes.append(beside_classes(main, len(loose)))
    classes = tuple(name for name, files in train.items() if files)
    used = {part: {name: named.get(name, []) for name in classes} for part, named in parts.items()}
    for part, folder in folders.items():
        if not any(used[part].values()):
            has = counted(sum(file.is_relative_to(folder) for file in below.images), "image")
            raise UserError(
                f"{folder} has {has}, none of them in a folder named by one of the classes "
                f"{listed(map(repr, classes))}: sort them into such folders or, if their classes are not "
                f"known, move them out of {path}."
            )
    is_drawn = "all" in used
    if is_drawn:
        used = split_classes(path, used["all"], seed)
    found = Found(path, classes, used, notes, is_drawn=is_drawn)
    found.left_out = _unused(found, folders, parts, below)
    return found


def beside_classes(folder: Path, count: int) -> str:
    """The clause about images that are in a folder of classes, but in none of these."""
    return (
        f"{folder} has {counted(count, 'image')} beside its folders, in no class: sort them or, if "
        f"{folder} is one class of several, give --data-dir {folder.parent}"
    )


def _folders(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if entry.is_dir() and not is_junk(entry))


def images_by_class(folder: Path, images: Iterable[Path]) -> Classes:
    """The images in each folder of a folder, or below it, by the names of these folders (see class_name)."""
    names = {entry.name: class_name(entry.name) for entry in _folders(folder)}
    first: dict[str, str] = {}  # of the folders with this name, as it is printed
    for original, name in names.items():
        if (before := first.setdefault(name, composed(original))) != composed(original):
            raise UserError(
                f"{folder} contains the folders {before!r} and {original!r}, whose names are printed "
                "alike, expected a name of its own for each class: rename one of them."
            )
    classes: Classes = {name: [] for name in sorted(first, key=Path)}
    depth = len(folder.parts)
    for file in images:
        if file.is_relative_to(folder) and len(file.parts) > depth + 1:
            classes[names[file.parts[depth]]].append(file)
    return classes


def _check_level(folder: Path, classes: Classes) -> list[str]:
    """Raise UserError unless the folders in a folder can be classes; returns notes for what is odd.

    The usual mistake is a folder above or below the one with the classes.
    """
    depth = len(folder.parts)
    names = [name for name, files in classes.items() if files]
    within: dict[str, list[str]] = {}  # the folders in those classes that have no images beside these folders
    for name in names:
        if all(len(file.parts) > depth + 2 for file in classes[name]):
            within[name] = sorted({"/".join(file.parts[depth + 1 : -1]) for file in classes[name]})
    if len(names) < 2:
        has = f"only images of the class {names[0]!r}" if names else "no folders with images"
        has_several = len(within.get((*names, "")[0], ())) > 1
        remedy = f" Perhaps the classes are in {folder / names[0]}." if has_several else ""
        raise UserError(
            f"{folder} contains {has}, expected at least two class folders: {LAYOUT}; or, with --labels, a "
            f"table of the images.{remedy}"
        )
    shared = Counter(chain(names, *within.values()))  # a part has folders of the names that others have
    unfit = [name for name in within if part_called(name) and any(shared[each] > 1 for each in within[name])]
    if all(part_called(first_word(name)) for name in names):
        unfit = names
    if unfit:
        them = f"the folder{'s' * (len(unfit) > 1)} {listed(map(repr, unfit))}"
        raise UserError(
            f"{folder} contains {them}, named as parts of the data and not as classes, expected {LAYOUT}; "
            "or, with --labels, a table of the images."
        )
    for name, deeper in within.items():
        parts = sorted({each.partition("/")[0] for each in deeper})
        if all(map(part_called, parts)):
            raise UserError(
                f"{folder / name} is split into {listed(map(repr, parts))}, expected the parts above the "
                f"classes: {LAYOUT}. Name the folder with the parts, or move them up."
            )
    if not (several := [name for name, deeper in within.items() if len(deeper) > 1]):
        return []
    folders = [f"{name}/{each}" for name in several for each in within[name]]
    largest = max(several, key=lambda name: len(classes[name]))
    return [
        f"all images of {listed(map(repr, several))} are in folders below: {listed(folders)}; if those are "
        f"the classes, give --data-dir {folder / largest}"
    ]


def _unused(
    found: Found, folders: dict[str, Path], parts: dict[str, Classes], below: Files
) -> dict[Path, str]:
    """The files that are not used, each with the reason."""
    unused = dict.fromkeys(below.images, "not in the folder of a class")
    for named in parts.values():
        for files in named.values():
            unused |= dict.fromkeys(files, "its class has no images to train on")
    for folder in folders.values():
        full = {file.parts[len(folder.parts)] for file in below.images if file.is_relative_to(folder)}
        unused |= {each: "a folder without images" for each in _folders(folder) if each.name not in full}
    unused |= dict.fromkeys(below.junk, "hidden, or left by a system") | below.unusable
    unused |= dict.fromkeys(below.others, "not an image")
    used = set(found.files)
    return {file: why for file, why in unused.items() if file not in used}
