"""From settings to a finished run: claim a folder, have a trainer made, train, suggest what to do next."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tinyvit.backend import Device, select_device
from tinyvit.errors import UserError
from tinyvit.optim.sharded import Sharded
from tinyvit.parallel import Ranks, start
from tinyvit.runs.checkpoint import Checkpoint
from tinyvit.runs.folder import RunFolder, latest_run
from tinyvit.runs.settings import Settings
from tinyvit.shell.names import as_argument
from tinyvit.shell.progress import Progress
from tinyvit.training.announcement import announce
from tinyvit.training.augmentation_sheet import draw_augmentation_of
from tinyvit.training.choices import new_settings, on_ranks, resumed_settings, settled
from tinyvit.training.epoch_files import EpochFiles
from tinyvit.training.loop import Trainer
from tinyvit.training.making import Surroundings, new_trainer, prepared, resumed_trainer
from tinyvit.training.outcome import outcome
from tinyvit.training.run_data import check_not_among_classes
from tinyvit.training.signals import NO_READER, Interrupted, unwinding_signals
from tinyvit.training.wording import all_done, command, model_name, where


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

    At the deadline, a time of time.monotonic(), it is interrupted too, and the number is OUT_OF_TIME; when
    nobody reads the progress any more, as in `... | head -1`, it is NO_READER.
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
    around = Surroundings(ranks, progress, data_url)
    if resume and show_augmentation:
        raise UserError("--show-augmentation starts no run, and --resume continues one: omit one of them.")
    if resume:
        if config:
            raise UserError("--resume continues a run with that run's settings: omit --config.")
        return _resume(ranks.first(_run_to_resume, out, resume), chosen, deadline, around)
    repeated = ranks.first(Settings.load, config) if config else None
    device = _device(chosen.get("device") or (repeated.device if repeated else "auto"), ranks)
    settings = new_settings(chosen, repeated, device, ranks)
    if show_augmentation:
        settings, dataset, _ = prepared(settings, settled(chosen, repeated), around)
        ranks.first(draw_augmentation_of, settings, dataset, show_augmentation)
        progress.outcome(f"wrote {show_augmentation}; nothing was trained")
        return 0
    ranks.first(check_not_among_classes, out, settings)
    with unwinding_signals(ranks), _released(ranks.first(RunFolder.claim, out, settings.dataset)) as run:
        trainer = new_trainer(run, settings, settled(chosen, repeated), device, around)
        return _fit(trainer, device, deadline, progress)


@contextlib.contextmanager
def _released(run: RunFolder) -> Iterator[RunFolder]:
    """The run, which is released at the end, however that comes."""
    try:
        yield run
    finally:
        run.release()


def _resume(run: RunFolder, chosen: dict[str, Any], deadline: float, around: Surroundings) -> int:
    """Continue a run, perhaps for longer than originally planned."""
    ranks, progress = around.ranks, around.progress
    ranks.first(run.lock)
    with unwinding_signals(ranks), _released(run):
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
                f"{run.path} is finished: {all_done(settings)}, and {changed}.",
                f"To train it for longer: python -m tinyvit.{command(settings)} --resume "
                f"{as_argument(run.path)} --{'steps' if settings.steps else 'epochs'} N",
            )
            return 0
        device = _device(settings.device, ranks)
        if device.note:
            progress.note(device.note)
        settings = on_ranks(settings, chosen, device, ranks)
        trainer = resumed_trainer(run, settings, checkpoint, device, around)
        return _fit(trainer, device, deadline, progress)


def _fit(trainer: Trainer, device: Device, deadline: float, progress: Progress) -> int:
    """Train and print the outcome; returns the exit status."""
    run, state, settings, engine = trainer.run, trainer.state, trainer.settings, trainer.engine
    resume = f"  python -m tinyvit.{command(settings)} --resume {as_argument(run.path)}"

    def stopped() -> str:
        return f"stopped after step {state.step:,}, which is saved. To resume:"

    try:
        progress.header(
            f"{settings.dataset} without labels" if settings.target else settings.dataset,
            f"{model_name(settings)}, {engine.params.count:,} parameters",
            where(trainer, device),
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
        if len(state.records) == settings.epochs or trainer.ranks.size > 1:
            raise  # all is done and saved; or the others are busy with the next step
        trainer.save()
        progress.unread(f"nobody reads the output any more: {stopped()}", resume)
        return 128 + NO_READER
    except Interrupted as signal:
        try:
            progress.close()
            progress.outcome(stopped(), resume)
        except BrokenPipeError:  # Ctrl-C has ended the reader too, such as tee
            progress.unread(stopped(), resume)
        return 128 + signal.number
    finally:
        progress.close()
    if trainer.ranks.is_first:
        progress.outcome(*outcome(trainer))
    return 0


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
    """The checkpoint to resume from; None if the run ended before its first."""
    if run.last_path.exists():
        return run.load("last")
    if run.metrics():
        raise UserError(
            f"{run.path} has finished epochs, but no {run.last_path.name} to resume from: restore the file, "
            "or start a new run."
        )
    return None


def _is_finished(checkpoint: Checkpoint, settings: Settings) -> bool:
    records = checkpoint.progress.get("records", ())  # of epochs that have been evaluated, too
    if settings.steps:
        return bool(records) and records[-1]["step"] >= settings.steps
    return len(records) >= settings.epochs
