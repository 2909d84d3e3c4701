"""The settings of a new or resumed run, derived from what the user chose."""

import json
import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tinyvit.backend import Device
from tinyvit.data import PHOTOS
from tinyvit.model import ViTConfig, is_resnet
from tinyvit.support.cores import cores_of_one
from tinyvit.support.distributed import current, on_rank_zero
from tinyvit.support.errors import UserError
from tinyvit.support.figures import counted
from tinyvit.support.limits import MOST_THREADS
from tinyvit.training.recipes import (
    FINE_TUNING,
    FINE_TUNING_PHOTOS,
    FINE_TUNING_WITH,
    FROM_SCRATCH_WITH,
    LORA,
    PRE_TRAINING,
    RESNET,
    fitted_fine_tuning,
    named_recipe,
    recipe,
    settings_of,
    small_batch,
)
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import (
    LENGTHS,
    WARMUPS,
    Group,
    Resume,
    Settings,
    check_settings,
    in_groups,
    that_resume,
)
from tinyvit.training.starting_point import SHAPE
from tinyvit.weights.checkpoint import Checkpoint

# What a model from scratch is chosen by; weights have a model already.
_MODEL = ("model", "pool", "position", "position_at", "layers", "width", "mlp_width", "init", "whiten")
_OF_RANDAUGMENT = ("augment_ops", "augment_magnitude")
# What a user chooses instead of another setting, which a recipe may give.
_INSTEAD = {"steps": "epochs", "warmup_steps": "warmup_epochs", "position_at": "position"}
_MAY_DIFFER = ("data_dir", "labels", "ranks")  # from what a checkpoint was made with
FREE_ON_RESUME, CHANGEABLE = that_resume(Resume.FREE, Resume.COMPUTE), that_resume(Resume.CHANGE)
# Settings whose changes a resumed run records, since its numbers depend on them.
RECORDED = CHANGEABLE | that_resume(Resume.EXTEND, Resume.COMPUTE) | {"recipe", "ranks"}


def new_settings(chosen: dict[str, Any], repeated: Settings | None, device: Device) -> Settings:
    """The user's choices, completed from the run to be repeated if there is one, or from a recipe.

    The recipe is the one that the user names or, by default, that of the data set; with None for its name,
    whatever is not chosen keeps the defaults of Settings.
    """
    if repeated and "recipe" in chosen:
        raise UserError("--config repeats a run with that run's settings: omit --recipe, or --config.")
    named = chosen.get("recipe")
    origin = named_recipe(named).settings if named else repeated
    dataset = chosen.get("dataset", origin.dataset if origin else "shapes")
    fine_tuning = "weights" in chosen or bool(repeated and repeated.weights)
    if fine_tuning:
        usual = FINE_TUNING | (FINE_TUNING_PHOTOS if dataset in PHOTOS else {})
    elif named:
        usual = settings_of(named)
    else:
        usual = {} if "recipe" in chosen else recipe(dataset, device.is_gpu)
    if fine_tuning and "lora" in chosen and "optimizer" not in chosen:
        usual = usual | LORA
    if chosen.get("model", usual.get("model")) != usual.get("model"):  # another model has its own shape
        usual = {name: value for name, value in usual.items() if name not in SHAPE}
    if is_resnet(chosen.get("model", "")):
        usual = usual | RESNET
    if "target" in chosen:
        usual = usual | PRE_TRAINING
    kind, place = chosen.get("position"), chosen.get("position_at")
    in_blocks = kind in ("relative", "bias") or place in ("blocks", "shared")
    if in_blocks or chosen.get("merge_after"):
        usual = usual | {"patch_dropout": 0.0}
    if in_blocks or chosen.get("patch_dropout"):
        usual = usual | {"merge_after": None}
    suiting = FINE_TUNING_WITH if fine_tuning else FROM_SCRATCH_WITH
    if repeated is not None:
        usual = usual | suiting.get(chosen.get("optimizer", ""), {}) | _without_other_crops(chosen)
        settings = replace(repeated, **(_not_repeated(chosen, repeated, usual, suiting) | chosen))
        if "epochs" in chosen:
            settings = replace(settings, steps=None)
        if "warmup_epochs" in chosen:
            settings = replace(settings, warmup_steps=None)
    else:
        settings = _completed({"dataset": dataset} | usual, chosen, suiting)
        settings = settings if "recipe" in chosen else _of_its_own(settings)
    if settings.target and settings.weights:
        raise UserError(
            "learning without labels starts from a new model, and fine-tuning from weights: a run cannot do "
            "both. Omit --config."
        )
    _check_together(settings, chosen)
    if settings.target or settings.weights:  # the recipes that have names are for labels, and new models
        settings = replace(settings, recipe=None)
    given = [name for name in _MODEL if name in chosen]
    if repeated and repeated.weights and "weights" not in chosen and given:
        raise UserError(
            f"the run to be repeated starts from the weights {repeated.weights}, which have a model already: "
            f"omit --{given[0].replace('_', '-')}, or --config."
        )
    return on_ranks(settings, chosen, device)


