"""What each ingredient of a recipe is worth: added to the plain recipe alone, and beside the others."""

from collections.abc import Mapping

from tinyvit.studies.study import COMMON, USUAL, Chosen, Comparison, Study, Variant

# A run of so many updates: two passes over CIFAR-10, fifteen, or a hundred. For each seed the whole study
# takes half an hour on two fast cores, some hours, or a GPU.
_LENGTH: Mapping[str, Chosen] = {
    "small": {"steps": 1_500, "warmup_steps": 150},
    "medium": {"steps": 12_000, "warmup_steps": 800},
    "large": {"steps": USUAL["large"]["steps"], "warmup_steps": USUAL["large"]["warmup_steps"]},
}
_ON_A_CPU: Chosen = {"model": "micro/4", "batch_size": 64, "lr": 2e-3}
# Averages of the weights that reach back over a few percent of a run.
_EMA = {"small": 0.99, "medium": 0.998, "large": 0.9995}

# What lets a model learn faster, and what lets it learn for longer without learning by heart.
_SOONER: Mapping[str, Chosen] = {
    "mimetic": {"init": "mimetic"},
    "whiten": {"whiten": True},
    "mean": {"pool": "mean"},
    "muon": {"optimizer": "muon"},
    "ema": {},  # set for each size
}
_LONGER: Mapping[str, Chosen] = {
    "crops": {"crop_padding": 4},
    "smoothing": {"smoothing": 0.1},
    "drop-path": {"drop_path": 0.1},
    "mixing": {"mixup": 0.8, "cutmix": 1.0},
    "randaugment": {"augment": "randaugment"},
    "erasing": {"erase": 0.25},
}


def _usual(size: str) -> Chosen:
    if size == "large":
        kept = {name: USUAL[size][name] for name in ("model", "batch_size", "lr")}
    else:
        kept = _ON_A_CPU
    return COMMON | kept | _LENGTH[size]


def _ingredients(size: str) -> dict[str, Chosen]:
    return {**_SOONER, "ema": {"ema": _EMA[size]}, **_LONGER}


def _full(size: str) -> dict[str, Chosen]:
    """The ingredients of the full recipe: in a few passes, only those that let a model learn faster."""
    names = {**_SOONER, **_LONGER} if size == "large" else _SOONER
    return {name: chosen for name, chosen in _ingredients(size).items() if name in names}


def _mixed(ingredients: Mapping[str, Chosen]) -> Chosen:
    return {name: value for chosen in ingredients.values() for name, value in chosen.items()}


def _variants(size: str, dataset: str) -> tuple[Variant, ...]:
    full = _full(size)
    found = [Variant("plain", {}), Variant("full", _mixed(full))]
    for name, chosen in _ingredients(size).items():
        without = {other: its for other, its in full.items() if other != name}
        beside = _mixed(without if name in full else full | {name: chosen})
        found += [Variant(_added(name), chosen), Variant(_toggled(name, size), beside)]
    return tuple(found)


def _comparisons(size: str) -> tuple[Comparison, ...]:
    found = []
    for name in _ingredients(size):
        beside = "full", _toggled(name, size)
        found.append(Comparison(name, "plain recipe", _added(name), "plain"))
        found.append(Comparison(name, "full recipe", *(beside if name in _full(size) else beside[::-1])))
    return tuple(found)


def _added(name: str) -> str:
    return f"plain-and-{name}"


def _toggled(name: str, size: str) -> str:
    return f"full-{'without' if name in _full(size) else 'and'}-{name}"


STUDY = Study(
    question="What is each ingredient of a recipe worth, alone and beside the others?",
    paper="Not in the paper, whose recipe is the plain one. In a few passes, what makes a task harder costs "
    "accuracy; it pays in hundreds.",
    variants=_variants,
    usual=_usual,
    comparisons=_comparisons,
)
