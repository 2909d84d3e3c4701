"""Which files of a folder are images to train on, to choose the best epoch by, and to test on."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tinyvit.data.image_files import Files, files_below, is_junk
from tinyvit.data.parts import NAMES, PURPOSES, split_classes, summary
from tinyvit.errors import UserError, printable

LAYOUT = "PATH/train/CLASS/image and PATH/test/CLASS/image, or just PATH/CLASS/image"
_SHOWN = 5  # names in a line

Classes = dict[str, list[Path]]  # the image files of each class, both in sorted order


@dataclass
class Found:
    """The images below path by part and class, the names of the classes, and what of the rest was left out.

    lines say what was found; left_out has a reason for each file, or folder, that is not used; has_table says
    that the classes are those of a table, and not of folders.
    """

    path: Path
    classes: tuple[str, ...]
    parts: dict[str, Classes]
    lines: list[str] = field(default_factory=list)
    left_out: dict[Path, str] = field(default_factory=dict)
    has_table: bool = False

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
    found = {part: folder for part, folder in parts.items() if folder}
    if found.keys() == {"train"} and len(folders) == 1:
        return {"all": found["train"]}
    if found.keys() == {"train", "validation"}:
        found["test"] = found.pop("validation")
    return found if {"train", "test"} <= found.keys() else {"all": path}


def find_images(path: Path, seed: int) -> Found:
    """The images below path, in one of the two layouts of LAYOUT, and what else is there.

    In the second, TEST_SHARE of each class, chosen by the seed, is held out for testing. Raises UserError if
    path is not such a folder, or has fewer than two classes.
    """
    if not path.is_dir():
        raise UserError(f"{path} is not a folder, expected one with a folder for each class: {LAYOUT}.")
    folders = folders_of_parts(path)
    below = files_below(path)
    parts = {part: images_by_class(folder, below.images) for part, folder in folders.items()}
    train = parts.get("train", parts.get("all", {}))
    classes = tuple(name for name, files in train.items() if files)
    if len(classes) < 2:
        folder = folders.get("train", folders.get("all"))
        has = f"only images of the class {classes[0]!r}" if classes else "no folders with images"
        raise UserError(f"{folder} contains {has}, expected at least two class folders: {LAYOUT}.")
    if "all" in parts:
        parts = split_classes({name: train[name] for name in classes}, seed)
    used = {part: {name: named.get(name, []) for name in classes} for part, named in parts.items()}
    found = Found(path, classes, used)
    _tell(found, folders, parts, below)
    return found


def _folders(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if entry.is_dir() and not is_junk(entry))


def images_by_class(folder: Path, images: Iterable[Path]) -> Classes:
    """The images in each folder of a folder, or below it."""
    first: dict[str, str] = {}  # of the folders with this name, as it is printed
    for entry in _folders(folder):
        if (before := first.setdefault(printable(entry.name), entry.name)) != entry.name:
            raise UserError(
                f"{folder} contains the folders {before!r} and {entry.name!r}, whose names are printed "
                "alike, expected a name of its own for each class: rename one of them."
            )
    classes: Classes = {printable(entry.name): [] for entry in _folders(folder)}
    for entry in _folders(folder):
        if entry.is_symlink():  # which a walk from above does not enter
            classes[printable(entry.name)] = files_below(entry).images
    depth = len(folder.parts)
    for file in images:
        if file.is_relative_to(folder) and len(file.parts) > depth + 1:
            classes[printable(file.parts[depth])].append(file)
    return classes


def _tell(found: Found, folders: dict[str, Path], parts: dict[str, Classes], below: Files) -> None:
    """Say what was found, and what is left out."""
    counts = {part: sum(map(len, named.values())) for part, named in found.parts.items()}
    found.lines.append(summary(found.path, counts, len(found.classes)))
    for part, named in found.parts.items():
        if lacking := [name for name, files in named.items() if not files]:
            found.lines.append(f"there are no images of {listed(map(repr, lacking))} {PURPOSES[part]}")
    unknown = {
        name: files for named in parts.values() for name, files in named.items() if name not in found.classes
    }
    empty = [folder / name for folder in folders.values() for name in _empty(folder, below)]
    for name, files in unknown.items():
        if files:
            found.lines.append(f"left out {len(files):,} images of {name!r}, which has none to train on")
            found.left_out |= dict.fromkeys(files, "its class has no images to train on")
    if junk := below.junk + empty:
        found.lines.append(f"left out {listed(str(entry.relative_to(found.path)) for entry in junk)}")
        found.left_out |= dict.fromkeys(below.junk, "hidden, or left by a system")
        found.left_out |= dict.fromkeys(empty, "a folder without images")
    strays = sorted(set(below.images) - set(found.files) - found.left_out.keys())
    if others := below.others + strays:
        kinds = Counter(file.suffix.lower() or "without an ending" for file in others).most_common()
        counted = ", ".join(f"{count:,} {kind}" for kind, count in kinds)
        names = listed(str(file.relative_to(found.path)) for file in others)
        found.lines.append(f"skipped {len(others):,} other file{'s'[: len(others) > 1]}: {counted} ({names})")
        found.left_out |= dict.fromkeys(below.others, "not an image")
        found.left_out |= dict.fromkeys(strays, "not in the folder of a class")


def _empty(folder: Path, below: Files) -> list[str]:
    full = {file.parts[len(folder.parts)] for file in below.images if file.is_relative_to(folder)}
    return [entry.name for entry in _folders(folder) if entry.name not in full and not entry.is_symlink()]


def listed(names: Iterable[str]) -> str:
    """The first names, separated by commas, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
