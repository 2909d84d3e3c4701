"""The benchmark on a GPU: tinyvit kernel by kernel, beside its roofline, and beside PyTorch at its best."""

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from tinyvit.backend import Device, select_device
from tinyvit.benchmark.case import Case
from tinyvit.benchmark.compare import Timing, ratios, time_sides
from tinyvit.benchmark.roofline import Card, by_kind, card_in, card_named, kind_of, least_seconds, plan_of
from tinyvit.engine.cuda.plan import Plan
from tinyvit.engine.cuda.support import unsupported, unsupported_reason
from tinyvit.errors import UserError
from tinyvit.model import Params, layout

WARM_UP, STEPS = 10, 20  # steps before the clock runs, and in a round

# Of these, the fastest is PyTorch's side; and the same for torch.compile. See torch_gpu_side. Its other modes
# do not replay a graph: on an H100, max-autotune-no-cudagraphs compiled Ti/4 for six minutes, and a step then
# took three times as long.
WAYS = ("autocast", "pure")  # of bf16
_NUMBERS = {"bf16": WAYS, "tf32": ("float32",), "fp32": ("float32",)}
_MODE = "reduce-overhead"
RIVAL = "torch.compile (reduce-overhead), the faster of autocast and all weights in bf16"


def usable_gpu() -> Device:
    """The GPU. Raises UserError, which says what there is to do without one."""
    device = select_device("gpu")
    if device.is_gpu:
        return device
    reason = device.note.removesuffix(" NumPy is used instead.")
    raise UserError(
        f"{reason} To see what is expected of a GPU, run python -m tinyvit.bench --predict H200, which needs "
        "none."
    )


def measure(case: Case, engine: str, torch: Sequence[str], rounds: int, steps: int | None) -> dict:
    """All measurements of a case, as a dictionary for JSON.

    torch lists what to compare with: eager, compile, both or nothing; or one of WAYS, which torch.compile
    then takes without a trial, and the kernels are not timed. Raises UserError if there is no GPU, or if the
    CUDA engine cannot do this case, or not with so many images.
    """
    device, steps = usable_gpu(), steps or STEPS
    if engine == "cuda":
        nothing = Params.zeros(layout(case.config), xp=device.xp)
        if reason := unsupported_reason(case.config, nothing, precision=case.precision):
            raise UserError(f"the CUDA engine cannot do this: {reason}. Use --engine reference.")
        plan = _plan(case)  # fails here, not in another process
    sides = [("gpu", engine)]
    trials: dict[str, float | None] = {}
    sides += [("torch_gpu", f"{_MODE} {way}") for way in torch if way in WAYS]
    for kind in (kind for kind in torch if kind not in WAYS):
        found = trial(case, _variants(case, kind), steps)
        trials |= found
        if ran := {name: seconds for name, seconds in found.items() if seconds is not None}:
            sides.append(("torch_gpu", min(ran, key=ran.get)))
    timings = time_sides(case, sides, rounds, steps, WARM_UP)
    card = card_in(device.label) if engine == "cuda" else None
    result: dict[str, Any] = {
        "case": case.as_dict(),
        "device": device.label,
        "sides": [_side(case, timing) for timing in timings],
        "ratios": {other.name: ratios(timings[0], other).tolist() for other in timings[1:]},
        "pytorch_trials_ms": {name: seconds and 1e3 * seconds for name, seconds in trials.items()},
    }
    if card:
        result["share_of_roofline"] = least_seconds(plan.steps, card, case.precision) / timings[0].median
    if engine == "cuda" and not set(torch) & set(WAYS):
        seconds = _kernel_seconds(case, rounds)
        result["kernels"] = kernels(plan, case.precision, seconds, card)
    return result


def trial(case: Case, variants: Sequence[str], steps: int) -> dict[str, float | None]:
    """Seconds per step of each of PyTorch's variants, each alone on the card; None for one that failed."""
    found: dict[str, float | None] = {}
    for variant in variants:
        try:
            found[variant] = time_sides(case, [("torch_gpu", variant)], 1, steps, WARM_UP)[0].median
        except RuntimeError:  # its process has ended, and said why on standard error
            found[variant] = None
    return found


def kernels(plan: Plan, precision: str, seconds: Sequence[float] | None, card: Card | None) -> list[dict]:
    """Each kind of kernel and product, the slowest first: launches, bytes, and the least seconds on the card.

    seconds, if given, are those that every step of the plan took.
    """
    rows = []
    for name, steps in by_kind(plan).items():
        row = {"name": name, "launches": len(steps), "bytes_moved": sum(step.bytes_moved for step in steps)}
        if card:
            row["least_seconds"] = least_seconds(steps, card, precision)
        if seconds is not None:
            pairs = zip(plan.steps, seconds, strict=True)
            row["seconds"] = sum(spent for step, spent in pairs if kind_of(step) == name)
        rows.append(row)
    return sorted(rows, key=lambda row: -row.get("seconds", row.get("least_seconds", 0.0)))


def predict(case: Case, card_name: str) -> dict:
    """The roofline of a case on a card, as a dictionary for JSON. Needs no GPU.

    Raises UserError if the card is unknown or cannot do this, or the CUDA engine has no kernels for it.
    """
    card = card_named(card_name)
    if reason := unsupported(case.config):
        raise UserError(f"there is no prediction for this model, which runs on plain CuPy: {reason}.")
    plan = _plan(case)
    rows = kernels(plan, case.precision, None, card)
    least = sum(row["least_seconds"] for row in rows)
    return {
        "case": case.as_dict(),
        "card": card.name,
        "least_ms_per_step": 1e3 * least,
        "images_per_second": case.batch / least,
        "kernels": rows,
    }


def _plan(case: Case) -> Plan:
    return plan_of(case.config, case.batch, case.precision, case.mode)


def _variants(case: Case, kind: str) -> list[str]:
    mode = "eager" if kind == "eager" else _MODE
    return [f"{mode} {numbers}" for numbers in _NUMBERS[case.precision]]


def _side(case: Case, timing: Timing) -> dict:
    return {
        "name": timing.name,
        "ms_per_step": 1e3 * timing.median,
        "images_per_second": case.batch / timing.median,
        "peak_bytes": timing.peak_bytes,
    }


def _kernel_seconds(case: Case, rounds: int) -> list[float]:
    """kernel_times in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "tinyvit.benchmark.kernel_times",
        str(rounds),
        json.dumps(case.as_dict()),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"measuring the kernels one by one ended with status {done.returncode}")
    return json.loads(done.stdout)
