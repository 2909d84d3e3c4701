"""The two stages of a run that drops patches: most epochs see some patches of each image, the last ones all.

A step on two fifths of the patches takes less than half of the time, and teaches more than half as much: what
is in an image is in most of its patches, and a model that never sees all of them learns less by heart. In the
end it has to get used to all of them. Each stage has an engine of its own, over one set of parameters.

Sources: PatchDropout (Liu et al. 2022, arXiv 2208.07220); FLIP (Li et al. 2022, arXiv 2212.00794), which also
ends with all patches.
"""

from dataclasses import replace

from tinyvit.model import ViTConfig
from tinyvit.runs.settings import Settings

ALL_PATCHES = 0.2  # of the epochs, the last ones, but at least one
FIXED = 0.1  # of a step, about: what no patch has a part in, such as the optimiser


class Stages:
    """Which model each epoch trains, and what its steps cost, as a share of what the last ones cost.

    configs are that with dropped patches, if any are dropped, and the model itself. They differ in nothing
    else. Raises UserError if the model cannot drop patches.
    """

    def __init__(self, settings: Settings, config: ViTConfig):
        rate, epochs = settings.patch_dropout, settings.epochs
        self.configs = [replace(config, patch_dropout=rate), config] if rate else [config]
        self._dropping = epochs - max(1, round(ALL_PATCHES * epochs)) if rate else 0
        self._cost = FIXED + (1 - FIXED) * self.configs[0].trained_tokens / config.tokens

    def number(self, epoch: int) -> int:
        """The place in configs of the model that an epoch trains, counted from 0."""
        return 0 if epoch < self._dropping else len(self.configs) - 1

    def cost(self, epoch: int) -> float:
        """What a step of an epoch costs."""
        return self._cost if epoch < self._dropping else 1.0

    def cost_left(self, done: float, epochs: float) -> float:
        """What is left of so many epochs costs, in epochs that see all patches."""
        dropping = max(0.0, min(self._dropping, epochs) - done)
        return epochs - done - dropping * (1 - self._cost)
