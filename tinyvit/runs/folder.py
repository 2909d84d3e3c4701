"""The folder of one training run: everything needed to repeat it, resume it, judge it and use it.

config.json     settings and model, and the versions they were run with
metrics.jsonl   one JSON object for each epoch
last.npz        checkpoint to resume from          best.npz   checkpoint of the best epoch
curves.png      loss and accuracy over the epochs
"""

from __future__ import annotations

import contextlib
import json
import platform
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from tinyvit.errors import UserError
from tinyvit.files.atomic import write_atomically
from tinyvit.model import ViTConfig
from tinyvit.runs.checkpoint import Checkpoint, load_checkpoint
from tinyvit.runs.settings import Settings
from tinyvit.version import __version__


class RunFolder:
    """Paths and small files of a run."""

    def __init__(self, path: Path):
        self.path = Path(path)
        self.config_path = self.path / "config.json"
        self.metrics_path = self.path / "metrics.jsonl"
        self.last_path = self.path / "last.npz"
        self.best_path = self.path / "best.npz"
        self.curves_path = self.path / "curves.png"

    @classmethod
    def claim(cls, out: Path | None, dataset: str, root: Path = Path("runs")) -> RunFolder:
        path = out or next(p for n in count(1) if not (p := root / f"{dataset}-{n}").exists())
        run = cls(path)
        if run.config_path.exists():
            raise UserError(
                f"{path} holds a run already: add --resume to go on with it, or give a new run another name with --out."
            )
        return run

    def lock(self) -> None: ...

    def release(self) -> None:
        self.discard_if_empty()

    def create(self, settings: Settings, model: ViTConfig, classes: Sequence[str], parameters: int) -> None:
        """Make the folder and write its config.json. Raises UserError if the disk does not let us."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"cannot make the run folder {self.path}: {error.strerror}. Choose another place with --out."
            ) from error
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
            "versions": versions,
        }
        text = json.dumps(record, indent=2) + "\n"
        try:
            write_atomically(self.config_path, lambda file: file.write(text.encode()))
        except UserError:
            self.discard_if_empty()
            raise

    def discard_if_empty(self) -> None:
        """Take away what create made, if no checkpoint has joined it."""
        if not (self.last_path.exists() or self.best_path.exists()):
            self.config_path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # what else lies there is not ours
                self.path.rmdir()

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """An existing run. Raises UserError if there is none."""
        run = cls(path)
        if not run.config_path.is_file():
            raise UserError(
                f"{path} is no run folder (it has no config.json): expected one that tinyvit.train made."
            )
        has_checkpoint = run.best_path.exists() or run.last_path.exists()
        if (run.path / "model.safetensors").is_file() and not has_checkpoint:
            raise UserError(
                f"{path} is no run folder but a model of Hugging Face's: predict --weights, finetune, "
                "fewshot, info and export take it."
            )
        return run

    def settings(self) -> Settings:
        """The settings the run was started with."""
        return Settings.from_dict(self._config("settings", dict))

    def classes(self) -> tuple[str, ...]:
        """Names of the classes, in the order of the logits."""
        return tuple(self._config("classes", list))

    def load(self, which: str) -> Checkpoint:
        """The checkpoint 'last' or 'best'. Raises UserError if it is not of the model in config.json."""
        path, other = (self.path / f"{name}.npz" for name in (which, "last" if which == "best" else "best"))
        if other.exists() and not path.exists():
            raise UserError(
                f"there is no checkpoint {path}, but {other.name} is there: say --checkpoint {other.stem}."
            )
        checkpoint, described = load_checkpoint(path), self._model()
        if checkpoint.config != described or described.classes != len(self.classes()):
            raise UserError(
                f"{path} is a checkpoint of another model than {self.config_path} describes: restore the "
                "run folder, or start a new run."
            )
        return checkpoint

    def _model(self) -> ViTConfig:
        try:
            return ViTConfig(**self._config("model", dict))
        except (TypeError, ValueError) as error:
            raise self._damaged(error) from error

    def _config(self, key: str, kind: type) -> Any:
        try:
            value = json.loads(self.config_path.read_text("utf-8"))[key]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._damaged(error) from error
        if not isinstance(value, kind):
            raise self._damaged(f"{key} is {value!r}")
        return value

    def _damaged(self, reason: object) -> UserError:
        return UserError(f"{self.config_path} is damaged ({reason}): restore it, or start a new run.")

    def write_metrics(self, records: Sequence[dict[str, Any]]) -> None:
        """Write all records to metrics.jsonl."""
        text = "".join(json.dumps(record) + "\n" for record in records)
        write_atomically(self.metrics_path, lambda file: file.write(text.encode()))


def next_run_path(dataset: str, root: Path = Path("runs")) -> Path:
    """The first of runs/DATASET-1, runs/DATASET-2, ... that does not exist."""
    return next(path for n in count(1) if not (path := root / f"{dataset}-{n}").exists())


def latest_run(root: Path = Path("runs")) -> Path:
    """The run folder whose checkpoint was written last. Raises UserError if there is none."""
    runs = [path.parent for path in root.glob("*/config.json")]
    if not runs:
        raise UserError(f"there is no run in {root}/ to resume: say which with --resume RUN, or start one.")
    return max(runs, key=lambda run: max(path.stat().st_mtime for path in run.iterdir()))
