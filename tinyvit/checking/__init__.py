"""Gradient checks by finite differences: for every operation and for whole small models.

To check a forward and backward pair of your own:

    errors = check_gradients(forward, backward, (x, weight, bias), np.random.default_rng(0))
    assert max(errors) < TOLERANCE
"""

from tinyvit.checking.finite_differences import (
    STEP,
    TOLERANCE,
    check_gradients,
    gradient_error,
    numerical_gradient,
)
from tinyvit.checking.models import MODEL_CHECKS, ModelCheck, random_params
from tinyvit.checking.operations import OPERATION_CHECKS, OperationCheck

__all__ = [
    "MODEL_CHECKS",
    "OPERATION_CHECKS",
    "STEP",
    "TOLERANCE",
    "ModelCheck",
    "OperationCheck",
    "check_gradients",
    "gradient_error",
    "numerical_gradient",
    "random_params",
]
