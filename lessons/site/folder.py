"""A folder of files that replaces only what was written here before."""

from __future__ import annotations

import os
from pathlib import Path

from tinyvit.support.errors import UserError
from tinyvit.support.files.atomic import replaced_folder

LIST = "written-by-lessons-site.txt"  # the files of the folder, a line for each


def check_replaceable(out: Path) -> None:
    """Raise UserError if there is anything of that name but an empty folder, or one written here."""
    if not os.path.lexists(out):
        return
    foreign = "it is not a folder"
    if out.is_dir():
        listed, found = set(), out.iterdir()
        if (out / LIST).is_file():
            listed = {LIST, *(out / LIST).read_text("utf-8", "replace").splitlines()}
            found = (path for path in out.rglob("*") if path.is_symlink() or not path.is_dir())
        names = (path.relative_to(out).as_posix() for path in found)
        foreign = next((f"{name} is something else" for name in names if name not in listed), "")
    if foreign:
        raise UserError(
            f"{out} already exists and will not be overwritten: only a folder that lessons.site has written "
            f"is, with nothing else in it, and {foreign}. Choose another name, or move it away."
        )


def write(out: Path, files: dict[str, bytes]) -> None:
    """Write the files, by their paths in the folder. What is there goes only when all are written."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with replaced_folder(out) as beside:
            for name, content in {**files, LIST: "\n".join(files).encode()}.items():
                (beside / name).parent.mkdir(parents=True, exist_ok=True)
                (beside / name).write_bytes(content)
            check_replaceable(out)
    except OSError as error:
        raise UserError(f"cannot create the folder {out}: {error.strerror}. Choose another.") from error
