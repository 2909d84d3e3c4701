"""The two stages of a run that drops patches: most steps see some patches of each image, the last ones all.

A step on two fifths of the patches takes less than half of the time, and teaches more than half as much: what
is in an image is in most of its patches, and a model that never sees all of them learns less by heart. In the
end it has to get used to all of them. Each stage has an engine of its own, over one set of parameters.

Sources: PatchDropout (Liu et al. 2022, arXiv 2208.07220); FLIP (Li et al. 2022, arXiv 2212.00794), which also
ends with all patches.
"""

from dataclasses import replace

from tinyvit.model import ViTConfig
from tinyvit.training.settings import Settings

ALL_PATCHES = 0.2  # of the steps, the last ones
FIXED = 0.1  # of a step, about: what no patch has a part in, such as the optimiser


class Stages:
    """Which model each step trains, and what a step costs, as a share of what the last ones cost.

    configs are that with dropped patches, if any are dropped, and the model itself. They differ in nothing
    else. `done` is the share of the run's steps that have been taken. Raises UserError if the model cannot
    drop patches.
    """

    def __init__(self, settings: Settings, config: ViTConfig):
        rate = settings.patch_dropout
        self.configs = [replace(config, patch_dropout=rate), config] if rate else [config]
        self._dropping = 1 - ALL_PATCHES if rate else 0.0
        self._cost = FIXED + (1 - FIXED) * self.configs[0].trained_tokens / config.tokens

    def number(self, done: float) -> int:
        """The place in configs of the model that the next step trains, counted from 0."""
        return 0 if done < self._dropping else len(self.configs) - 1

    def cost(self, done: float) -> float:
        """What the next step costs."""
        return self._cost if done < self._dropping else 1.0

    def cost_left(self, done: float) -> float:
        """What is left of the run costs, as a share of a whole run that sees all patches."""
        return 1 - done - max(0.0, self._dropping - done) * (1 - self._cost)
