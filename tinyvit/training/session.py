"""From settings to a finished run: claim a folder, have a trainer made, train, suggest what to do next."""

import contextlib
import math
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from tinyvit.backend import Device, select_device
from tinyvit.support.distributed import current, for_all_ranks, on_rank_zero
from tinyvit.support.errors import UserError
from tinyvit.support.figures import as_argument, call
from tinyvit.support.shell.progress import Progress
from tinyvit.training.build_trainer import RunContext, new_trainer, prepared, resumed_trainer
from tinyvit.training.choices import (
    RECORDED,
    check_warmup,
    new_settings,
    on_ranks,
    origins,
    resumed_settings,
    user_fixed,
)
from tinyvit.training.run_data import check_classes, check_files, check_not_among_classes, load_data
from tinyvit.training.run_folder import RunFolder, changes_in, latest_run
from tinyvit.training.run_trainer import EpochFiles, Pictures, RunTrainer, write_names, write_samples
from tinyvit.training.settings import Settings
from tinyvit.training.signals import NO_READER, Interrupted, unwinding_signals
from tinyvit.training.starting_point import check_start
from tinyvit.training.state import State
from tinyvit.training.wording import (
    announce,
    command,
    described,
    model_name,
    outcome,
    where,
    why_done,
)
from tinyvit.weights.checkpoint import Checkpoint


@for_all_ranks
def train(
    chosen: dict[str, Any],
    out: Path | None = None,
    resume: Path | bool | None = None,
    config: Path | None = None,
    data_url: str | None = None,
    strict: bool = False,
    show_augmentation: Path | None = None,
    dry_run: bool = False,
    quiet: bool = False,
    from_file: Collection[str] = (),
    deadline: float = math.inf,
    progress: Progress | None = None,
    pictures: Pictures | None = None,
) -> int:
    """Start or resume a run; returns the exit status: 0, or 128 plus the signal's number if interrupted.

    At the deadline, a time of time.monotonic(), it is interrupted too, and the number is OUT_OF_TIME; when
    the reader of the progress has gone, as in `... | head -1`, it is NO_READER.
    progress shows what is done, on standard output if it is not given, unless it is to be quiet; pictures
    draws the pictures of the run, and None draws none. Of several ranks (support.distributed) only the first
    prints and writes files.

    chosen holds the settings that the user gave. All others come from config (a config.json to repeat), from
    the recipe that it names or the one for the data set, or from the run that is resumed. resume is a run
    folder, or True for the folder `out` if given and the latest run otherwise.

    With show_augmentation, a path for a PNG, there is no run: some training images are drawn as the model
    would be shown them. Nor is there one with dry_run: all settings are printed, and where each comes from,
    of those chosen either the command line or, for the names in from_file, a file.
    """
    progress = (progress or Progress()) if current().is_first and not quiet else Progress.silent()
    context = RunContext(progress, data_url, strict, pictures)
    if resume and (show_augmentation or dry_run):
        flag = "--show-augmentation" if show_augmentation else "--dry-run"
        raise UserError(f"{flag} starts no run, and --resume continues one: omit one of them.")
    if resume:
        if config:
            raise UserError("--resume continues a run with that run's settings: omit --config.")
        return _resume(_run_to_resume(out, resume), chosen, deadline, context)
    repeated = Settings.load(config) if config else None
    if config and (note := _why_not_the_same(config, chosen)):
        progress.note(note)
    device = _device(chosen.get("device") or (repeated.device if repeated else "auto"))
    settings = new_settings(chosen, repeated, device)
    if dry_run:
        if not settings.weights:
            check_start(settings, None)
        check_warmup(settings, user_fixed(chosen, repeated))
        progress.outcome(*origins(settings, chosen, from_file, repeated))
        return 0
    if show_augmentation:
        assert pictures, "the command draws"
        settings, dataset, _ = prepared(settings, user_fixed(chosen, repeated), context)
        pictures.augmentation(settings, dataset, show_augmentation)
        progress.outcome(f"wrote {show_augmentation}; nothing was trained")
        return 0
    check_not_among_classes(out, settings)
    with unwinding_signals(), _released(RunFolder.claim(out, settings.dataset)) as run:
        trainer = new_trainer(run, settings, user_fixed(chosen, repeated), device, context)
        return _fit(trainer, device, deadline, progress)


@on_rank_zero
def _why_not_the_same(config: Path, chosen: dict[str, Any]) -> str:
    """The reason why the settings in a config.json do not repeat its run; empty if they do."""
    stages = []
    for change in changes_in(config):
        names = sorted(change.keys() & RECORDED - chosen.keys())
        if names and change["step"] > 1:  # from step 1 on, it is as if the run had been started so
            changes = described({name: change[name] for name in names})
            stages.append(f"{changes} from step {change['step']:,} on")
    if not stages:
        return ""
    return (
        f"{config} does not repeat its run, which was resumed with other settings ({'; '.join(stages)}): "
        "the new run has the last of them from its start"
    )


