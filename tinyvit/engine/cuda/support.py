"""The models, objectives and cards that the CUDA engine is for; all others have the plain path."""

from functools import partial
from types import ModuleType

from tinyvit.backend import array_module
from tinyvit.engine.cuda import cublas
from tinyvit.engine.cuda.calls.attention import WIDEST_HEAD, fits
from tinyvit.engine.cuda.calls.layer_norm import MAX_WIDTH
from tinyvit.engine.reference import Training
from tinyvit.model import Params, ViTConfig
from tinyvit.model.cost import parameter_count
from tinyvit.model.later import fields_known_to
from tinyvit.objectives import Objective, loss_and_grads, masked_patches

MOST_PARAMETERS = 2**31 - 2**20  # an int can count a little further, as kernels do that take large strides
OLDEST = 75  # compute capability 7.5, Turing
OLDEST_FOR_BF16 = 80  # Ampere, the first with bfloat16 and TF32 products


def capability(xp: ModuleType) -> int:
    """The compute capability of the current card, 90 for 9.0."""
    return int(xp.cuda.Device().compute_capability)


def multiprocessors(xp: ModuleType) -> int:
    """Number of multiprocessors of the current card."""
    return int(xp.cuda.Device().attributes["MultiProcessorCount"])


def shared_limit(xp: ModuleType) -> int:
    """Number of bytes of shared memory that the current card allows a block."""
    return int(xp.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])


def unsupported_reason(
    config: ViTConfig,
    params: Params,
    objective: Objective = loss_and_grads,
    training: Training | None = None,
    precision: str = "fp32",
) -> str:
    """The reason why the CUDA engine cannot be used, as the end of a sentence; empty if it can be."""
    return (
        unsupported(config)
        or _learning(config, objective, training)
        or _numbers(params)
        or _card(array_module(params.flat), precision)
        or _shape(config, array_module(params.flat), precision)
        or _library()
    )


def unsupported(config: ViTConfig) -> str:
    """The part of a model that has no kernels on any card, as the end of a sentence; or an empty text."""
    if config.has_resnet:
        return "its kernels have no convolutions"
    if config.predicts == "embedding":
        return "its kernels do not compute embeddings"
    if config.rotary and config.rotary.learned:
        return "its kernels have no learned rotary positions"
    if config.position != "none" and config.position_at != "stem":
        return f"its kernels have no {config.position} positions in the blocks"
    if others := config.later_parts.keys() - fields_known_to("cuda"):
        return f"its kernels do not have this model's {', '.join(sorted(others))}"
    if config.width > MAX_WIDTH:
        return f"tokens of width {config.width:,} are wider than {MAX_WIDTH:,}"
    if (head_width := config.width // config.heads) > WIDEST_HEAD:
        return f"heads of width {head_width:,} are wider than {WIDEST_HEAD}"
    if (count := parameter_count(config)) > MOST_PARAMETERS:
        return f"its kernels count up to {MOST_PARAMETERS:,}, and there are {count:,} parameters"
    return ""


def _learning(config: ViTConfig, objective: Objective, training: Training | None) -> str:
    function, settings = objective, {}
    if isinstance(objective, partial):
        function, settings = objective.func, objective.keywords
    learns_patches = config.predicts_patches and (training or function is not loss_and_grads)
    known: Objective = masked_patches.loss_and_grads if learns_patches else loss_and_grads
    if function is not known or settings.keys() - {"smoothing", "target", "corrupt"}:
        return "its kernels have only the loss of labels or, if patches are predicted, that of patches"
    return ""


def _numbers(params: Params) -> str:
    return "" if params.flat.dtype == "float32" else f"the parameters are {params.flat.dtype}, not float32"


def _card(xp: ModuleType, precision: str) -> str:
    if getattr(xp.cuda.runtime, "is_hip", False):
        return "its kernels are for NVIDIA's cards"
    version = capability(xp)
    oldest = OLDEST if precision == "fp32" else OLDEST_FOR_BF16
    if version >= oldest:
        return ""
    what = "it needs" if precision == "fp32" else f"{precision} needs"
    return f"{what} a card of compute capability {oldest / 10} or more, and this one has {version / 10}"


def _shape(config: ViTConfig, xp: ModuleType, precision: str) -> str:
    dtype = "bfloat16" if precision == "bf16" else "float32"
    if not fits(config.tokens, config.width // config.heads, dtype, shared_limit(xp)):
        return f"attention among {config.tokens:,} tokens does not fit into the card's shared memory"
    return ""


def _library() -> str:
    try:
        cublas.load_library()
    except cublas.CublasError as error:
        return str(error)
    return ""
