"""What came of a finished run, in the lines that are printed at its end, and what to do next."""

from collections.abc import Iterator

from tinyvit.distributed import by_first
from tinyvit.optim import averaged
from tinyvit.shell.figures import duration
from tinyvit.shell.names import as_argument
from tinyvit.training.loop import Trainer


@by_first
def outcome(trainer: Trainer) -> list[str]:
    """The lines for a run that has come to its end."""
    return list(_after_pretraining(trainer) if trainer.settings.target else _after_training(trainer))


def _after_training(trainer: Trainer) -> Iterator[str]:
    """What came of a run, and what to do next."""
    run, state, settings, path = trainer.run, trainer.state, trainer.settings, as_argument(trainer.run.path)
    chosen_by = "validation" if trainer.dataset.validation else "test"
    accuracy, best = state.records[-1]["test_accuracy"], state.best
    assert best is not None, "whoever learns labels has an accuracy"
    yield (
        f"done in {duration(state.seconds)}: test accuracy {100 * accuracy:.1f}% after the last epoch; the "
        f"best epoch by {chosen_by} accuracy was {state.best_epoch}, with {100 * best:.1f}%. Next:"
    )
    yield f"  python -m tinyvit.evaluate {path}        accuracy, class by class"
    attention = " --attention a.png    what it sees, and where"
    attention = attention if trainer.engine.config.has_transformer else ""
    samples = as_argument(run.samples_path) if run.samples_path.is_dir() else "IMAGE..."
    yield f"  python -m tinyvit.predict {path} {samples}{attention}"
    yield f"  {as_argument(run.curves_path)}        how it went, as a picture"
    if settings.dataset == "shapes" and settings.weights is None:
        yield "  python -m tinyvit.train --dataset cifar10        the real thing"


def _after_pretraining(trainer: Trainer) -> Iterator[str]:
    """What came of a run without labels, and what to do next; draws what it predicts."""
    from tinyvit.analysis.filled_patches import filled_patches  # here, as runs with labels draw no patches
    from tinyvit.pictures.patches import SHOWN, draw_patches

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
    yield f"  python -m tinyvit.finetune {path} --dataset {settings.dataset}{where}        learn the classes"
    yield f"  {as_argument(run.curves_path)}        how it went, as a picture"
    try:
        shown = trainer.dataset.test.images[:SHOWN]
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