def _completed(usual: dict[str, Any], chosen: dict[str, Any], suiting: dict[str, dict[str, Any]]) -> Settings:
    """The chosen settings and otherwise the usual ones, as far as these suit what was chosen."""
    usual = usual | suiting.get(chosen.get("optimizer", ""), {}) | _without_other_crops(chosen)
    usual = {name: value for name, value in usual.items() if _INSTEAD.get(name) not in chosen}
    return Settings(**(usual | chosen))


def origins(
    settings: Settings, chosen: dict[str, Any], from_file: Collection[str], repeated: Settings | None
) -> Iterator[str]:
    """A line for each setting of a new run: its name, its value, and where that comes from.

    chosen holds the user's choices, of which those in from_file stand in a file of a few settings.
    """
    default = Settings(dataset="shapes", model="", position=settings.position)
    values = {name: "-" if value is None else str(value) for name, value in settings.as_dict().items()}
    if settings.steps:
        del values["epochs"]  # as many as the steps take
    widths = max(map(len, values)), max(map(len, values.values()))
    for name, text in values.items():
        value = getattr(settings, name)
        if name in chosen:
            origin = "config" if name in from_file else "command line"
        elif repeated and value == getattr(repeated, name):
            origin = "config"
        elif value == getattr(default, name):
            origin = "default"
        else:
            origin = "this machine" if name in ("threads", "ranks") else "recipe"
        yield f"{name:{widths[0]}}  {text:{widths[1]}}  {origin}"
    yield "nothing was trained; what does not suit the number of images, such as a long warm-up, would change"


FIT = in_groups(Group.AUGMENTATION, Group.TRAINING)  # the settings that Model.fit takes
_FIT_BATCH = 64  # images


def fit_settings(given: dict[str, Any], images: int, threads: int | None) -> Settings:
    """The settings of Model.fit for this number of images: those given, a recipe's, and the usual ones.

    Of a recipe it has whatever is not about the data or about a new model. A batch that is larger than the
    training set becomes all of it or, if its size was not given, small enough for an epoch of 16 steps.
    """
    check_settings(threads=threads, **given)
    usual: dict[str, Any] = {"dataset": "arrays", "model": "", "batch_size": _FIT_BATCH}
    if "recipe" in given:
        usual |= {name: value for name, value in settings_of(given["recipe"]).items() if name in FIT}
    if "batch_size" in given:
        given = given | {"batch_size": min(given["batch_size"], images)}
    settings = _completed(usual, given | {"threads": threads}, FROM_SCRATCH_WITH)
    _check_together(settings, given)
    fitted = fitted_to_data(settings, images, given)
    if settings.steps and given.get("epochs") not in (None, fitted.epochs):
        long = f"{counted(settings.steps, 'step')} long, which is {counted(fitted.epochs, 'epoch')}"
        raise UserError(f"epochs is {given['epochs']}, but training is {long}: give only one of the two.")
    return fitted


