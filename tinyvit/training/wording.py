"""What a run says of itself: its length, its model, what to expect of it, and what came of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tinyvit.backend import Device
from tinyvit.distributed import by_first
from tinyvit.insight.judging import with_interval
from tinyvit.model import is_resnet, usual_name
from tinyvit.optim import averaged
from tinyvit.recipes.measured import at_this_speed, expected
from tinyvit.runs.settings import Settings
from tinyvit.shell.figures import as_argument, call, counted, duration
from tinyvit.shell.progress import SPEED_SECONDS
from tinyvit.training.loop import Trainer
from tinyvit.training.starting_point import SHAPE
from tinyvit.training.state import State


def length(settings: Settings) -> str:
    """How long a run is, such as '12 epochs'."""
    return counted(settings.steps, "step") if settings.steps else counted(settings.epochs, "epoch")


def described(changed: Mapping[str, Sequence[Any]]) -> str:
    """Settings that were changed, such as 'lr 0.001 -> 0.0003, weight decay 0.05 -> 0.2'."""
    return ", ".join(f"{name} {old} -> {new}".replace("_", " ") for name, (old, new) in changed.items())


def all_done(settings: Settings) -> str:
    """That a run has come to its end, such as 'all 12 epochs are done'."""
    only = (settings.steps or settings.epochs) == 1
    return f"its {length(settings)} is done" if only else f"all {length(settings)} are done"


def why_done(state: State, settings: Settings) -> str:
    """Why a finished run has come to its end: that of its length, or before."""
    if state.is_complete(settings):
        return all_done(settings)
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


def where(trainer: Trainer, device: Device) -> str:
    """What computes, and how."""
    summary, ranks = trainer.engine.summary(trainer.settings.batch_size), trainer.engine.ranks.size
    together = f"{ranks} processes, each " if ranks > 1 else ""
    return f"{together}{device.label}{',' if device.is_gpu else ' on'} {summary}"


def announce(trainer: Trainer) -> None:
    """Say what to expect of a new run, and, if it was not seen before, how long it takes at its own speed."""
    settings, state, progress = trainer.settings, trainer.state, trainer.progress
    if not state.step:
        for line in expected(settings):
            progress.note(line)
    if settings.recipe and state.seconds < SPEED_SECONDS:
        images, stages = trainer.images_left(), trainer.stages
        progress.once_the_speed_is_known(
            lambda rate: at_this_speed(settings, images, rate, stages.cost(trainer.done))
        )


@by_first
def outcome(trainer: Trainer) -> list[str]:
    """The lines for a run that has come to its end."""
    settings, state = trainer.settings, trainer.state
    early = [] if state.is_complete(settings) else [f"{why_done(state, settings)} (--patience)"]
    return early + list(_after_pretraining(trainer) if settings.target else _after_training(trainer))


def _after_training(trainer: Trainer) -> Iterator[str]:
    """What came of a run, and what to do next."""
    run, state, settings, path = trainer.run, trainer.state, trainer.settings, as_argument(trainer.run.path)
    chosen_by = "validation" if trainer.dataset.validation else "test"
    accuracy, best = state.records[-1]["test_accuracy"], state.best
    assert best is not None, "whoever learns labels has an accuracy"
    tested = with_interval(accuracy, len(trainer.dataset.test))  # the best has none: it was chosen
    yield (
        f"done in {duration(state.seconds)}: test accuracy {tested} after the last epoch; the best epoch by "
        f"{chosen_by} accuracy was {state.best_epoch}, with {100 * best:.1f}%. Next:"
    )
    yield f"  {call('evaluate')} {path}        accuracy, class by class"
    attention = " --attention a.png    what it sees, and where"
    attention = attention if trainer.engine.config.has_transformer else ""
    samples = as_argument(run.samples_path) if run.samples_path.is_dir() else "IMAGE..."
    yield f"  {call('predict')} {path} {samples}{attention}"
    yield f"  {as_argument(run.curves_path)}        how it went, as a picture"
    if settings.dataset == "shapes" and settings.weights is None:
        yield f"  {call('train')} --dataset cifar10        the real thing"


def _after_pretraining(trainer: Trainer) -> Iterator[str]:
    """What came of a run without labels, and what to do next; draws what it predicts."""
    from tinyvit.insight.patches import (
        SHOWN,
        draw_patches,
        filled_patches,  # here, as runs with labels draw no patches
    )

    run, state, settings, engine = trainer.run, trainer.state, trainer.settings, trainer.engine
    last, path = state.records[-1], as_argument(run.path)
    chosen_by = "validation" if trainer.dataset.validation else "test"
    right = last["test_accuracy"]
    share = "" if right is None else f", with {100 * right:.1f}% of the corrupted patches' colours right"
    yield (
        f"done in {duration(state.seconds)}: test loss {last['test_loss']:.3f}{share}, after the last epoch; "
        f"the best epoch by {chosen_by} loss was {state.best_epoch}, with {state.best_loss:.3f}. Next:"
    )
    where = f" --data-dir {as_argument(settings.data_dir)}" if settings.data_dir else ""
    yield f"  {call('finetune')} {path} --dataset {settings.dataset}{where}        learn the classes"
    yield f"  {as_argument(run.curves_path)}        how it went, as a picture"
    try:
        shown = np.asarray(trainer.dataset.test.images[:SHOWN])
        assert settings.target, "this run learns without labels"
        what = settings.target, settings.corrupt, settings.seed
        with averaged(engine.training.average):
            versions = filled_patches(engine.config, engine.params, shown, *what)
        draw_patches(
            versions, run.patches_path, f"{settings.dataset}  ·  {settings.model}  ·  {settings.target}"
        )
        yield f"  {as_argument(run.patches_path)}        what it predicts of corrupted patches"
    except (OSError, ValueError) as error:  # a UserError is a ValueError
        yield f"{run.patches_path.name} was not written: {error}"
