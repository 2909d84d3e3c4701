"""From settings to a finished run: claim a folder, load data and model, train, suggest what to do next."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any

from tinyvit.backend import Device, select_device, training_note
from tinyvit.data import Dataset
from tinyvit.engine import Training, make_engine
from tinyvit.errors import UserError
from tinyvit.model import Model, is_resnet, usual_name
from tinyvit.optim import Average, make_optimizer
from tinyvit.optim.sharded import Sharded
from tinyvit.parallel import Ranks, start
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
    on_ranks,
    resumed_settings,
    settled,
    with_whole_epochs,
)
from tinyvit.training.epoch_files import EpochFiles
from tinyvit.training.loop import Trainer
from tinyvit.training.outcome import outcome
from tinyvit.training.run_data import check_classes, check_fit, check_same_data, load_data
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
    ranks: Ranks | None = None,
) -> int:
    """Start or resume a run; returns the exit status: 0, or 128 plus the signal's number if interrupted.

    At the deadline, a time of time.monotonic(), it is interrupted too, and the number is OUT_OF_TIME.
    progress shows what is done, on standard output if it is not given. ranks are the processes that train
    together, those of this job if they are not given; only the first of them prints and writes files.

    chosen holds the settings that the user gave. All others come from config (a config.json to repeat), from
    the recipe that it names or the one for the data set, or from the run that is resumed. resume is a run
    folder, or True for the folder `out` if given and the latest run otherwise.

    With show_augmentation, a path for a PNG, there is no run: some training images are drawn as the model
    would be shown them.
    """
    ranks = start() if ranks is None else ranks
    progress = (progress or Progress()) if ranks.is_first else Progress.silent()
    if resume and show_augmentation:
        raise UserError("--show-augmentation starts no run, and --resume goes on with one: omit one of them.")
    if resume:
        if config:
            raise UserError("--resume continues a run with that run's settings: omit --config.")
        run = ranks.first(_run_to_resume, out, resume)
        return _resume(run, chosen, data_url, deadline, progress, ranks)
    repeated = ranks.first(Settings.load, config) if config else None
    device = _device(chosen.get("device") or (repeated.device if repeated else "auto"), ranks)
    settings = new_settings(chosen, repeated, device, ranks)
    if show_augmentation:
        settings, dataset, _ = _prepared(settings, settled(chosen, repeated), data_url, progress, ranks)
        ranks.first(draw_augmentation_of, settings, dataset, show_augmentation)
        progress.outcome(f"wrote {show_augmentation}; nothing was trained")
        return 0
    with unwinding_signals(), _released(ranks.first(RunFolder.claim, out, settings.dataset)) as run:
        trainer = _new_trainer(run, settings, settled(chosen, repeated), device, data_url, progress, ranks)
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
    ranks: Ranks,
) -> Trainer:
    """The trainer of a new run, its config.json written; fixed holds the settings that must stay."""
    if device.note:
        from_recipe = not fixed.keys() & {"epochs", "steps", "model", "weights", "recipe"}
        length = _length(settings)
        progress.note(
            training_note(device, usual_name(settings.model), length) if from_recipe else device.note
        )
    settings, dataset, weights = _prepared(settings, fixed, data_url, progress, ranks)
    model = starting_model(settings, len(dataset.classes), weights, dataset.train.images)
    trainer = _trainer(run, settings, dataset, model, device, progress, ranks)
    classes = () if settings.target else dataset.classes
    ranks.first(run.create, settings, model.config, classes, model.params.count)
    if settings.weights:  # which may have changed when the run is resumed
        trainer.save()
        run.mark_start()
    return trainer


def _prepared(
    settings: Settings, fixed: dict[str, Any], data_url: str | None, progress: Progress, ranks: Ranks
) -> tuple[Settings, Dataset, Model | None]:
    """The settings of a new run, fitted to its data and weights; these data; and these weights, if any."""
    weights = None
    if settings.weights:
        report = progress.download(settings.weights)
        weights = ranks.in_turn(load_any, settings.weights, report, settings.heads)
        settings = fitted_to_model(settings, weights.config)
    check_start(settings, weights)  # before anything is downloaded
    dataset = ranks.in_turn(load_data, settings, data_url, progress)
    return fitted_to_data(settings, len(dataset.train), fixed), dataset, weights


def _resume(
    run: RunFolder,
    chosen: dict[str, Any],
    data_url: str | None,
    deadline: float,
    progress: Progress,
    ranks: Ranks,
) -> int:
    """Continue a run, perhaps for longer than originally planned."""
    ranks.first(run.lock)
    with unwinding_signals(), _released(run):
        ranks.first(run.recover_last)
        checkpoint = ranks.first(_last_checkpoint, run)
        settings = ranks.first(resumed_settings, run, checkpoint, chosen)
        if checkpoint and _is_finished(checkpoint, settings):
            if not ranks.is_first:
                return 0
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
        device = _device(settings.device, ranks)
        if device.note:
            progress.note(device.note)
        settings = on_ranks(settings, chosen, device, ranks)
        trainer = _resumed_trainer(run, settings, checkpoint, device, data_url, progress, ranks)
        return _fit(trainer, device, deadline, progress)


def _resumed_trainer(
    run: RunFolder,
    settings: Settings,
    checkpoint: Checkpoint | None,
    device: Device,
    data_url: str | None,
    progress: Progress,
    ranks: Ranks,
) -> Trainer:
    """The trainer of a run that was stopped, where it stood; config.json says so if it is to be longer."""
    dataset, before = ranks.in_turn(load_data, settings, data_url, progress), ranks.first(run.settings)
    ranks.first(check_classes, run, dataset)
    settings = with_whole_epochs(settings, len(dataset.train))
    weights = None
    if settings.weights and checkpoint:  # only its shape counts: its values are restored below
        weights = Model(checkpoint.config, checkpoint.params)
    elif settings.weights:
        weights = ranks.in_turn(load_any, settings.weights, None, settings.heads)
        progress.note(f"there is no checkpoint yet: {settings.weights} is read again, and may have changed")
    model = starting_model(settings, len(dataset.classes), weights, dataset.train.images)
    trainer = _trainer(run, settings, dataset, model, device, progress, ranks)
    trainer.saver.recorded |= {name: getattr(before, name) for name in FREE_ON_RESUME}
    if checkpoint:
        trainer.restore(checkpoint)
    if _length(settings) != _length(before):
        if checkpoint:
            trainer.save()
        ranks.first(run.extend, settings)
        progress.note(
            f"extended from {_length(before)} to {_length(settings)}: the learning rate now follows the "
            f"schedule of the longer run, from {trainer.learning_rate(trainer.state.step + 1):.2g} on"
        )
    return trainer


def _trainer(
    run: RunFolder,
    settings: Settings,
    dataset: Dataset,
    model: Model,
    device: Device,
    progress: Progress,
    ranks: Ranks,
) -> Trainer:
    """A trainer with its parameters, optimiser and training set on the device."""
    check_fit(settings, dataset)
    check_same_data(dataset, ranks)
    params = model.params.to(device.xp)
    ranks.all_gather(params.flat)  # so that all start from the same bits, whatever machine drew them
    make = partial(make_optimizer, settings.optimizer, weight_decay=settings.weight_decay)
    shards = settings.shard_optimizer and ranks.size > 1
    training = Training(
        device.xp.asarray(dataset.train.images),
        device.xp.asarray(dataset.train.labels),
        Sharded(make, params, ranks) if shards else make(params),
        settings.clip or math.inf,
        settings.accumulate,
        Average(params, settings.ema) if settings.ema else None,
        operations=settings.augment != "none",
        ranks=ranks,
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
        if isinstance(engine.training.optimizer, Sharded):
            progress.note(engine.training.optimizer.summary())
        if state.step:
            progress.note(f"resumed after step {state.step:,} of {trainer.total_steps:,}")
        announce(trainer)
        trainer.fit(deadline)
    except BrokenPipeError:  # the reader of the progress has gone
        if trainer.ranks.size == 1:  # otherwise the others are busy with the next step
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
    if trainer.ranks.is_first:
        progress.outcome(*outcome(trainer))
    return 0


def _where(trainer: Trainer, device: Device) -> str:
    """What computes, and how."""
    summary, ranks = trainer.engine.summary(trainer.settings.batch_size), trainer.ranks.size
    together = f"{ranks} processes, each " if ranks > 1 else ""
    return f"{together}{device.label}{',' if device.is_gpu else ' on'} {summary}"


def _device(wanted: str, ranks: Ranks) -> Device:
    """The device of this rank: of a machine's GPUs, each of its ranks takes another."""
    device = select_device(wanted, ranks.local_rank)
    ranks.check_same(device.is_gpu, "the devices, CPU or GPU,")
    return device


def _run_to_resume(out: Path | None, resume: Path | bool) -> RunFolder:
    if not isinstance(resume, Path):
        return RunFolder.open(out or latest_run())
    if out and out != resume:
        raise UserError(f"--resume {resume} and --out {out} specify different runs: omit one of them.")
    return RunFolder.open(resume)


def _last_checkpoint(run: RunFolder) -> Checkpoint | None:
    return run.load("last") if run.last_path.exists() else None


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