@contextlib.contextmanager
def _released(run: RunFolder) -> Iterator[RunFolder]:
    """The run, which is released at the end, however that comes."""
    try:
        yield run
    finally:
        run.release()


def _resume(run: RunFolder, chosen: dict[str, Any], deadline: float, context: RunContext) -> int:
    """Continue a run, perhaps for longer than originally planned."""
    progress = context.progress
    run.lock()
    with unwinding_signals(), _released(run):
        run.recover_last()
        checkpoint = _last_checkpoint(run)
        settings = resumed_settings(run, checkpoint, chosen)
        if checkpoint and _is_finished(checkpoint, settings):
            _complete(run, checkpoint, settings, context)
            return 0
        device = _device(settings.device)
        if device.note:
            progress.note(device.note)
        settings = on_ranks(settings, chosen, device)
        trainer = resumed_trainer(run, settings, checkpoint, device, context)
        return _fit(trainer, device, deadline, progress)


@on_rank_zero
def _complete(run: RunFolder, checkpoint: Checkpoint, settings: Settings, context: RunContext) -> None:
    """Write what a finished run lacks if it was stopped after its last checkpoint, and say what is next."""
    state, changed, progress = State(**checkpoint.progress), "nothing was changed", context.progress
    records = state.records
    if lacking := run.lacking(len(records), settings):
        of_data = {run.patches_path.name, run.samples_path.name, run.split_path.name}
        if not of_data.issuperset(lacking):
            EpochFiles(run, settings, progress.note, context.pictures).write(records, state.best_epoch)
        if needed := [name for name in lacking if name in of_data]:
            try:
                _write_from_data(run, checkpoint, settings, context)
            except (OSError, ValueError) as error:  # a UserError is a ValueError
                progress.note(f"{', '.join(needed)} cannot be written again: {error}")
        if done := [name for name in lacking if name not in run.lacking(len(records), settings)]:
            changed = f"{', '.join(done)} {'is' if len(done) == 1 else 'are'} written again"
    longer = ("steps" if settings.steps else "epochs") if state.is_complete(settings) else "patience"
    progress.outcome(
        f"{run.path} is finished: {why_done(state, settings)}, and {changed}.",
        f"To train it for longer: {call(command(settings))} --resume {as_argument(run.path)} --{longer} N",
    )


def _write_from_data(run: RunFolder, checkpoint: Checkpoint, settings: Settings, context: RunContext) -> None:
    """Write again the files of a finished run that need its data. Raises OSError or ValueError on failure."""
    dataset = load_data(settings, context.data_url, context.progress, in_detail=False, strict=context.strict)
    check_classes(run, dataset)
    check_files(run, dataset)
    write_names(run, dataset)
    write_samples(run, dataset, context.progress.note)
    if settings.target and context.pictures:
        config, params = checkpoint.config, checkpoint.params
        context.pictures.patches(config, params, dataset, settings, run.patches_path)


def _fit(trainer: RunTrainer, device: Device, deadline: float, progress: Progress) -> int:
    """Train and print the outcome; returns the exit status."""
    run, state, settings, engine = trainer.run, trainer.state, trainer.settings, trainer.engine
    resume = f"  {call(command(settings))} --resume {as_argument(run.path)}"

    def stopped() -> str:
        return f"stopped after step {state.step:,}, which is saved. To resume:"

    try:
        progress.header(
            f"{settings.dataset} without labels" if settings.target else settings.dataset,
            f"{model_name(settings)}, {engine.params.count:,} parameters",
            where(trainer, device),
            f"run {run.path}",
        )
        for note in dict.fromkeys(each.note for each in trainer.engines if each.note):
            progress.note(note)
        if summary := engine.training.optimizer.summary():
            progress.note(summary)
        if state.step:
            progress.note(f"resumed after step {state.step:,} of {trainer.total_steps:,}")
        write_samples(run, trainer.dataset, progress.note)
        announce(trainer)
        trainer.fit(deadline)
    except BrokenPipeError:  # the reader of the progress has gone
        if state.is_finished(settings) or current().size > 1:
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
    progress.outcome(*outcome(trainer))
    return 0


def _device(wanted: str) -> Device:
    """The device of this process: of a machine's GPUs, each of its ranks takes another."""
    device = select_device(wanted, current().local_rank)
    current().check_same(device.is_gpu, "the devices, CPU or GPU,")
    return device


@on_rank_zero
def _run_to_resume(out: Path | None, resume: Path | bool) -> RunFolder:
    if not isinstance(resume, Path):
        return RunFolder.open(out or latest_run())
    if out and out != resume:
        raise UserError(f"--resume {resume} and --out {out} specify different runs: omit one of them.")
    return RunFolder.open(resume)


@on_rank_zero
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
    try:
        return State(**checkpoint.progress).is_finished(settings)
    except TypeError:  # it is not that of a run, which restoring it reports
        return False
