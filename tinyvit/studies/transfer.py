"""Figures 3 and 4: what pre-training on more and more images is worth for other classes.

Half of the classes are for pre-training, the others for fine-tuning with few labels. So the two tasks share
no class, but the same kind of pictures: what is carried over is what the model has learned to see.
"""

from tinyvit.studies.study import CLASSES, USUAL, First, Study, Variant

FRACTIONS = (0.01, 0.1, 1.0)
LABELLED = 0.02  # of the images of the other classes


def _variants(size: str, dataset: str) -> tuple[Variant, ...]:
    names, half = CLASSES[dataset], len(CLASSES[dataset]) // 2
    known, new = ",".join(names[:half]), ",".join(names[half:])
    steps = USUAL[size]["steps"] // 4
    tuning = {"only": new, "fraction": LABELLED, "steps": steps, "warmup_steps": steps // 10}
    tuning |= {"lr": USUAL[size]["lr"] / 2}
    pretrained = [
        First(f"first-{100 * fraction:g}pct", {"only": known, "fraction": fraction}) for fraction in FRACTIONS
    ]
    return (
        Variant("scratch", tuning, ("from scratch",)),
        *(
            Variant(f"after-{100 * fraction:g}pct", tuning, ("fine-tuned",), fraction, first)
            for fraction, first in zip(FRACTIONS, pretrained, strict=True)
        ),
    )


STUDY = Study(
    question="How much does pre-training on more images help with other classes?",
    paper="Figures 3 and 4: the more images a ViT is pre-trained on, the better it transfers.",
    variants=_variants,
    x_name="share of the pre-training images",
    percent=True,
)
