"""From settings to a trainer, new or resumed: its data, its model, its optimiser and its engine."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tinyvit.backend import Device, training_note
from tinyvit.data import Dataset
from tinyvit.model import Model, usual_name
from tinyvit.support.figures import counted
from tinyvit.training.choices import (
    FREE_ON_RESUME,
    check_warmup,
    fitted_to_data,
    fitted_to_model,
    what_changed,
    with_whole_epochs,
)
from tinyvit.training.loop import scheduled_rate
from tinyvit.training.run_data import check_classes, check_files, check_fit, load_data, start_alike
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.run_trainer import Pictures, RunTrainer, write_names
from tinyvit.training.settings import Settings
from tinyvit.training.starting_point import check_start, starting_model
from tinyvit.training.wording import described, length
from tinyvit.weights.checkpoint import Checkpoint

if TYPE_CHECKING:
    from tinyvit.support.shell.progress import Progress


@dataclass(frozen=True)
class RunContext:
    """The arguments of a run beside its settings: where messages go, and where data come from.

    data_url replaces the address that the data are downloaded from; strict refuses damaged files; pictures
    draws what there is to see, and None draws nothing.
    """

    progress: Progress
    data_url: str | None = None
    strict: bool = False
    pictures: Pictures | None = None


def new_trainer(
    run: RunFolder, settings: Settings, fixed: dict[str, Any], device: Device, context: RunContext
) -> RunTrainer:
    """The trainer of a new run, its config.json written; fixed holds the settings that must stay."""
    if device.note:
        from_recipe = not fixed.keys() & {"epochs", "steps", "model", "weights", "recipe"}
        told = training_note(device, usual_name(settings.model), length(settings))
        context.progress.note(told if from_recipe else device.note)
    settings, dataset, weights = prepared(settings, fixed, context)
    places = {name: getattr(settings, name) for name in ("data_dir", "labels", "weights")}
    if places["weights"] and not os.path.exists(places["weights"]):  # a known name
        del places["weights"]
    found: dict[str, Any] = {name: str(Path(place).absolute()) for name, place in places.items() if place}
    settings = replace(settings, **found)  # so that commands in other folders find them too
    model = starting_model(settings, len(dataset.classes), weights, dataset.train.images)
    trainer = _trainer(run, settings, dataset, model, device, context)
    classes = () if settings.target else dataset.classes
    write_names(run, dataset)
    run.create(settings, model.config, classes, model.params.count, dataset.files)
    if settings.weights:  # which may have changed when the run is resumed
        trainer.save()
        run.mark_start()
    return trainer


def prepared(
    settings: Settings, fixed: dict[str, Any], context: RunContext
) -> tuple[Settings, Dataset, Model | None]:
    """The settings of a new run, fitted to its data and weights; these data; and these weights, if any.

    fixed holds the settings that must stay.
    """
    weights = None
    if settings.weights:
        weights = _weights_of(settings, context.progress)
        settings = fitted_to_model(settings, weights.config)
    check_start(settings, weights)  # before anything is downloaded
    check_warmup(settings, fixed)
    dataset = load_data(settings, context.data_url, context.progress, strict=context.strict)
    fitted = fitted_to_data(settings, len(dataset.train), fixed)
    if fitted.batch_size != settings.batch_size and not settings.weights:
        size, images = counted(fitted.batch_size, "image"), len(dataset.train)
        context.progress.note(
            f"a batch has {size} instead of the usual {settings.batch_size}, as there are only {images} to "
            "train on (--batch-size)"
        )
    return fitted, dataset, weights


def resumed_trainer(
    run: RunFolder, settings: Settings, checkpoint: Checkpoint | None, device: Device, context: RunContext
) -> RunTrainer:
    """The trainer of a run that was stopped, where it stood.

    config.json says so if it is to be longer, and what else is to be otherwise, from which step and epoch on.
    """
    progress = context.progress
    dataset = load_data(settings, context.data_url, progress, strict=context.strict)
    before = run.settings()
    check_classes(run, dataset)
    check_files(run, dataset)
    if not run.split_path.exists():
        write_names(run, dataset)
    settings = with_whole_epochs(settings, len(dataset.train))
    weights = None
    if settings.weights and checkpoint:  # only its shape counts: its values are restored below
        weights = Model(checkpoint.config, checkpoint.params)
    elif settings.weights:
        weights = _weights_of(settings, progress)
        progress.note(f"there is no checkpoint yet: {settings.weights} is read again, and may have changed")
    model = starting_model(settings, len(dataset.classes), weights, dataset.train.images)
    trainer = _trainer(run, settings, dataset, model, device, context)
    kept = {name: getattr(before, name) for name in FREE_ON_RESUME}  # the user's choice is for this time only
    trainer.saver.recorded |= kept
    if checkpoint:
        trainer.restore(checkpoint)
    state, start = trainer.state, (checkpoint and checkpoint.settings) or before.as_dict()
    if changed := what_changed(start, state.changed, settings):
        if others := {name: pair for name, pair in changed.items() if name not in ("epochs", "steps")}:
            progress.note(f"changed from step {state.step + 1:,} on: {described(others)}")
        if checkpoint:
            state.changed.append({"step": state.step + 1, "epoch": len(state.records) + 1} | changed)
    if changed or state.changed != run.changed():
        if checkpoint:  # first, so that whatever happens now, the checkpoint is one of the newer settings
            trainer.save()
        run.extend(replace(settings, **kept), state.changed)
    if length(settings) != length(before):
        progress.note(
            f"extended from {length(before)} to {length(settings)}: the learning rate now follows the "
            f"schedule of the longer run, {_first_rate(trainer, before)}"
        )
    return trainer


def _first_rate(trainer: RunTrainer, before: Settings) -> str:
    """The learning rate of the next step of an extended run, beside that of its last step if it is higher."""
    step, steps = trainer.state.step, trainer.steps_per_epoch
    now, last = trainer.learning_rate(step + 1), scheduled_rate(before, step, steps) if step else 0.0
    return f"which raises it from {last:.2g} to {now:.2g}" if now > last > 0 else f"from {now:.2g} on"


def _weights_of(settings: Settings, progress: Progress) -> Model:
    """The weights to start from, which are downloaded if they are a known name."""
    from tinyvit.training.loading import load_any  # here, as a model from scratch needs nothing of it

    assert settings.weights, "only a run that starts from weights loads them"
    return load_any(settings.weights, progress.download(settings.weights), settings.heads)


def _trainer(
    run: RunFolder, settings: Settings, dataset: Dataset, model: Model, device: Device, context: RunContext
) -> RunTrainer:
    """A trainer with its parameters, optimiser and training set on the device."""
    check_fit(settings, dataset)
    model = replace(model, params=model.params.to(device.xp))
    start_alike(dataset, model.config, model.params)
    return RunTrainer(run, settings, dataset, model, context.progress, context.pictures)
