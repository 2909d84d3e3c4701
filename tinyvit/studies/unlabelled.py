"""Section 4.6: is it worth learning from images without labels before learning from a few with labels?"""

from tinyvit.studies.study import USUAL, First, Study, Variant

FRACTIONS = (0.01, 0.1, 1.0)


def _variants(size: str, dataset: str) -> tuple[Variant, ...]:
    """The first run sees all training images and none of their labels; half as many steps then see labels."""
    first = First("masked-patches", {"target": "mean-colour"})
    steps = USUAL[size]["steps"] // 2
    tuning = {"steps": steps, "warmup_steps": steps // 10}
    return tuple(
        Variant(f"{name}-{100 * fraction:g}pct", tuning | {"fraction": fraction}, (line,), fraction, before)
        for fraction in FRACTIONS
        for name, line, before in (
            ("scratch", "from scratch", None),
            ("after", "after masked patches", first),
        )
    )


STUDY = Study(
    question="Does predicting masked patches without labels help, when few images are labelled?",
    paper="Section 4.6: it gains 2% over training from scratch, 4% less than pre-training with labels.",
    variants=_variants,
    x_name="share of the training images with labels",
    percent=True,
)
