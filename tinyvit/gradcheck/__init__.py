"""`python -m tinyvit.gradcheck`: check every hand-written gradient against central finite differences.

To check a forward and backward pair of your own:

    errors = check_gradients(forward, backward, (x, weight, bias), np.random.default_rng(0))
    assert max(errors) < TOLERANCE
"""

import argparse
import time

from tinyvit.flags import add_flags, chosen_device
from tinyvit.gradcheck.finite_differences import (
    STEP,
    TOLERANCE,
    check_gradients,
    gradient_error,
    numerical_gradient,
)
from tinyvit.gradcheck.models import MODEL_CHECKS, ModelCheck, random_params
from tinyvit.gradcheck.operations import OPERATION_CHECKS, OperationCheck
from tinyvit.support.errors import UserError
from tinyvit.support.shell.command import make_parser, seed

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


def main(args: argparse.Namespace) -> int:
    """Print the table; returns the exit status, 1 if any error is too large."""
    device = chosen_device(args, default="cpu")
    every: list[OperationCheck | ModelCheck] = [*OPERATION_CHECKS, *MODEL_CHECKS]
    checks = [c for c in every if _plain(args.only) in _plain(c.name)]
    if not checks:
        names = "; ".join(c.name for c in every)
        raise UserError(f"no check has {args.only!r} in its name: expected a part of one of {names}.")
    print(
        f"tinyvit gradient check: float64, {device.label}, seed {args.seed}; every error must be below "
        f"{TOLERANCE:.0e}\n"
    )
    print(f"{'':32}{'gradients':>10}{'worst error':>13}  where")
    start, failed = time.perf_counter(), 0
    for check in checks:
        errors = check.errors(args.seed, device.xp)
        worst = max(errors, key=lambda name: errors[name])
        wrong = not errors[worst] < TOLERANCE  # NaN is wrong too
        failed += wrong
        print(
            f"{check.name:32}{len(errors):10}{errors[worst]:13.1e}  {worst}{'   WRONG' if wrong else ''}",
            flush=True,
        )
    verdict = f"{failed} of {len(checks)} are WRONG" if failed else f"{_all(len(checks))} right"
    print(f"\n{verdict} ({time.perf_counter() - start:.1f} s)")
    return 1 if failed else 0


def _all(number: int) -> str:
    return f"all {number} are" if number > 1 else "it is"


def _plain(name: str) -> str:
    return name.lower().replace("_", " ")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    p = make_parser("gradcheck", __doc__)
    add_flags(p, "device", usual={"device": "cpu"})
    p.add_argument("--seed", type=seed, default=0, metavar="N", help="seed of the random arrays (default: 0)")
    p.add_argument("--only", default="", metavar="TEXT", help="run only the checks whose names contain TEXT")
    return p
