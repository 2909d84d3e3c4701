"""Table 8: which position embedding, and where is it added?"""

from tinyvit.studies.study import Study, Variant

_TRIED = (
    # name, position, position_at, 5-shot accuracy on ImageNet in Table 8
    ("none", "none", None, "61.4%"),
    ("1d", "1d", "stem", "64.2%"),
    ("1d-blocks", "1d", "blocks", "64.0%"),
    ("1d-shared", "1d", "shared", "64.3%"),
    ("2d", "2d", "stem", "64.0%"),
    ("relative", "relative", "blocks", "64.0%"),
    ("sincos", "sincos", "stem", ""),
)


def _variants(size: str, dataset: str) -> tuple[Variant, ...]:
    return tuple(
        Variant(name, {"position": position, "position_at": place}, paper=paper)
        for name, position, place, paper in _TRIED
    )


STUDY = Study(
    question="Which position embedding, and where should it be added?",
    paper="Table 8: any is far better than none, and which one hardly matters.",
    variants=_variants,
)
