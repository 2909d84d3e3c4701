"""`python -m tinyvit.gradcheck`: check every hand-written gradient against central finite differences.

To check a forward and backward pair of your own:

    errors = check_gradients(forward, backward, (x, weight, bias), np.random.default_rng(0))
    assert max(errors) < TOLERANCE
"""

from tinyvit.gradcheck.command import main, parser
from tinyvit.gradcheck.finite_differences import (
    STEP,
    TOLERANCE,
    check_gradients,
    gradient_error,
    numerical_gradient,
)
from tinyvit.gradcheck.models import MODEL_CHECKS, ModelCheck, random_params
from tinyvit.gradcheck.operations import OPERATION_CHECKS, OperationCheck

__all__ = [
    "MODEL_CHECKS",
    "OPERATION_CHECKS",
    "STEP",
    "TOLERANCE",
    "ModelCheck",
    "OperationCheck",
    "check_gradients",
    "gradient_error",
    "main",
    "numerical_gradient",
    "parser",
    "random_params",
]
