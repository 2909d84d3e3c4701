"""Dropout and stochastic depth in the kernels: which masks a branch has, and where their keys are.

The random numbers are those of tinyvit.ops.Noise, computed in kernels/noise.cuh.
"""

from dataclasses import dataclass

import numpy as np

from tinyvit.engine.cuda.launch import Buffer
from tinyvit.ops.noise import draw_key


@dataclass(frozen=True)
class Mask:
    """The mask of a branch: dropout of its values, stochastic depth of whole images, or both.

    tokens is how many rows of the branch belong to one image. keys is a uint32 buffer (1 + sites, 2), filled
    by noise_keys; the sites are the numbers of the draws in it. At a rate of 0 nothing is drawn, and the site
    is not used.
    """

    dropout_rate: float
    dropout_site: int
    path_rate: float
    path_site: int
    tokens: int
    keys: Buffer

    @property
    def reads(self) -> tuple[Buffer, ...]:
        """The keys that a kernel with this mask reads."""
        draws = ((self.dropout_rate, self.dropout_site), (self.path_rate, self.path_site))
        pairs = [self.keys.view(2 + 2 * site, 2) for rate, site in draws if rate > 0]
        return (self.keys.view(0, 1), *pairs) if pairs else ()


def mask_arguments(mask: Mask | None) -> tuple[Buffer | float | None, ...]:
    """The arguments of RowMask, without row and width, in its order; for None, those that mask nothing."""
    if mask is None:
        return None, 0, 0, 0, 0, 1
    return mask.keys, mask.dropout_rate, mask.dropout_site, mask.path_rate, mask.path_site, mask.tokens


def mask_parts(mask: Mask | None) -> dict[str, tuple[Buffer, ...]]:
    """The parts of its keys that a mask reads, for signature.launch."""
    return {mask.keys.name: mask.reads} if mask else {}


def noise_keys(seed: int, step: int, first: int, sites: int) -> np.ndarray:
    """The keys (1 + sites, 2), uint32, of the first `sites` draws of Noise(seed, step, first)."""
    draws = [draw_key(seed, step, 1 + s) for s in range(sites)]
    return np.array([(first, 0), *draws], np.uint32)
