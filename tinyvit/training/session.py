"""From settings to a finished run: load the data, make or find the model, train, and say what comes next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tinyvit.backend import select_device
from tinyvit.data import Dataset, hold_out, load_dataset
from tinyvit.engine import available_cores, make_engine
from tinyvit.errors import UserError
from tinyvit.model import ViTConfig, initialise, preset
from tinyvit.training.checkpoint import load_checkpoint
from tinyvit.training.loop import Interrupted, Trainer
from tinyvit.training.progress import Progress, duration
from tinyvit.training.recipes import recipe
from tinyvit.training.run_folder import RunFolder, latest_run, next_run_path
from tinyvit.training.settings import Settings

# Settings that may differ when a run is resumed: where to compute, and where the data lie.
_FREE_ON_RESUME = {"device", "threads", "data_dir"}


def train(
    chosen: dict[str, Any], out: Path | None, resume: Path | bool | None, data_url: str | None = None
) -> int:
    """Start or resume a run; returns the exit status: 0, or 130 if it was interrupted.

    chosen holds the settings that the user gave; all others come from the recipe of the data set, or from
    the run that is resumed. resume is a run folder, or True for the folder `out`, or the latest if there is
    none.
    """
    progress = Progress()
    device = select_device(chosen.get("device", "auto"))
    if device.note:
        progress.note(device.note)
    if resume:
        run = RunFolder.open(resume if isinstance(resume, Path) else out or latest_run())
        settings = _resumed_settings(run, chosen)
    else:
        run = None
        dataset_name = chosen.get("dataset", "shapes")
        settings = Settings(**({"dataset": dataset_name} | recipe(dataset_name, device.is_gpu) | chosen))
        if not device.is_gpu and settings.threads is None:
            settings = replace(settings, threads=available_cores())

    dataset = _load(settings, data_url, progress)
    config = _model(settings, dataset)
    params = initialise(config, settings.seed)
    if run is None:
        run = RunFolder(out or next_run_path(settings.dataset))
    engine = make_engine(config, device, settings.smoothing, settings.threads)
    trainer = Trainer(run, settings, dataset, config, params, engine, device, progress)
    if not resume:
        run.create(settings, config, dataset.classes, params.count)
    elif run.last_path.exists():
        trainer.restore(load_checkpoint(run.last_path))

    progress.header(
        settings.dataset,
        f"vit-{settings.model.lower().removeprefix('vit-')}, {params.count:,} parameters",
        f"{device.label} on {engine.label}" if not device.is_gpu else device.label,
        f"run {run.path}",
    )
    return _fit(trainer, run, progress)


def _fit(trainer: Trainer, run: RunFolder, progress: Progress) -> int:
    if trainer.state.step:
        progress.note(f"resuming after step {trainer.state.step:,} of {trainer.total_steps:,}")
    try:
        record = trainer.fit()
    except Interrupted:
        progress.close()
        print(f"stopped after step {trainer.state.step:,}, which is saved. Go on with:")
        print(f"  python -m tinyvit.train --resume {run.path}")
        return 130
    progress.close()
    state = trainer.state
    print(f"done in {duration(state.seconds)}: test accuracy {100 * record['test_accuracy']:.1f}%, ", end="")
    print(f"best epoch {state.best_epoch} with {100 * state.best:.1f}%. Next:")
    print(f"  python -m tinyvit.evaluate {run.path}                         accuracy, class by class")
    print(f"  python -m tinyvit.predict {run.path} IMAGE... --attention a.png   what it sees, and where")
    print(f"  open {run.curves_path}")
    if trainer.settings.dataset == "shapes":
        print("  python -m tinyvit.train --dataset cifar10                     the real thing")
    return 0


def _resumed_settings(run: RunFolder, chosen: dict[str, Any]) -> Settings:
    """The run's own settings; UserError if the user now asks for others."""
    settings = run.settings()
    for name, value in chosen.items():
        before = getattr(settings, name)
        if name not in _FREE_ON_RESUME and value != before:
            flag = "--" + name.replace("_", "-")
            raise UserError(
                f"{run.path} was started with {flag} {before}, not {value}: a resumed run keeps its "
                "settings. "
                f"Leave {flag} away, or start a new run with another --out."
            )
    return replace(settings, **{name: chosen[name] for name in _FREE_ON_RESUME if name in chosen})


def _load(settings: Settings, data_url: str | None, progress: Progress) -> Dataset:
    report = progress.download(settings.dataset)
    dataset = load_dataset(
        settings.dataset, settings.data_dir, settings.image_size, data_url, settings.seed, report
    )
    return hold_out(dataset, settings.validation, settings.seed) if settings.validation else dataset


def _model(settings: Settings, dataset: Dataset) -> ViTConfig:
    return preset(
        settings.model,
        dataset.train.images.shape[1:3],
        len(dataset.classes),
        pool=settings.pool,
        dropout=settings.dropout,
        drop_path=settings.drop_path,
    )


def load_data_of_run(run: RunFolder, data_dir: Path | None, progress: Progress) -> Dataset:
    """The data set a run was trained on, split as it was then; data_dir if it lies elsewhere now."""
    settings = run.settings()
    return _load(replace(settings, data_dir=data_dir or settings.data_dir), None, progress)