def _check_together(settings: Settings, chosen: dict[str, Any]) -> None:
    """Raise UserError for choices that would do nothing in this run, or that it cannot have."""
    if chosen.get("lora_alpha") is not None and settings.lora is None:
        raise UserError("--lora-alpha has no effect without --lora: give --lora as well, or neither.")
    idle = [name for name in _OF_RANDAUGMENT if chosen.get(name) not in (None, getattr(Settings, name))]
    if settings.augment != "randaugment" and idle:
        raise UserError(
            f"--{idle[0].replace('_', '-')} is a setting of randaugment, and this run has --augment "
            f"{settings.augment}: omit it, or give --augment randaugment."
        )
    if settings.crop_padding and settings.crop_scale < 1:
        raise UserError(
            f"--crop-scale {settings.crop_scale:g} takes the place of --crop-padding, which is "
            f"{settings.crop_padding:,}: omit one of them."
        )
    if settings.optimizer == "sgd" and chosen.get("weight_decay"):
        raise UserError(
            "--weight-decay has no effect with sgd, the optimizer of this run: omit it, or choose another "
            "--optimizer."
        )
    if settings.target and (settings.mixup or settings.cutmix):
        raise UserError(
            "mixing images mixes their labels, and learning without labels has none: expected --mixup 0 and "
            "--cutmix 0."
        )


def on_ranks(settings: Settings, chosen: dict[str, Any], device: Device) -> Settings:
    """Settings for these ranks: unless the user chose them, another number of ranks has other threads."""
    ranks = current()
    if ranks.size != settings.ranks and "threads" not in chosen:
        settings = replace(settings, threads=None)
    settings = replace(settings, ranks=ranks.size)
    if device.is_gpu or settings.threads:
        return settings
    cores = min(cores_of_one(ranks.neighbours, ranks.local_rank), MOST_THREADS)
    return replace(settings, threads=cores)  # kept: another number of threads would give other bits


def _of_its_own(settings: Settings) -> Settings:
    """Settings that follow a recipe by default no longer bear its name once the user has changed them."""
    changed = settings.recipe and named_recipe(settings.recipe).differences(settings)
    return replace(settings, recipe=None) if changed else settings


def _without_other_crops(chosen: dict[str, Any]) -> dict[str, Any]:
    """The settings that switch off the crops which the user's own crops replace."""
    if chosen.get("crop_scale", 1) < 1:
        return {"crop_padding": 0}
    return {"crop_scale": 1.0} if chosen.get("crop_padding") else {}


