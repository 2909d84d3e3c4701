"""Which recipe is the most accurate in a given time? Ideas that cost or save time, by successive halving."""

from collections.abc import Mapping

from tinyvit.studies.study import COMMON, Chosen, Study, Variant

# Of the first variant in the first round. Later rounds take as long: fewer variants, more steps.
_STEPS: Mapping[str, int] = {"small": 1_000, "medium": 4_000, "large": 20_000}
_MODEL: Mapping[str, Chosen] = {
    "small": {"model": "micro/4", "batch_size": 64},
    "medium": {"model": "micro/4", "batch_size": 64},
    "large": {"model": "mini/4", "batch_size": 128},
}


def _usual(size: str) -> Chosen:
    start = {"pool": "mean", "init": "mimetic", "optimizer": "muon", "lr": 2e-3}
    length = {"steps": _STEPS[size], "warmup_steps": _STEPS[size] // 10, "validation": 0.1}
    return COMMON | start | length | _MODEL[size]


def _variants(size: str, dataset: str) -> tuple[Variant, ...]:
    sooner: Chosen = {"patch_dropout": 0.6, "decay": "linear"}
    variants = (
        Variant("plain", {}),
        Variant("linear", {"decay": "linear"}),
        Variant("patch-dropout", {"patch_dropout": 0.6}),
        Variant("both", sooner),
        Variant("two-heads", {"heads": 2}),
        Variant("shallow", {"layers": 3, "width": 96, "mlp_width": 192}),
        Variant("large-batches", {"batch_size": 2 * _MODEL[size]["batch_size"], "lr": 3e-3}),
        Variant("adamw", {"optimizer": "adamw"}),
    )
    if size == "large":  # on a GPU, where no kernels drop patches
        return tuple(variant for variant in variants if "patch_dropout" not in variant.settings)
    return variants


STUDY = Study(
    question="Which recipe is the most accurate in a given time?",
    paper="Not in the paper, whose figure 5 compares models by what they cost; here recipes differ, too.",
    variants=_variants,
    usual=_usual,
    x_name="time of a run",
    measured_x="seconds",
    rounds=3,
)
