"""From settings to a finished run: load the data, make or find the model, train, and say what comes next."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from tinyvit.backend import select_device
from tinyvit.data import Dataset, hold_out, load_dataset
from tinyvit.engine import available_cores, make_engine
from tinyvit.errors import UserError
from tinyvit.model import ViTConfig, usual_name
from tinyvit.pretrained.loading import Model, load_any
from tinyvit.runs.checkpoint import Checkpoint
from tinyvit.runs.folder import RunFolder, latest_run
from tinyvit.runs.settings import Settings
from tinyvit.shell.progress import Progress, duration
from tinyvit.training.loop import Interrupted, Trainer
from tinyvit.training.recipes import FINE_TUNING, fitted_fine_tuning, recipe
from tinyvit.training.starting_point import starting_model

# Settings that may differ when a run is resumed: where to compute, and where the data lie.
_FREE_ON_RESUME = {"device", "threads", "data_dir"}


def train(
    chosen: dict[str, Any], out: Path | None, resume: Path | bool | None, data_url: str | None = None
) -> int:
    """Start or resume a run; returns the exit status: 0, or 128 and the signal's number if interrupted.

    chosen holds the settings that the user gave; all others come from the recipe of the data set, or from
    the run that is resumed. resume is a run folder, or True for the folder `out`, or the latest if there is
    none.
    """
    if resume:
        run = RunFolder.open(_run_to_resume(out, resume))
        run.lock()
    else:
        run = RunFolder.claim(out, chosen.get("dataset", "shapes"))
    try:
        return _train(run, chosen, bool(resume), data_url)
    finally:
        run.release()


def _train(run: RunFolder, chosen: dict[str, Any], resume: bool, data_url: str | None) -> int:
    """Train into a folder that is ours; returns the exit status."""
    if resume:
        settings = _resumed_settings(run, chosen)
        checkpoint = run.load("last") if run.last_path.exists() else None
        if checkpoint and _is_finished(checkpoint, settings):
            print(f"{run.path} is finished: all {settings.epochs} epochs are done, nothing was changed.")
            return 0
    else:
        settings, checkpoint = _new_settings(chosen), None

    progress, device = Progress(), select_device(settings.device)
    if device.note:
        progress.note(device.note)
    weights = _weights(settings, checkpoint, progress)
    if weights and not resume:
        settings = _fitted_to_model(settings, weights[0])
    starting_model(settings, 1, weights)  # so that a mistake is found before anything is downloaded
    dataset = _load(settings, data_url, progress)
    if resume:
        _check_classes(run, dataset)
    else:
        settings = _fitted_to_data(settings, len(dataset.train), chosen)
    config, params = starting_model(settings, len(dataset.classes), weights)
    engine = make_engine(config, device, settings.smoothing, settings.threads)
    trainer = Trainer(run, settings, dataset, config, params, engine, device, progress)
    if checkpoint:
        trainer.restore(checkpoint)
    elif not resume:
        run.create(settings, config, dataset.classes, params.count)

    progress.header(
        settings.dataset,
        f"{_model_name(settings)}, {params.count:,} parameters",
        f"{device.label} on {engine.label}" if not device.is_gpu else device.label,
        f"run {run.path}",
    )
    return _fit(trainer, progress)


def _fit(trainer: Trainer, progress: Progress) -> int:
    """Train and say what came of it; returns the exit status."""
    run, state = trainer.run, trainer.state
    if state.step:
        progress.note(f"going on after step {state.step:,} of {trainer.total_steps:,}")
    try:
        trainer.fit()
    except Interrupted as signal:
        progress.close()
        print(f"stopped after step {state.step:,}, which is saved. Go on with:")
        print(f"  python -m tinyvit.train --resume {quote(str(run.path))}")
        return 128 + signal.number
    finally:
        progress.close()
    chosen_by = "validation" if trainer.dataset.validation else "test"
    accuracy, path = state.records[-1]["test_accuracy"], quote(str(run.path))
    print(
        f"done in {duration(state.seconds)}: test accuracy {100 * accuracy:.1f}%; the best epoch by "
        f"{chosen_by} accuracy was {state.best_epoch}, with {100 * state.best:.1f}%. Next:"
    )
    print(f"  python -m tinyvit.evaluate {path}        accuracy, class by class")
    print(f"  python -m tinyvit.predict {path} IMAGE... --attention a.png    what it sees, and where")
    print(f"  open {quote(str(run.curves_path))}")
    if trainer.settings.dataset == "shapes" and trainer.settings.weights is None:
        print("  python -m tinyvit.train --dataset cifar10        the real thing")
    return 0


def _new_settings(chosen: dict[str, Any]) -> Settings:
    """What the user chose, and for the rest the recipe of the data set, or that of fine-tuning."""
    dataset, device = chosen.get("dataset", "shapes"), select_device(chosen.get("device", "auto"))
    usual = FINE_TUNING if "weights" in chosen else recipe(dataset, device.is_gpu)
    settings = Settings(**({"dataset": dataset} | usual | chosen))
    if not device.is_gpu and settings.threads is None:  # with another number the bits are others
        settings = replace(settings, threads=available_cores())
    return settings


def _weights(settings: Settings, checkpoint: Checkpoint | None, progress: Progress) -> Model | None:
    """What fine-tuning starts from, if it does; the checkpoint, where one goes on: only its shape counts."""
    if settings.weights is None:
        return None
    if checkpoint:
        return checkpoint.config, checkpoint.params
    return load_any(settings.weights, progress, settings.heads)


def _fitted_to_model(settings: Settings, config: ViTConfig) -> Settings:
    """Settings that say what the given model is, and read a folder's images as large as it takes them."""
    if settings.dataset == "folder" and settings.image_size is None:
        settings = replace(settings, image_size=settings.resolution or max(config.image_size))
    return replace(settings, pool=config.pool)


