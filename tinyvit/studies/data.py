"""Figures 3 to 5: ViT, hybrid and ResNet of about equal compute, on more and more training images."""

from tinyvit.studies.study import COMMON, USUAL, Chosen, Study, Variant
from tinyvit.training.recipes import RESNET

FRACTIONS = (0.01, 0.1, 1.0)
# Models of about as many multiply-adds as the ViT of that size.
_MODELS = {
    "small": ("nano/4", "R5+nano/4", "resnet-nano"),
    "medium": ("nano/4", "R5+nano/4", "resnet-nano"),
    "large": ("micro/4", "R5+micro/4", "resnet-micro"),
}
_NAMES = ("ViT", "hybrid", "ResNet")


def _usual(size: str) -> Chosen:
    """As many updates at every fraction: fewer images are seen more often, not for a shorter time."""
    return COMMON | USUAL[size] | ({"steps": 500, "warmup_steps": 50} if size == "small" else {})


def _variants(size: str, dataset: str) -> tuple[Variant, ...]:
    return tuple(
        Variant(
            f"{name.lower()}-{100 * fraction:g}pct",
            {"model": model, "pool": "mean", "fraction": fraction} | (RESNET if name == "ResNet" else {}),
            (name,),
            fraction,
        )
        for fraction in FRACTIONS
        for name, model in zip(_NAMES, _MODELS[size], strict=True)
    )


STUDY = Study(
    question="How do ViT, hybrid and ResNet compare as training images grow in number?",
    paper="Figures 3 to 5: with few images ResNets are ahead, with many ViTs; hybrids lead at small compute.",
    variants=_variants,
    usual=_usual,
    x_name="share of the training images",
    percent=True,
)
