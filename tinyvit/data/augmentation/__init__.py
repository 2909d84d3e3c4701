"""RandAugment, AutoAugment and colour jitter: operations drawn for each image, done to whole batches."""

from tinyvit.data.augmentation.operations import apply_operations
from tinyvit.data.augmentation.policies import (
    MOST_MAGNITUDE,
    MOST_OPERATIONS,
    POLICIES,
    Policy,
    draw_jitter,
    make_policy,
    unchanged,
)

__all__ = [
    "MOST_MAGNITUDE",
    "MOST_OPERATIONS",
    "POLICIES",
    "Policy",
    "apply_operations",
    "draw_jitter",
    "make_policy",
    "unchanged",
]
