"""Figure 9: does a class token classify better than the mean of the patches, and at which learning rate?"""

from tinyvit.studies.study import USUAL, Study, Variant

_TIMES = (0.25, 0.5, 1, 2)  # the usual learning rate


def _variants(size: str, dataset: str) -> tuple[Variant, ...]:
    usual = USUAL[size]["lr"]
    return tuple(
        Variant(f"{pool}-lr-{usual * times:g}", {"pool": pool, "lr": usual * times}, (pool,), usual * times)
        for pool in ("token", "mean")
        for times in _TIMES
    )


STUDY = Study(
    question="Class token or mean of the patches, and with which learning rate?",
    paper="Figure 9: both work equally well, but need different learning rates.",
    variants=_variants,
    x_name="learning rate",
)
