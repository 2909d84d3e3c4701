"""From settings to a finished run: claim a folder, load data and model, train, suggest what to do next."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Any

from tinyvit.backend import Device, select_device, training_note
from tinyvit.data import Dataset
from tinyvit.engine import Training, make_engine
from tinyvit.errors import UserError
from tinyvit.model import Model, is_resnet, usual_name
from tinyvit.optim import Average, make_optimizer
from tinyvit.pretrained.loading import load_any
from tinyvit.runs.checkpoint import Checkpoint
from tinyvit.runs.folder import RunFolder, latest_run
from tinyvit.runs.settings import Settings
from tinyvit.shell.progress import Progress
from tinyvit.training.announcement import announce
from tinyvit.training.augmentation_sheet import draw_augmentation_of
from tinyvit.training.choices import (
    FREE_ON_RESUME,
    fitted_to_data,
    fitted_to_model,
    new_settings,
    resumed_settings,
    settled,
    with_whole_epochs,
)
from tinyvit.training.epoch_files import EpochFiles
from tinyvit.training.loop import Trainer
from tinyvit.training.outcome import outcome
from tinyvit.training.run_data import check_classes, check_fit, load_data
from tinyvit.training.signals import Interrupted, unwinding_signals
from tinyvit.training.starting_point import SHAPE, check_start, starting_model
from tinyvit.training.tasks import task_of


def train(
    chosen: dict[str, Any],
    out: Path | None = None,
    resume: Path | bool | None = None,
    config: Path | None = None,
    data_url: str | None = None,
    show_augmentation: Path | None = None,
    deadline: float = math.inf,
    progress: Progress | None = None,
) -> int:
    """Start or resume a run; returns the exit status: 0, or 128 plus the signal's number if interrupted.

    At the deadline, a time of time.monotonic(), it is interrupted too, and the number is OUT_OF_TIME.
    progress shows what is done, on standard output if it is not given.

    chosen holds the settings that the user gave. All others come from config (a config.json to repeat), from
    the recipe that it names or the one for the data set, or from the run that is resumed. resume is a run
    folder, or True for the folder `out` if given and the latest run otherwise.

    With show_augmentation, a path for a PNG, there is no run: some training images are drawn as the model
    would be shown them.
    """
    progress = progress or Progress()
    if resume and show_augmentation:
        raise UserError("--show-augmentation starts no run, and --resume goes on with one: omit one of them.")
    if resume:
        if config:
            raise UserError("--resume continues a run with that run's settings: omit --config.")
        return _resume(RunFolder.open(_run_to_resume(out, resume)), chosen, data_url, deadline, progress)
    repeated = Settings.load(config) if config else None
    device = select_device(chosen.get("device") or (repeated.device if repeated else "auto"))
    settings = new_settings(chosen, repeated, device)
    if show_augmentation:
        settings, dataset, _ = _prepared(settings, settled(chosen, repeated), data_url, progress)
        draw_augmentation_of(settings, dataset, show_augmentation)
        progress.outcome(f"wrote {show_augmentation}; nothing was trained")
        return 0
    with unwinding_signals(), _released(RunFolder.claim(out, settings.dataset)) as run:
        trainer = _new_trainer(run, settings, settled(chosen, repeated), device, data_url, progress)
        return _fit(trainer, device, deadline, progress)


@contextlib.contextmanager
def _released(run: RunFolder) -> Iterator[RunFolder]:
    """The run, which is released at the end, however that comes."""
    try:
        yield run
    finally:
        run.release()


def _new_trainer(
    run: RunFolder,
    settings: Settings,
    fixed: dict[str, Any],
    device: Device,
    data_url: str | None,
    progress: Progress,
) -> Trainer:
    """The trainer of a new run, its config.json written; fixed holds the settings that must stay."""
    if device.note:
        from_recipe = not fixed.keys() & {"epochs", "steps", "model", "weights", "recipe"}
        length = _length(settings)
        progress.note(
            training_note(device, usual_name(settings.model), length) if from_recipe else device.note
        )
    settings, dataset, weights = _prepared(settings, fixed, data_url, progress)
    model = starting_model(settings, len(dataset.classes), weights, dataset.train.images)
    trainer = _trainer(run, settings, dataset, model, device, progress)
    run.create(settings, model.config, () if settings.target else dataset.classes, model.params.count)
    if settings.weights:  # which may have changed when the run is resumed
        trainer.save()
        run.mark_start()
    return trainer


def _prepared(
    settings: Settings, fixed: dict[str, Any], data_url: str | None, progress: Progress
) -> tuple[Settings, Dataset, Model | None]:
    """The settings of a new run, fitted to its data and weights; these data; and these weights, if any."""
    weights = None
    if settings.weights:
        report = progress.download(settings.weights)
        weights = load_any(settings.weights, report, settings.heads)
        settings = fitted_to_model(settings, weights.config)
    check_start(settings, weights)  # before anything is downloaded
    dataset = load_data(settings, data_url, progress)
    return fitted_to_data(settings, len(dataset.train), fixed), dataset, weights


def _resume(
    run: RunFolder, chosen: dict[str, Any], data_url: str | None, deadline: float, progress: Progress
) -> int:
    """Continue a run, perhaps for longer than originally planned."""
    run.lock()
    with unwinding_signals(), _released(run):
        checkpoint = run.load("last") if run.last_path.exists() else None
        settings = resumed_settings(run, checkpoint, chosen)
        if checkpoint and _is_finished(checkpoint, settings):
            records, changed = checkpoint.progress["records"], "nothing was changed"
            if lacking := run.lacking(len(records)):  # it was stopped after its last checkpoint
                EpochFiles(run, settings, progress.note).write(
                    records, checkpoint.progress.get("best_epoch", 0)
                )
                changed = f"{lacking}, which lacked the last, is complete now"
            progress.outcome(
                f"{run.path} is finished: all {_length(settings)} are done, and {changed}.",
                f"To train it for longer: python -m tinyvit.{_command(settings)} --resume "
                f"{quote(str(run.path))} --{'steps' if settings.steps else 'epochs'} N",
            )
            return 0
        device = select_device(settings.device)
        if device.note:
            progress.note(device.note)
        trainer = _resumed_trainer(run, settings, checkpoint, device, data_url, progress)
        return _fit(trainer, device, deadline, progress)


def _resumed_trainer(
    run: RunFolder,
    settings: Settings,
    checkpoint: Checkpoint | None,
    device: Device,
    data_url: str | None,
    progress: Progress,
) -> Trainer:
    """The trainer of a run that was stopped, where it stood; config.json says so if it is to be longer."""
    dataset, before = load_data(settings, data_url, progress), run.settings()
    check_classes(run, dataset)
    settings = with_whole_epochs(settings, len(dataset.train))
    weights = None
    if settings.weights and checkpoint:  # only its shape counts: its values are restored below
        weights = Model(checkpoint.config, checkpoint.params)
    elif settings.weights:
        weights = load_any(settings.weights, None, settings.heads)
        progress.note(f"there is no checkpoint yet: {settings.weights} is read again, and may have changed")
    model = starting_model(settings, len(dataset.classes), weights, dataset.train.images)
    trainer = _trainer(run, settings, dataset, model, device, progress)
    trainer.recorded |= {name: getattr(before, name) for name in FREE_ON_RESUME}
    if checkpoint:
        trainer.restore(checkpoint)
    if _length(settings) != _length(before):
        if checkpoint:
            trainer.save()
        run.extend(settings)
        progress.note(
            f"extended from {_length(before)} to {_length(settings)}: the learning rate now follows the "
            f"schedule of the longer run, from {trainer.learning_rate(trainer.state.step + 1):.2g} on"
        )
    return trainer


def _trainer(
    run: RunFolder, settings: Settings, dataset: Dataset, model: Model, device: Device, progress: Progress
) -> Trainer:
    """A trainer with its parameters, optimiser and training set on the device."""
    check_fit(settings, dataset)
    params = model.params.to(device.xp)
    training = Training(
        device.xp.asarray(dataset.train.images),
        device.xp.asarray(dataset.train.labels),
        make_optimizer(settings.optimizer, params, settings.weight_decay),
        settings.clip or math.inf,
        settings.accumulate,
        Average(params, settings.ema) if settings.ema else None,
        operations=settings.augment != "none",
    )
    task = task_of(settings, model.config)
    engine = make_engine(model.config, params, task.objective, training, settings.threads, settings.precision)
    return Trainer(run, settings, dataset, engine, progress, task)


def _fit(trainer: Trainer, device: Device, deadline: float, progress: Progress) -> int:
    """Train and print the outcome; returns the exit status."""
    run, state, settings, engine = trainer.run, trainer.state, trainer.settings, trainer.engine
    path = quote(str(run.path))
    try:
        progress.header(
            f"{settings.dataset} without labels" if settings.target else settings.dataset,
            f"{_model_name(settings)}, {engine.params.count:,} parameters",
            _where(trainer, device),
            f"run {run.path}",
        )
        if engine.note:
            progress.note(engine.note)
        if state.step:
            progress.note(f"resumed after step {state.step:,} of {trainer.total_steps:,}")
        announce(trainer)
        trainer.fit(deadline)
    except BrokenPipeError:  # the reader of the progress has gone
        trainer.save()
        raise
    except Interrupted as signal:
        progress.close()
        progress.outcome(
            f"stopped after step {state.step:,}, which is saved. To resume:",
            f"  python -m tinyvit.{_command(settings)} --resume {path}",
        )
        return 128 + signal.number
    finally:
        progress.close()
    progress.outcome(*outcome(trainer))
    return 0


def _where(trainer: Trainer, device: Device) -> str:
    """What computes, and how."""
    summary = trainer.engine.summary(trainer.settings.batch_size)
    return f"{device.label}{',' if device.is_gpu else ' on'} {summary}"


def _run_to_resume(out: Path | None, resume: Path | bool) -> Path:
    if not isinstance(resume, Path):
        return out or latest_run()
    if out and out != resume:
        raise UserError(f"--resume {resume} and --out {out} specify different runs: omit one of them.")
    return resume


def _is_finished(checkpoint: Checkpoint, settings: Settings) -> bool:
    records = checkpoint.progress.get("records", ())  # of epochs that have been evaluated, too
    if settings.steps:
        return bool(records) and records[-1]["step"] >= settings.steps
    return len(records) >= settings.epochs


def _length(settings: Settings) -> str:
    return f"{settings.steps:,} steps" if settings.steps else f"{settings.epochs:,} epochs"


def _command(settings: Settings) -> str:
    return "pretrain" if settings.target else "train"


def _model_name(settings: Settings) -> str:
    if settings.weights:
        return settings.model
    changes = [(name.replace("_", " "), getattr(settings, name)) for name in SHAPE]
    changed = ", ".join(f"{name} {value}" for name, value in changes if value)
    name = f"{'' if is_resnet(settings.model) else 'vit-'}{usual_name(settings.model)}"
    return name + (f" ({changed})" if changed else "")