def _fitted_to_data(settings: Settings, images: int, chosen: dict[str, Any]) -> Settings:
    """Settings in which what the user left open suits so many training images."""
    if settings.weights:
        settings = replace(settings, **fitted_fine_tuning(images, chosen))
    length: float = settings.epochs
    if settings.steps:
        length = settings.steps / max(1, images // settings.batch_size)  # in epochs
        settings = replace(settings, epochs=math.ceil(length))
    if "warmup_epochs" not in chosen:  # a short run has no time for a long warm-up
        settings = replace(settings, warmup_epochs=min(settings.warmup_epochs, length / 4))
    return settings


def _run_to_resume(out: Path | None, resume: Path | bool) -> Path:
    if not isinstance(resume, Path):
        return out or latest_run()
    if out and out != resume:
        raise UserError(f"--resume {resume} and --out {out} name two runs: leave one of them away.")
    return resume


def _resumed_settings(run: RunFolder, chosen: dict[str, Any]) -> Settings:
    """The run's own settings; UserError if the user now asks for others."""
    settings = run.settings()
    for name, value in chosen.items():
        before = getattr(settings, name)
        if name not in _FREE_ON_RESUME and value != before:
            flag = "WEIGHTS" if name == "weights" else "--" + name.replace("_", "-")
            raise UserError(
                f"{run.path} was started with {name.replace('_', ' ')} {before}, not {value}: a resumed run "
                f"keeps its settings. Leave {flag} away, or start a new run with another --out."
            )
    return replace(settings, **{name: chosen[name] for name in _FREE_ON_RESUME if name in chosen})


def _is_finished(checkpoint: Checkpoint, settings: Settings) -> bool:
    return len(checkpoint.progress.get("records", ())) >= settings.epochs


def _load(settings: Settings, data_url: str | None, progress: Progress) -> Dataset:
    report = progress.download(settings.dataset)
    dataset = load_dataset(
        settings.dataset, settings.data_dir, settings.image_size, data_url, settings.seed, report
    )
    return hold_out(dataset, settings.validation, settings.seed) if settings.validation else dataset


def _model_name(settings: Settings) -> str:
    return settings.model if settings.weights else f"vit-{usual_name(settings.model)}"


def load_data_of_run(run: RunFolder, data_dir: Path | None, progress: Progress) -> Dataset:
    """The data set a run was trained on, split as it was then; data_dir if it lies elsewhere now.

    Raises UserError if the classes are not those of the run.
    """
    settings = run.settings()
    if data_dir is None and settings.data_dir and not Path(settings.data_dir).is_dir():
        raise UserError(
            f"the data of {run.path} are no longer in {settings.data_dir}: say where by --data-dir."
        )
    dataset = _load(replace(settings, data_dir=data_dir or settings.data_dir), None, progress)
    _check_classes(run, dataset)
    return dataset


def _check_classes(run: RunFolder, dataset: Dataset) -> None:
    if dataset.classes != run.classes():
        raise UserError(
            f"the data have other classes ({len(dataset.classes)}) than {run.path} was trained on "
            f"({len(run.classes())}): point --data-dir at the data of the run."
        )
