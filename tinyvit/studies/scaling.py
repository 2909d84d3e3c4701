"""Figure 8: depth, width, MLP width and patch size, scaled one at a time and together."""

from tinyvit.studies.study import COMMON, USUAL, Chosen, Study, Variant

# Every dimension is halved and doubled around a model with patches of 8 pixels.
_BASE = {"small": (64, 128, 4, 4), "medium": (64, 128, 4, 4), "large": (192, 384, 6, 6)}
_SIZE = {"small": "nano", "medium": "nano", "large": "mini"}


def _usual(size: str) -> Chosen:
    width, mlp_width, heads, layers = _BASE[size]
    shape = {"width": width, "mlp_width": mlp_width, "heads": heads, "layers": layers}
    gentle = {"lr": USUAL[size]["lr"] / 2}  # the usual rate suits the base, but not models twice as wide
    return COMMON | USUAL[size] | shape | gentle | {"model": f"{_SIZE[size]}/8"}


def _variants(size: str, dataset: str) -> tuple[Variant, ...]:
    width, mlp_width, _, layers = _BASE[size]
    found = [Variant("base", {}, ("depth", "width", "MLP width", "patch size", "all"))]
    for word, times in (("half", 0.5), ("double", 2)):
        depth, wide, hidden = int(layers * times), int(width * times), int(mlp_width * times)
        model = f"{_SIZE[size]}/{round(8 / times)}"
        found += [
            Variant(f"depth-{depth}", {"layers": depth}, ("depth",)),
            Variant(f"width-{wide}", {"width": wide}, ("width",)),
            Variant(f"mlp-{hidden}", {"mlp_width": hidden}, ("MLP width",)),
            Variant(f"patch-{round(8 / times)}", {"model": model}, ("patch size",)),
            Variant(f"all-{word}", {"layers": depth, "width": wide, "mlp_width": hidden}, ("all",)),
        ]
    return tuple(found)


STUDY = Study(
    question="Which is worth its compute: more depth, width, MLP width, or smaller patches?",
    paper="Figure 8: depth gains most, width least; smaller patches help without more parameters.",
    variants=_variants,
    usual=_usual,
    x_name="multiply-adds an image",
    measured_x="multiply_adds",
)
