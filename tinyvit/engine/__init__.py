"""Engines, which carry out a training step: they share ReferenceEngine's interface and its results.

in_batches runs a model on any number of images, few enough at a time for the memory of a modest device.
"""

from collections.abc import Callable
from math import prod

import numpy as np

from tinyvit.backend import Array, array_module, to_numpy
from tinyvit.data import to_input
from tinyvit.engine.cpu import CpuEngine
from tinyvit.engine.reference import ReferenceEngine, Training
from tinyvit.model import Params, ViTConfig
from tinyvit.model.cost import activation_bytes
from tinyvit.objectives import Objective, loss_and_grads
from tinyvit.support.cores import available_cores
from tinyvit.support.errors import UserError

__all__ = [
    "PRECISIONS",
    "CpuEngine",
    "ReferenceEngine",
    "Training",
    "available_cores",
    "check_finite",
    "in_batches",
    "make_engine",
]
PRECISIONS = ("auto", "fp32", "tf32", "bf16")


def make_engine(
    config: ViTConfig,
    params: Params,
    objective: Objective = loss_and_grads,
    training: Training | None = None,
    threads: int | None = None,
    precision: str = "fp32",
) -> ReferenceEngine:
    """The fastest engine for the parameters' device.

    On a CPU it uses this many threads (None: all cores) and computes in float32, or whatever the parameters
    are. On a GPU precision counts: fp32, tf32, bf16, or auto, which is bf16 where the card has it. If
    something cannot be as asked for, the engine's note says why.
    """
    if array_module(params.flat) is np:
        on_cpu = CpuEngine(config, params, objective, training, threads)
        if precision in ("tf32", "bf16"):
            on_cpu.note = f"{precision} needs a GPU: everything is computed in fp32."
        return on_cpu
    return _on_gpu(config, params, objective, training, precision)


def _on_gpu(
    config: ViTConfig, params: Params, objective: Objective, training: Training | None, precision: str
) -> ReferenceEngine:
    from tinyvit.engine.cuda.compiled import KernelError  # lazy: needed only on a GPU
    from tinyvit.engine.cuda.cublas import CublasError
    from tinyvit.engine.cuda.engine import CudaEngine
    from tinyvit.engine.cuda.support import OLDEST_FOR_BF16, capability, unsupported_reason

    if precision == "auto":
        has_bf16 = capability(array_module(params.flat)) >= OLDEST_FOR_BF16
        precision = "bf16" if has_bf16 else "fp32"
    note = ""
    reason = unsupported_reason(config, params, objective, training, precision)
    if reason and precision != "fp32" and not unsupported_reason(config, params, objective, training):
        note, precision, reason = f"{reason}: everything is computed in fp32.", "fp32", ""
    if not reason:
        try:
            on_gpu = CudaEngine(config, params, objective, training, precision)
            on_gpu.compile()
            on_gpu.note = note
            return on_gpu
        except (CublasError, KernelError) as error:
            reason = str(error)
    engine = ReferenceEngine(config, params, objective, training)
    engine.note = f"the CUDA engine is not used: {reason}. Plain CuPy computes in {params.flat.dtype}."
    return engine


_MOST_BYTES = 2_000_000_000  # of activations, if an engine processes all the images it is given at once
_MOST_IMAGES = 500
_MOST_INPUT = 100_000_000  # bytes of the images themselves, as float32


def in_batches(
    compute: Callable[..., Array], config: ViTConfig, params: Params, images: np.ndarray, *others: Array
) -> np.ndarray:
    """The results of compute for uint8 images (n, H, W, 3) of any size, as a NumPy array (n, ...).

    compute is given some of the images at a time, normalised and resized for the model, on the device of its
    parameters, followed by the rows of `others` for the same images. It must treat each image independently,
    so that the batch size does not affect the results.
    """
    xp, size, parts = array_module(params.flat), images_at_a_time(config), []
    for start in range(0, len(images), size):
        chosen = xp.asarray(images[start : start + size])
        batch = to_input(chosen, params.flat.dtype, config.image_size)
        parts.append(to_numpy(compute(batch, *(rows[start : start + size] for rows in others))))
    return np.concatenate(parts)


def check_finite(results: np.ndarray) -> np.ndarray:
    """The results themselves. Raises UserError if one is not a finite number."""
    if not np.isfinite(results).all():
        raise UserError(
            "the model's answer is not a number: its weights are damaged, or have diverged in training. "
            "Use another checkpoint, or train again."
        )
    return results


def images_at_a_time(config: ViTConfig) -> int:
    """Number of images that a model is given at a time during inference; at least one."""
    input_bytes = 4 * config.channels * prod(config.image_size)
    return max(1, min(_MOST_BYTES // activation_bytes(config), _MOST_INPUT // input_bytes, _MOST_IMAGES))
