"""The folder of one training run: everything needed to repeat it, resume it, evaluate it and use it.

config.json     settings, model, classes, a digest of the image files, the versions of the software, and
                what of the settings was changed when the run was resumed, from which step on
metrics.jsonl   one JSON object for each epoch          metrics.csv   the same as a table
last.npz        checkpoint to resume from          best.npz   checkpoint of the best epoch
previous.npz    the last.npz before, in case that is damaged
curves.png      loss and accuracy over the epochs
split.json      the files of the user that were trained on, and held out for validation and for testing
left_out.json   files among the user's images that were not used, each with the reason
samples/        one test image of each of up to ten classes, to try the model on
patches.png     patches that it was shown and predicted, if it learned without labels

A process claims the folder of a new run before it loads anything, and locks the folder of a run that it
resumes, so no two processes train into the same folder.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import platform
import unicodedata
from collections.abc import Callable, Sequence
from itertools import count
from operator import methodcaller
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tinyvit import __version__
from tinyvit.data import PHOTOS
from tinyvit.model import ViTConfig
from tinyvit.support.distributed import on_rank_zero
from tinyvit.support.errors import UserError, class_name, did_you_mean
from tinyvit.support.files import open_regular, parse_json, read_json, read_text
from tinyvit.support.files.atomic import move, write_atomically
from tinyvit.support.files.locks import Claim, Taken
from tinyvit.training.settings import Settings
from tinyvit.weights.checkpoint import Checkpoint, is_change, is_record, load_checkpoint
from tinyvit.weights.known import KNOWN


class RunFolder:
    """The paths and small files of a run, and the claim to train into it."""

    def __init__(self, path: Path):
        self.path = Path(path)
        self.config_path = self.path / "config.json"
        self.metrics_path = self.path / "metrics.jsonl"
        self.table_path = self.path / "metrics.csv"
        self.last_path = self.path / "last.npz"
        self.previous_path = self.path / "previous.npz"
        self.best_path = self.path / "best.npz"
        self.curves_path = self.path / "curves.png"
        self.patches_path = self.path / "patches.png"
        self.split_path = self.path / "split.json"
        self.left_out_path = self.path / "left_out.json"
        self.samples_path = self.path / "samples"
        self._claim = Claim(self.path)
        self.only_start = False  # whether the last checkpoint is that of a new run, before its first step

    def __reduce__(self) -> tuple:
        """A copy in another process has the same paths, but not the claim."""
        return RunFolder, (self.path,)

    @classmethod
    @on_rank_zero
    def claim(cls, out: Path | None, dataset: str, root: Path = Path("runs")) -> RunFolder:
        """A folder for a new run, reserved for this process until release.

        It is out if given, otherwise the first of root/DATASET-1, root/DATASET-2, ... that does not exist.
        Folders are created as needed. Raises UserError if out already contains a run, if another process is
        training into it, or if a folder cannot be created.
        """
        if out is not None:
            run = cls(out)
            if not run._claim.make() and not run.path.is_dir():
                raise UserError(
                    f"cannot create the run folder {run.path}: there is a file of that name. Choose another "
                    "one with --out."
                )
            run.lock()
            try:
                run._check_free()
            except UserError:
                run.release()
                raise
            return run
        for number in count(1):
            run = cls(root / f"{dataset}-{number}")
            if run._claim.make():
                with contextlib.suppress(Taken):  # another process was given this very name with --out
                    run._claim.lock()
                    return run
        raise AssertionError("numbers do not end")

    @on_rank_zero
    def create(
        self, settings: Settings, model: ViTConfig, classes: Sequence[str], parameters: int, data: str = ""
    ) -> None:
        """Write config.json, creating the folder if necessary. Raises UserError if that fails.

        data is a digest of the files that the images are read from (see data.Dataset).
        """
        self._claim.make()
        self._check_free()  # again: without locks, another process may have been faster
        self._write_config(settings, model, classes, parameters, data)
        self._claim.add(self.config_path)

    @on_rank_zero
    def extend(self, settings: Settings, changed: Sequence[dict[str, Any]] = ()) -> None:
        """Rewrite config.json with other settings, and all changes so far; everything else in it is kept."""
        parameters = self._config("parameters", int)
        self._write_config(settings, self.model(), self.classes(), parameters, self.data(), changed)

    def _write_config(
        self,
        settings: Settings,
        model: ViTConfig,
        classes: Sequence[str],
        parameters: int,
        data: str,
        changed: Sequence[dict[str, Any]] = (),
    ) -> None:
        versions = {
            "tinyvit": __version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        }
        record = {
            "settings": settings.as_dict(),
            "model": model.as_dict(),
            "parameters": parameters,
            "classes": list(classes),
            "data": data,
            "versions": versions,
        } | ({"changed": list(changed)} if changed else {})
        text = json.dumps(record, indent=2) + "\n"
        write_atomically(self.config_path, lambda file: file.write(text.encode()))

    @on_rank_zero
    def lock(self) -> None:
        """Keep other processes from training into this folder until release or the end of this process.

        Raises UserError if another process is training into it.
        """
        try:
            self._claim.lock()
        except Taken:
            raise UserError(
                f"{self.path} is in use: another process is training into it. Wait for it to finish, "
                "stop it, or start a new run with another --out."
            ) from None

    def release(self) -> None:
        """Unlock the folder; if nothing was trained, first delete only what this process created in it."""
        if not self.has_trained():
            self._claim.delete_what_was_made()
        self._claim.unlock()

    @on_rank_zero
    def mark_start(self) -> None:
        """Note that the last checkpoint is that of a new run: release deletes it if no other follows."""
        self.only_start = True
        self._claim.add(self.last_path)

    @on_rank_zero
    def write_names(self, left_out: dict[str, str], split: dict[str, Sequence[str]]) -> None:
        """Write left_out.json, a reason for each name, and split.json, the names of each part, if any."""
        for path, names in ((self.left_out_path, left_out), (self.split_path, split)):
            if any(names.values()):
                content = (json.dumps(names, indent=2, ensure_ascii=False) + "\n").encode(
                    "utf-8", "surrogateescape"
                )
                write_atomically(path, methodcaller("write", content))
                self._claim.add(path)

    def recorded(self) -> dict[str, str]:
        """The part of each file of the run's images, by its name with composed accents; '' if it had none.

        Empty if the images were not files, or if what was written of them cannot be read.
        """
        try:
            left_out = _names_in(self.left_out_path) if self.left_out_path.exists() else {}
            parts = [*dict.fromkeys(left_out, "").items()]
            for part, names in _names_in(self.split_path).items():
                parts += [(name, part) for name in names]
            return {unicodedata.normalize("NFC", name): part for name, part in parts}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return {}

    def add_sample(self, name: str, write: Callable[[BinaryIO], object]) -> None:
        """Write a file into samples/, unless it is there; UserError or OSError if it cannot be written."""
        path = self.samples_path / name
        if not self.samples_path.exists():
            self.samples_path.mkdir()
            self._claim.add(self.samples_path)
        if not path.exists():
            write_atomically(path, write)
            self._claim.add(path)

    def has_trained(self) -> bool:
        """True if there is a checkpoint, other than that of the start."""
        return not self.only_start and (self.last_path.exists() or self.best_path.exists())

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """An existing run. Raises UserError if there is none."""
        run = cls(path)
        if not path.exists():
            hint = did_you_mean(str(path), KNOWN)
            raise UserError(f"there is no folder {path}{hint}: expected a run folder made by tinyvit.train.")
        if not run.config_path.is_file():
            raise UserError(
                f"{path} is not a run folder (it has no config.json): expected one made by tinyvit.train."
            )
        is_trained = has_checkpoint(path)
        if (run.path / "model.safetensors").is_file() and not is_trained:
            raise UserError(
                f"{path} is not a run folder but a Hugging Face model: use it with predict --weights, "
                "finetune, fewshot, info or export."
            )
        stated = _stated(run.config_path)
        if not is_trained and stated is not None and "settings" not in stated:
            raise UserError(
                f"{path} is not a run folder (its config.json has no settings) and has no model.safetensors: "
                "if it is a Hugging Face model, download that file too."
            )
        return run

    @classmethod
    def at(cls, source: str) -> RunFolder | None:
        """The run, if the source of a model is the folder of one that has a checkpoint; else None."""
        return cls.open(Path(source)) if has_checkpoint(Path(source)) else None

    @on_rank_zero
    def settings(self) -> Settings:
        """The settings the run was started with, or has had since it was last resumed with others."""
        return Settings.from_dict(self._config("settings", dict), self.config_path)

    def classes(self) -> tuple[str, ...]:
        """The names of the classes, in the order of the logits; none if the run learns without labels."""
        names = self._config("classes", list)
        if not all(isinstance(name, str) for name in names):
            raise self._damaged("its classes are not names")
        classes = tuple(map(class_name, names))
        if not all(classes):
            raise self._damaged(f"class {classes.index('')} has an empty name")
        if len(set(classes)) < len(classes):
            twice = next(name for name in classes if classes.count(name) > 1)
            raise self._damaged(f"two classes are called {twice!r}")
        return classes

    def data(self) -> str:
        """The digest of the files that the images were read from; empty if there is none."""
        return self._config("data", str, "")

    @on_rank_zero
    def changed(self) -> list[dict[str, Any]]:
        """See changes_in."""
        return changes_in(self.config_path)

    def load(self, which: str) -> Checkpoint:
        """The checkpoint 'last' or 'best'. Raises UserError if its model is not the one in config.json."""
        path, other = (self.path / f"{name}.npz" for name in (which, "last" if which == "best" else "best"))
        if other.exists() and not path.exists():
            raise UserError(
                f"there is no checkpoint {path}, but there is {other.name}: choose it with --checkpoint "
                f"{other.stem}, with checkpoint={other.stem!r} in Python or, where a command has no such "
                "flag, give that file in place of the run."
            )
        checkpoint, described = self._load(path), self.model()
        named = 0 if described.predicts_patches else described.classes
        if checkpoint.config != described or named != len(self.classes()):
            raise UserError(
                f"{path} does not contain the model that {self.config_path} describes: restore the folder, "
                "or start a new run."
            )
        return checkpoint

    @on_rank_zero
    def recover_last(self) -> None:
        """Use the previous checkpoint if there is no last one: it was deleted, or was just being replaced."""
        if self.previous_path.exists() and not self.last_path.exists():
            move(self.previous_path, self.last_path)

    def _load(self, path: Path) -> Checkpoint:
        """A checkpoint; if the last one is damaged, the error offers the one before it."""
        try:
            return load_checkpoint(path)
        except UserError as error:
            if path != self.last_path or not (offer := self._offer()):
                raise
            raise UserError(f"{error} {offer}") from error

    def _offer(self) -> str:
        """The way to resume from the previous checkpoint, in words; empty if there is none that is whole."""
        try:
            step = load_checkpoint(self.previous_path).progress.get("step", 0)
        except UserError:
            return ""
        return (
            f"The checkpoint before it, {self.previous_path.name}, after step {step}, is whole: to "
            f"resume from there, delete {self.last_path} and use --resume again."
        )

    def metrics(self) -> list[dict[str, Any]]:
        """The records of the finished epochs, if there are any yet. Raises UserError for a damaged line."""
        try:
            lines = read_text(self.metrics_path).splitlines()
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise UserError(f"{self.metrics_path} cannot be read ({error}): restore the file.") from error
        return [self._record(number, line) for number, line in enumerate(lines, 1)]

    def write_metrics(self, records: list[dict[str, Any]]) -> None:
        """Write the records of all finished epochs."""
        text = "".join(json.dumps(record) + "\n" for record in records)
        write_atomically(self.metrics_path, lambda file: file.write(text.encode()))

    def write_table(self, records: Sequence[dict[str, Any]]) -> None:
        """Write the records of all finished epochs as a table; a field is empty if it was not measured."""
        text = io.StringIO()
        table = csv.DictWriter(text, dict.fromkeys(name for record in records for name in record))
        table.writeheader()
        table.writerows(records)
        write_atomically(self.table_path, lambda file: file.write(text.getvalue().encode()))

    def lacking(self, epochs: int, settings: Settings) -> list[str]:
        """The files that a finished run lacks, or that are older than its last checkpoint, by name.

        It was killed before it had written them, or they were deleted since.
        """
        saved = self.last_path.stat().st_mtime_ns
        written = [self.table_path, self.samples_path] + [self.split_path] * (settings.dataset in PHOTOS)
        drawn = [self.curves_path] + [self.patches_path] * (settings.target is not None)
        files = [self.metrics_path] * (len(self.metrics()) < epochs)
        files += [path for path in written if not path.exists()]
        files += [path for path in drawn if not path.exists() or path.stat().st_mtime_ns < saved]
        return [path.name for path in files]

    def _record(self, number: int, line: str) -> dict[str, Any]:
        try:
            record = parse_json(line)
        except ValueError:
            record = None
        if not is_record(record):
            raise UserError(
                f"{self.metrics_path} is damaged: line {number} is not a JSON object with the numbers of an "
                "epoch. Restore the file, or delete that line."
            )
        return record

    def model(self) -> ViTConfig:
        """The configuration of the model."""
        fields = self._config("model", dict)
        try:
            return ViTConfig(**fields)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise self._damaged(error) from error

    def _config(self, key: str, kind: type, otherwise: Any = None) -> Any:
        try:
            config = read_json(self.config_path)
            value = config[key] if otherwise is None else config.get(key, otherwise)
        except OSError as error:
            raise UserError(
                f"{self.config_path} cannot be read ({error.strerror}): make it readable, or restore it."
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._damaged(error) from error
        if not isinstance(value, kind):
            raise self._damaged(f"{key} is of type {type(value).__name__}")
        return value

    def _damaged(self, reason: object) -> UserError:
        return UserError(f"{self.config_path} is damaged ({reason}): restore it, or start a new run.")

    def _check_free(self) -> None:
        """Raise UserError if the folder already contains a run, or anything that a run would overwrite."""
        if _is_run(self.path):
            raise UserError(
                f"{self.path} already contains a run: add --resume to continue it, or choose another folder "
                "with --out."
            )
        pictures = self.curves_path, self.patches_path
        checkpoints = self.last_path, self.previous_path, self.best_path
        for path in (self.config_path, self.metrics_path, self.table_path, *checkpoints, *pictures):
            if path.exists():
                raise UserError(
                    f"{self.path} contains a file {path.name}, which a run would overwrite: choose another "
                    "folder with --out."
                )


def changes_in(config_path: Path) -> list[dict[str, Any]]:
    """The changes of settings since a run was started, from its config.json: see checkpoint.is_change.

    A file that holds only settings has none. Raises UserError for anything but such changes.
    """
    changed = (_stated(config_path) or {}).get("changed", [])
    if not isinstance(changed, list) or not all(map(is_change, changed)):
        raise UserError(
            f"{config_path} is damaged (its changes of settings are not those of a run): restore it, or "
            'delete "changed" in it.'
        )
    return changed


def has_checkpoint(folder: Path) -> bool:
    """True if there is a checkpoint in a folder, if it is one."""
    return any(os.path.exists(folder / name) for name in ("best.npz", "last.npz"))  # even of a name too long


def latest_run(root: Path = Path("runs")) -> Path:
    """The run folder with the most recent checkpoint. Raises UserError if there is no run."""
    runs = [path.parent for path in sorted(root.glob("*/config.json")) if _is_run(path.parent)]
    if not runs:
        raise UserError(f"there is no run in {root}/ to resume: specify one with --resume RUN, or start one.")
    return max(runs, key=_last_written)


def _is_run(path: Path) -> bool:
    """True if a folder has the readable config.json of a run; a folder that is only claimed has none yet."""
    return "settings" in (_stated(path / "config.json") or ())


def _names_in(path: Path) -> dict[str, list[str]]:
    """The content of split.json or left_out.json, however many files they name."""
    with open_regular(path) as file:
        return json.loads(file.read().decode("utf-8", "surrogateescape"))


def _stated(config_path: Path) -> dict[str, Any] | None:
    """The contents of a config.json; None if it cannot be read, or is anything but a JSON object."""
    try:
        config = read_json(config_path)
    except (OSError, ValueError):
        return None
    return config if isinstance(config, dict) else None


def _last_written(path: Path) -> float:
    """The time at which a run's newest checkpoint was written, or its config.json if it has none yet."""
    checkpoints = [file for file in (path / "last.npz", path / "best.npz") if file.exists()]
    return max(file.stat().st_mtime for file in checkpoints or [path / "config.json"])
