"""What a run by a recipe says of its future: at the start, and once more when its speed is known."""

from tinyvit.recipes.expectation import at_this_speed, expected
from tinyvit.shell.progress import SPEED_SECONDS
from tinyvit.training.loop import Trainer


def announce(trainer: Trainer) -> None:
    """Say what to expect of a new run, and, if it was not seen before, how long it takes at its own speed."""
    settings, state, progress = trainer.settings, trainer.state, trainer.progress
    if not state.step:
        for line in expected(settings):
            progress.note(line)
    if settings.recipe and state.seconds < SPEED_SECONDS:
        images = trainer.total_steps * settings.batch_size
        progress.once_the_speed_is_known(lambda rate: at_this_speed(settings, images, rate))
