"""The settings in config.json are compared with those that the run's checkpoint was made with."""

import json
from dataclasses import replace
from typing import Any

from tinyvit.errors import UserError
from tinyvit.runs.checkpoint import Checkpoint
from tinyvit.runs.folder import RunFolder
from tinyvit.runs.settings import Settings

_LENGTHS = ("epochs", "steps")
_MAY_DIFFER = ("data_dir", "ranks")


def settings_of_run(run: RunFolder, checkpoint: Checkpoint | None, chosen: dict[str, Any]) -> Settings:
    """The settings of a run that is to be resumed, from its config.json.

    Raises UserError if one is not what the checkpoint was made with, because the file was edited or damaged,
    unless the user now chooses it. Where the data are may differ, and how many processes train. A checkpoint
    that was made for a longer run is right about the length: the process ended as it was extending the run.
    """
    settings = run.settings()
    made_with = checkpoint.settings if checkpoint else {}  # nothing in a checkpoint of an earlier version
    stated = json.loads(json.dumps(settings.as_dict()))
    for name, value in made_with.items():
        now = stated.get(name, value)
        if now == value or name in _MAY_DIFFER or name in chosen:
            continue
        if name in _LENGTHS and isinstance(now, int) and isinstance(value, int) and now < value:
            settings = replace(settings, **{name: made_with[name]})
            continue
        raise UserError(
            f"{run.config_path} has {now!r} for the setting {name}, but {run.last_path.name} was made with "
            f"{value!r}: the file was changed or damaged. Put {value!r} there, or start a new run."
        )
    return settings
