"""The layouts of other programs that can hold a model.

A layout implies some of the arithmetic, such as the form of GELU. A model that computes otherwise must not be
written in it, since other programs would compute something else from the same weights.
"""

from math import floor
from typing import Any

from tinyvit.data.photos import GREY, PhotoFit, fit_for
from tinyvit.model import ViTConfig
from tinyvit.model.later import fields_known_to
from tinyvit.support.errors import UserError
from tinyvit.weights.naming import HUGGING_FACE, TIMM, Naming

GROUPS = 32  # of GroupNorm, in every ResNet of the official code and of timm
TIMM_RESNET: dict[str, Any] = {"resnet_form": "timm", "resnet_groups": GROUPS, "resnet_width": 64}
TIMM_HYBRID: dict[str, Any] = {"gelu": TIMM.gelu, "eps": TIMM.eps, **TIMM_RESNET}


def fits_official(config: ViTConfig) -> bool:
    """True if the official code computes as the model does."""
    form = config.resnet_form if config.has_resnet else "official"
    same = (config.gelu, config.eps, form) == ("tanh", 1e-6, "official")
    return same and not config.later_parts.keys() - fields_known_to("plain")


def fits_hugging_face(config: ViTConfig) -> bool:
    """True if Hugging Face has such a model. Its folder states GELU and epsilon, so any will do."""
    return not (config.has_resnet or misfits_of_hugging_face(config))


def misfits_of_hugging_face(config: ViTConfig) -> list[str]:
    """The fields of a ViT for which Hugging Face's has no place."""
    ours = config.later_parts.keys() - fields_known_to("plain")
    ours |= {"pool"} if not config.has_token else set()
    return sorted(ours | ({"pre_logits"} if config.pre_logits else set()))


def fits_timm(config: ViTConfig) -> bool:
    """True if timm's ViT can be one such, given its arguments, among which are GELU and pooling."""
    others = config.later_parts.keys() - fields_known_to("timm") or config.pool in ("both", "distilled")
    return config.eps == TIMM.eps and not (config.pre_logits or config.has_resnet or others)


def torch_naming(config: ViTConfig) -> Naming | None:
    """timm's or Hugging Face's, whichever computes as the model does when only its arrays are known."""
    if _computes(TIMM, config) and not (misfits_of_hybrid(config) or config.pre_logits):
        return TIMM
    return HUGGING_FACE if _computes(HUGGING_FACE, config) and fits_hugging_face(config) else None


def photos_unfit_for_hugging_face(fit: PhotoFit) -> str:
    """The reason why Hugging Face's processors cannot fit photos so, as a predicate; empty if they can."""
    if fit.fit == "pad":
        return "are padded, and Hugging Face's processors do not pad"
    if any(fit.edge):
        return "are cut at their lower and right edges, and Hugging Face's processors cut out the centre"
    height, width = fit.frame
    if fit.fit == "crop" and height != width:
        return (
            f"are scaled to cover {height} x {width} pixels, and Hugging Face's processors scale them to "
            "cover a square"
        )
    return ""


def timm_share(fit: PhotoFit) -> float | None:
    """The crop_pct with which timm fits photos so; None if it cannot."""
    share = 1.0 if fit.frame == fit.size else fit.size[0] / (fit.frame[0] + 0.5)  # it divides, rounding down
    framed = tuple(floor(side / share) for side in fit.size)
    misfit = framed != fit.frame or (fit.fit == "pad" and fit.border != GREY) or any(fit.edge)
    return None if misfit else share


def misfits_of_hybrid(config: ViTConfig) -> list[str]:
    """The fields of a hybrid whose values timm's do not have."""
    theirs = TIMM_HYBRID if config.has_resnet else {}
    return [name for name, value in theirs.items() if getattr(config, name) != value]


def write_instead(config: ViTConfig, fit: PhotoFit | None = None) -> str:
    """Advice where a layout cannot hold a model, or the fit of its photos: the formats that can."""
    photos = fit_for(config.image_size, fit)
    for_hugging_face = fits_hugging_face(config) and not photos_unfit_for_hugging_face(photos)
    others = [
        (
            "an .npz file in the official layout",
            fits_official(config) and len({*config.image_size}) == 1 and not fit,
        ),
        ("a .safetensors file", torch_naming(config) is not None and not fit),
        ("a folder for Hugging Face", for_hugging_face),
        ("a folder for timm", fits_timm(config) and timm_share(photos) is not None),
        ("an .onnx file", True),
    ]
    *first, last = [name for name, fits in others if fits]
    return f"write {', '.join(first)} or {last}." if first else f"write {last}."


def check_others_have_it(config: ViTConfig) -> None:
    """Raise UserError for a model that fits no layout but tinyvit's own."""
    if not config.has_transformer:
        what = "a ResNet without a Transformer fits"
    elif config.has_resnet and config.resnet_groups != GROUPS:
        what = f"a hybrid with {config.resnet_groups} groups in its GroupNorms, not {GROUPS}, fits"
    elif config.position_at not in ("stem", None):
        what = f"position {config.position!r} at {config.position_at!r} fits"
    elif config.parts:
        what = f"a model with {', '.join(config.parts)} fits"
    else:
        return
    onnx = "" if config.later_parts.keys() - fields_known_to("onnx") else ", or write an .onnx file"
    raise UserError(
        f"{what} no layout of other programs: keep it in tinyvit's own, that of best.npz in a run{onnx}."
    )


def _computes(library: Naming, config: ViTConfig) -> bool:
    same = (config.gelu, config.eps) == (library.gelu, library.eps)
    return same and not config.later_parts.keys() - fields_known_to("plain")
