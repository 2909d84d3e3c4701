"""How runs are spoken of: their length, their model, and where they are computed."""

from tinyvit.backend import Device
from tinyvit.model import is_resnet, usual_name
from tinyvit.runs.settings import Settings
from tinyvit.shell.figures import counted
from tinyvit.training.loop import Trainer
from tinyvit.training.starting_point import SHAPE


def length(settings: Settings) -> str:
    """How long a run is, such as '12 epochs'."""
    return counted(settings.steps, "step") if settings.steps else counted(settings.epochs, "epoch")


def all_done(settings: Settings) -> str:
    """That a run has come to its end, such as 'all 12 epochs are done'."""
    only = (settings.steps or settings.epochs) == 1
    return f"its {length(settings)} is done" if only else f"all {length(settings)} are done"


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
