"""RandAugment and AutoAugment: operations drawn for each image, and carried out on whole batches."""

from tinyvit.data.augmentation.operations import apply_operations
from tinyvit.data.augmentation.policies import (
    MOST_MAGNITUDE,
    MOST_OPERATIONS,
    POLICIES,
    Policy,
    make_policy,
    unchanged,
)

__all__ = [
    "MOST_MAGNITUDE",
    "MOST_OPERATIONS",
    "POLICIES",
    "Policy",
    "apply_operations",
    "make_policy",
    "unchanged",
]