def _not_repeated(
    chosen: dict[str, Any], repeated: Settings, usual: dict[str, Any], suiting: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Settings of a run to be repeated that do not go with the user's choices, and what takes their place.

    Crops of one kind take the place of the other. Positions of another kind are at their usual place. Another
    optimiser has the usual settings where one of the two needs its own. A ViT in place of a ResNet, or a
    ResNet in place of a ViT, has the usual settings where a ResNet has no choice. The shape of blocks is not
    that of a ResNet, nor of weights, which have been trained and so need no first values either. Photos of a
    folder have the size that the weights, or their new resolution, call for.
    """
    anew = _without_other_crops(chosen) | ({"position_at": None} if "position" in chosen else {})
    if chosen.keys() & {"weights", "resolution"}:
        anew["image_size"] = None
    if "weights" in chosen:
        anew |= {"resolution": None, "position_resize": None}
    before = suiting.get(repeated.optimizer, {})
    after = suiting.get(chosen.get("optimizer", repeated.optimizer), {})
    differing = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    anew |= {name: usual.get(name, getattr(Settings, name)) for name in differing}
    if repeated.weights:
        is_new = "lora" in chosen and not repeated.lora and "optimizer" not in chosen
        return anew | LORA if is_new else anew
    if "weights" in chosen:
        return anew | dict.fromkeys(SHAPE) | {name: getattr(Settings, name) for name in ("init", "whiten")}
    if is_resnet(chosen.get("model", repeated.model)) == is_resnet(repeated.model):
        return anew
    instead = {name: usual.get(name, getattr(Settings, name)) for name in RESNET}
    return {"position_at": None} | dict.fromkeys(SHAPE) | instead


def user_fixed(chosen: dict[str, Any], repeated: Settings | None) -> dict[str, Any]:
    """The settings that must not be fitted to the data: the user's choices, and those of a repeated run.

    Its warm-up may become shorter only if the user gives that run another length.
    """
    before = repeated.as_dict() if repeated else {}
    if chosen.keys() & {"epochs", "steps"}:
        before = {name: value for name, value in before.items() if name not in WARMUPS}
    return before | chosen


def fitted_to_model(settings: Settings, config: ViTConfig) -> Settings:
    """Settings adapted to the given model: its pooling and positions, and its size for images of a folder."""
    if settings.dataset in PHOTOS and settings.image_size is None:
        settings = replace(settings, image_size=settings.resolution or max(config.image_size))
    return replace(settings, pool=config.pool, position=config.position, position_at=config.position_at)


def fitted_to_data(settings: Settings, images: int, fixed: dict[str, Any]) -> Settings:
    """Settings in which whatever is not fixed suits this number of training images.

    Raises UserError for a warm-up that is fixed and longer than the run.
    """
    if settings.weights:
        settings = replace(settings, **fitted_fine_tuning(images, fixed))
    elif settings.batch_size > images and "batch_size" not in fixed:
        size = small_batch(settings.batch_size, images, least=settings.repeats)
        settings = replace(settings, batch_size=size, recipe=None)
    length, steps = _length_in_epochs(settings, images), max(1, images // settings.batch_size)
    if "warmup_epochs" not in fixed:  # a short run has no time for a long warm-up
        settings = replace(settings, warmup_epochs=min(settings.warmup_epochs, length / 4))
    if "warmup_steps" not in fixed and settings.warmup_steps:
        settings = replace(settings, warmup_steps=min(settings.warmup_steps, int(length * steps / 4)))
    check_warmup(settings, fixed, steps)
    return with_whole_epochs(settings, images)


def check_warmup(settings: Settings, fixed: dict[str, Any], steps_per_epoch: int | None = None) -> None:
    """Raise UserError for a warm-up that is longer than the run, if both are fixed.

    Before the data are known, an epoch has no number of steps: only epochs are compared, or only steps.
    """
    unit = "epochs" if settings.warmup_steps is None else "steps"
    if f"warmup_{unit}" not in fixed or not (steps_per_epoch or fixed.keys() & {*LENGTHS}):
        return
    warmup, total = settings.warmup_steps, settings.steps
    if steps_per_epoch:
        warmup, total = settings.warmup(steps_per_epoch), total or settings.epochs * steps_per_epoch
    if warmup is None and total is None:
        is_longer = settings.warmup_epochs > settings.epochs
    else:
        is_longer = warmup is not None and total is not None and warmup > total
    if is_longer:
        raise UserError(
            f"the warm-up of {getattr(settings, f'warmup_{unit}'):,g} {unit} is longer than the run of "
            f"{counted(settings.steps, 'step') if settings.steps else counted(settings.epochs, 'epoch')}, so "
            f"that the learning rate would never reach {settings.lr:g}: give a shorter --warmup-{unit}, or a "
            "longer run."
        )


def with_whole_epochs(settings: Settings, images: int) -> Settings:
    """Settings whose epochs are as many as their steps, if given, take on this number of training images."""
    return replace(settings, epochs=math.ceil(_length_in_epochs(settings, images)))


def _length_in_epochs(settings: Settings, images: int) -> float:
    """The length of a run, not a whole number if its steps end within an epoch."""
    if not settings.steps:
        return settings.epochs
    return settings.steps / max(1, images // settings.batch_size)


@on_rank_zero
def resumed_settings(run: RunFolder, checkpoint: Checkpoint | None, chosen: dict[str, Any]) -> Settings:
    """The run's own settings, perhaps extended or with others of those that may change.

    A run by steps that is extended in epochs, which it shows too, counts in epochs from then on. Raises
    UserError if the user now asks for anything else to differ.
    """
    settings = settings_of_run(run, checkpoint, chosen)
    free = {*FREE_ON_RESUME, *LENGTHS}
    for name, value in chosen.items():
        before = getattr(settings, name)
        if name == "steps" and before is None:
            raise UserError(f"{run.path} counts in epochs: to extend it, use --epochs, not --steps.")
        if name == "ema" and bool(value) != bool(before):
            raise UserError(
                f"{run.path} was started with ema {before:g}: the rate of an average may change, but none "
                "can begin or end within a run. Omit --ema, or start a new run with another --out."
            )
        if name not in free | CHANGEABLE and not _is_the_same(name, value, before):
            flag = "--no-" if value is False else "--"
            flag = "WEIGHTS" if name == "weights" else flag + name.replace("_", "-")
            raise UserError(
                f"{run.path} was started with {name.replace('_', ' ')} {before}, not {value}: a resumed run "
                f"keeps its settings. Omit {flag}, or start a new run with another --out."
            )
        if name in LENGTHS and value < before:
            raise UserError(
                f"{run.path} was started for {before:,} {name}: a resumed run can be made longer, not "
                f"shorter. Omit --{name}, or give a larger number."
            )
    now = {name: chosen[name] for name in free | CHANGEABLE if name in chosen}
    changed = replace(settings, **(_without_other_crops(chosen) | now))
    if chosen.get("epochs", 0) > settings.epochs:
        changed = replace(changed, steps=None)
    if any(getattr(changed, name) != getattr(settings, name) for name in CHANGEABLE):
        _check_together(changed, {name: chosen[name] for name in CHANGEABLE if name in chosen})
        return replace(changed, recipe=None)
    return changed


@on_rank_zero
def what_changed(
    start: dict[str, Any], changed: list[dict[str, Any]], settings: Settings
) -> dict[str, list[Any]]:
    """The recorded settings that are not as before, each with both values; of a run by steps, not its epochs.

    Before, they were as at the start, with all changes since then. If ranks have different numbers of
    threads, that of the first one counts.
    """
    before = start | {name: change[name][1] for change in changed for name in change.keys() & RECORDED}
    now, names = settings.as_dict(), RECORDED - ({"epochs"} if settings.steps else set())
    pairs = {name: [before.get(name, now[name]), now[name]] for name in sorted(names)}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _is_the_same(name: str, value: Any, before: Any) -> bool:
    """True if a setting has the same value as before; weights have if both are the same path."""
    if name == "weights" and before is not None:
        return Path(value).absolute() == Path(before).absolute()
    return value == before


def settings_of_run(run: RunFolder, checkpoint: Checkpoint | None, chosen: dict[str, Any]) -> Settings:
    """The settings of a run that is to be resumed, from its config.json.

    Raises UserError if one is not what the checkpoint was made with, because the file was edited or damaged,
    unless the user now chooses it. Where the data are may differ, and how many processes train. A checkpoint
    that was made for a longer run is right about the length: the process ended as it was extending the run.
    Of the settings that may change, whichever of the two has seen more changes is right.
    """
    settings = run.settings()
    made_with = checkpoint.settings if checkpoint else {}  # nothing in a checkpoint of an earlier version
    stated = json.loads(json.dumps(settings.as_dict()))
    changes = checkpoint.progress.get("changed", []) if checkpoint else []
    ahead = len(changes) - len(run.changed()) if isinstance(changes, list) else 0  # who has seen more changes
    for name, value in made_with.items():
        now = stated.get(name, value)
        if now == value or name in _MAY_DIFFER or name in chosen:
            continue
        longer = name in LENGTHS and isinstance(now, int) and isinstance(value, int) and now < value
        changeable = name in RECORDED
        if ahead < 0 and changeable:
            continue
        if longer or (ahead > 0 and changeable):
            settings = replace(settings, **{name: made_with[name]})
            continue
        raise UserError(
            f"{run.config_path} has {now!r} for the setting {name}, but {run.last_path.name} was made with "
            f"{value!r}: the file was changed or damaged. Put {value!r} there, or start a new run."
        )
    return settings
