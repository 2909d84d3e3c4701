"""The messages of a run: its length, its model, its recipe, and its results."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tinyvit.backend import Device, array_module
from tinyvit.engine import make_engine
from tinyvit.model import is_resnet, usual_name
from tinyvit.optim import averaged
from tinyvit.support.distributed import on_rank_zero
from tinyvit.support.errors import UserError
from tinyvit.support.figures import as_argument, call, counted, duration
from tinyvit.training.evaluation import figures_of_epoch, with_interval
from tinyvit.training.recipes import followed
from tinyvit.training.recipes.time_here import time_here
from tinyvit.training.run_trainer import RunTrainer
from tinyvit.training.settings import Settings
from tinyvit.training.starting_point import SHAPE
from tinyvit.training.state import State


def length(settings: Settings) -> str:
    """The length of a run, such as '12 epochs'."""
    return counted(settings.steps, "step") if settings.steps else counted(settings.epochs, "epoch")


def described(changed: Mapping[str, Sequence[Any]]) -> str:
    """Settings that were changed, such as 'lr 0.001 -> 0.0003, weight decay 0.05 -> 0.2'."""
    return ", ".join(f"{name} {old} -> {new}".replace("_", " ") for name, (old, new) in changed.items())


def why_done(state: State, settings: Settings) -> str:
    """The reason why a finished run has ended, at its full length or before."""
    if state.is_complete(settings):
        only = (settings.steps or settings.epochs) == 1
        return f"its {length(settings)} is done" if only else f"all {length(settings)} are done"
    stalled = counted(settings.patience or 1, "evaluation")
    return (
        f"it ended early, after epoch {len(state.records)} of {settings.epochs}, since {stalled} in a row "
        f"{'was' if settings.patience == 1 else 'were'} not better than that of epoch {state.best_epoch}"
    )


def command(settings: Settings) -> str:
    """The command that resumes a run."""
    return "pretrain" if settings.target else "train"


def model_name(settings: Settings) -> str:
    """The model of a run, with what differs from its name."""
    if settings.weights:
        return settings.model
    changes = [(name.replace("_", " "), getattr(settings, name)) for name in SHAPE]
    changed = ", ".join(f"{name} {value}" for name, value in changes if value)
    name = f"{'' if is_resnet(settings.model) else 'vit-'}{usual_name(settings.model)}"
    return name + (f" ({changed})" if changed else "")


def where(trainer: RunTrainer, device: Device) -> str:
    """The device and the engine of a run, in words."""
    summary, ranks = trainer.engine.summary(trainer.settings.batch_size), trainer.engine.ranks.size
    together = f"{ranks} processes, each " if ranks > 1 else ""
    return f"{together}{device.label}{',' if device.is_gpu else ' on'} {summary}"


def announce(trainer: RunTrainer) -> None:
    """Name the recipe of a new run and, if it takes long on this CPU, for how long."""
    settings, engine = trainer.settings, trainer.engine
    if trainer.state.step or not (recipe := followed(settings)):
        return
    trainer.progress.note(f"recipe {recipe}: {call('recipe')} {settings.recipe} shows what it reached")
    if recipe == settings.recipe and engine.ranks.size == 1 and array_module(engine.params.flat) is np:
        images = len(trainer.train), len(trainer.validation or trainer.test or ())
        if time := time_here(settings, engine.config, *images):
            trainer.progress.note(f"it takes {time} on this machine, calculated from a second of training")


@on_rank_zero
def outcome(trainer: RunTrainer) -> list[str]:
    """The lines for a run that has come to its end."""
    settings, state = trainer.settings, trainer.state
    early = [] if state.is_complete(settings) else [f"{why_done(state, settings)} (--patience)"]
    return early + list(_after_pretraining(trainer) if settings.target else _after_training(trainer))


def _result(trainer: RunTrainer, kind: str, best: str, show: Callable[[dict[str, Any]], str]) -> str:
    """The test results of the model that is kept, and of the last one, in words.

    kind is 'accuracy' or 'loss', by which the best epoch was chosen, and best is its value, as text.
    show(results) is the text for the figures of an epoch on the test images.
    """
    state, last = trainer.state, trainer.state.records[-1]
    kept, after = f"best.npz, of epoch {state.best_epoch}", show(last)
    is_last = state.best_epoch == last["epoch"]  # but perhaps of an epoch that was cut short: see restored
    chosen = f"the best by validation {kind} ({best})" if trainer.dataset.validation else ""
    if is_last and state.best_loss == last.get("val_loss", last.get("test_loss")):
        return f"{kept}, the last{chosen and ' and '}{chosen}, has test {kind} {after}"
    if not chosen:
        return f"{kept}, has the best test {kind}, {best}; after the last epoch it was {after}"
    try:
        model, engine = trainer.run.load("best"), trainer.engine
        params = model.params.to(array_module(engine.params.flat))
        judge = make_engine(model.config, params, threads=trainer.settings.threads)
        results = figures_of_epoch(None, trainer.task.evaluate(judge, trainer.dataset.test))
    except UserError:
        return f"test {kind} {after} after the last epoch; {kept}, cannot be read"
    return f"{kept}, {chosen}, has test {kind} {show(results)}; after the last epoch it was {after}"


def _after_training(trainer: RunTrainer) -> Iterator[str]:
    """The results of a run, and the commands to go on with."""
    run, state, settings, path = trainer.run, trainer.state, trainer.settings, as_argument(trainer.run.path)
    assert state.best is not None, "a run with labels has an accuracy"
    count, best = len(trainer.dataset.test), f"{100 * state.best:.1f}%"
    result = _result(trainer, "accuracy", best, lambda r: with_interval(r["test_accuracy"], count))
    yield f"done in {duration(state.seconds)}: {result}. Next:"
    yield f"  {call('evaluate')} {path}        accuracy, class by class"
    attention = " --attention a.png    what it sees, and where"
    attention = attention if trainer.engine.config.has_transformer else ""
    samples = as_argument(run.samples_path) if run.samples_path.is_dir() else "IMAGE..."
    yield f"  {call('predict')} {path} {samples}{attention}"
    yield f"  {as_argument(run.curves_path)}        how it went, as a picture"
    if settings.dataset == "shapes" and settings.weights is None:
        yield f"  {call('train')} --dataset cifar10        the real thing"


def _after_pretraining(trainer: RunTrainer) -> Iterator[str]:
    """The results of a run without labels, and the commands to go on with; draws what it predicts."""
    run, state, settings, engine = trainer.run, trainer.state, trainer.settings, trainer.engine

    def shown(results: dict[str, Any]) -> str:
        loss, right = results["test_loss"], results["test_accuracy"]
        share = "" if right is None else f" ({100 * right:.1f}% of the corrupted patches' colours are right)"
        return f"{loss:.3f}{share}"

    result = _result(trainer, "loss", f"{state.best_loss:.3f}", shown)
    yield f"done in {duration(state.seconds)}: {result}. Next:"
    where = f" --data-dir {as_argument(settings.data_dir)}" if settings.data_dir else ""
    path = as_argument(run.path)
    yield f"  {call('finetune')} {path} --dataset {settings.dataset}{where}        learn the classes"
    yield f"  {as_argument(run.curves_path)}        how it went, as a picture"
    if trainer.pictures is None:
        return
    try:
        with averaged(engine.training.average):
            shown_by = engine.config, engine.params
            trainer.pictures.patches(*shown_by, trainer.dataset, settings, run.patches_path)
        yield f"  {as_argument(run.patches_path)}        what it predicts of corrupted patches"
    except (OSError, ValueError) as error:  # a UserError is a ValueError
        yield f"{run.patches_path.name} was not written: {error}"
