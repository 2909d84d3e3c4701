"""The benchmark on a GPU: tinyvit beside its prediction, kernel by kernel, and beside PyTorch at its best."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from tinyvit.backend import Device, select_device
from tinyvit.benchmark.case import Case
from tinyvit.benchmark.compare import Timing, ratios, time_sides
from tinyvit.benchmark.speed.cards import Card, card_in
from tinyvit.benchmark.speed.prediction import Prediction, kind_of, plan_of, predict
from tinyvit.engine.cuda.support import supports
from tinyvit.errors import UserError
from tinyvit.model import Params, layout

WARM_UP, STEPS = 10, 20  # steps before the clock runs, and in a round

# Of these, the fastest is PyTorch's side; and the same for torch.compile. See torch_gpu_side. Its other modes
# do not replay a graph: on an H100, max-autotune-no-cudagraphs compiled Ti/4 for six minutes, and a step then
# took three times as long.
_NUMBERS = {"bf16": ("autocast", "pure"), "tf32": ("float32",), "fp32": ("float32",)}
_MODES = ("reduce-overhead",)


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


def measure(
    case: Case, engine: str, torch: Sequence[str], rounds: int, steps: int | None, by_kernel: bool = True
) -> dict:
    """All measurements of a case, as a dictionary for JSON.

    torch lists what to compare with: eager, compile, both or nothing. Raises UserError if there is no GPU, or
    if the CUDA engine cannot do this case, or not with so many images.
    """
    device, steps = usable_gpu(), steps or STEPS
    if engine == "cuda":
        nothing = Params.zeros(layout(case.config), xp=device.xp)
        if reason := supports(case.config, nothing, precision=case.precision):
            raise UserError(f"the CUDA engine cannot do this: {reason}. Use --engine reference.")
        plan_of(case.config, case.batch, case.precision, case.mode)  # fails here, not in another process
    sides = [("gpu", engine)]
    trials: dict[str, float | None] = {}
    for kind in torch:
        found = trial(case, _variants(case, kind), steps)
        trials |= found
        if ran := {name: seconds for name, seconds in found.items() if seconds is not None}:
            sides.append(("torch_gpu", min(ran, key=ran.get)))
    timings = time_sides(case, sides, rounds, steps, WARM_UP)
    card = card_in(device.label)
    prediction = _prediction(case, card) if card and engine == "cuda" else None
    result: dict[str, Any] = {
        "case": case.as_dict(),
        "device": device.label,
        "sides": [_side(case, timing) for timing in timings],
        "ratios": {other.name: ratios(timings[0], other).tolist() for other in timings[1:]},
        "pytorch_trials_ms": {name: seconds and 1e3 * seconds for name, seconds in trials.items()},
    }
    if prediction:
        result["predicted_ms_per_step"] = 1e3 * prediction.total.seconds
        result["share_of_roofline"] = prediction.total.roofline / timings[0].median
        result["workspace_bytes"] = prediction.workspace
    if by_kernel and engine == "cuda":
        result["kernels"] = kernels(case, _kernel_seconds(case, rounds), prediction)
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


def kernels(case: Case, seconds: Sequence[float], prediction: Prediction | None) -> list[dict]:
    """What each kind of kernel and product took, from the seconds of every step, the slowest first."""
    plan = plan_of(case.config, case.batch, case.precision, case.mode)
    kinds: dict[str, dict] = {}
    for step, spent in zip(plan.steps, seconds, strict=True):
        row = kinds.setdefault(
            kind_of(step), {"name": kind_of(step), "launches": 0, "bytes_moved": 0, "seconds": 0.0}
        )
        row["launches"] += 1
        row["bytes_moved"] += step.bytes_moved
        row["seconds"] += spent
    for predicted in prediction.kinds if prediction else ():
        row = kinds[predicted.name]
        row["predicted_seconds"] = predicted.seconds
        row["share_of_roofline"] = predicted.roofline / row["seconds"]
    return sorted(kinds.values(), key=lambda row: -row["seconds"])


def _variants(case: Case, kind: str) -> list[str]:
    modes = ("eager",) if kind == "eager" else _MODES
    return [f"{mode} {numbers}" for mode in modes for numbers in _NUMBERS[case.precision]]


def _prediction(case: Case, card: Card) -> Prediction:
    return predict(case.config, case.batch, case.precision, case.mode, card)


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
