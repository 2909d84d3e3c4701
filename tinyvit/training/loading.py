"""Loading a model from any source: a run, a checkpoint, a file of weights, a folder, or a known name."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from tinyvit.model import Model
from tinyvit.support.distributed import one_per_machine_first
from tinyvit.support.errors import UserError
from tinyvit.support.files.download import Report
from tinyvit.training.run_folder import RunFolder, has_checkpoint
from tinyvit.weights.checkpoint import is_checkpoint, load_checkpoint
from tinyvit.weights.description import has_words, imagenet_classes, read_class_names, stated_in
from tinyvit.weights.equivalent import for_colour
from tinyvit.weights.known import FILE_ENDINGS, find_weights, from_hub, is_hub_name, is_known
from tinyvit.weights.preprocessing import read_preprocessing
from tinyvit.weights.read import is_by_tinyvit, is_own, load_weights, usual_position_resize, weights_in
from tinyvit.weights.resize import at_image_size


@one_per_machine_first
def load_any(
    source: str, report: Report | None = None, heads: int | None = None, checkpoint: str = "best"
) -> Model:
    """The model in a run folder, checkpoint or file of weights, or under a known name, in main memory.

    Known names are downloaded once, with calls of report(done_bytes, total_bytes). heads is the number of
    heads, if the file does not state it; checkpoint is the one to use, for a run. A model for grey images is
    converted to one for colour images that uses their grey values. If the files beside published weights
    state the size of photos, the model is one for that size. Raises UserError if the source is none of
    these, is damaged, is for images of other channels, or if heads contradicts the shapes of its arrays.
    """
    try:
        with np.errstate(all="ignore"):  # what overflows is found below
            model = _load(_weights_within(source), report, heads, checkpoint)
    except MemoryError as error:
        raise UserError(
            f"{source} does not fit into memory, at the size that it or the files beside it state: correct "
            "them, or choose a smaller model."
        ) from error
    config = model.config
    if heads not in (None, config.heads):
        raise UserError(f"{source} itself states that it has {config.heads} heads: omit heads (--heads).")
    if config.channels not in (1, 3):
        raise UserError(
            f"{source} is for {config.channels}-channel images, expected 3 channels, or 1 for grey: tinyvit "
            "reads colour photos. Choose another checkpoint."
        )
    config, params = for_colour(config, model.params)
    if not np.isfinite(params.flat).all():
        raise UserError(f"{source} contains numbers that are not finite: download it, or train it, again.")
    return replace(model, config=config, params=params)


def check_has_head(source: str, model: Model) -> None:
    """Raise UserError for a model without a head for classes, when classes are needed."""
    if not model.has_head:
        raise UserError(
            f"{source} {why_no_classes(model)}: fine-tune it with tinyvit.finetune, or use its features with "
            "tinyvit.fewshot."
        )


def why_no_classes(model: Model) -> str:
    """The reason why a model has no head for classes, as a predicate about its source."""
    if model.config.predicts_patches:
        return "learned without labels, to predict patches, and has no classes"
    if model.texts:
        return "has no classes but those that predict --classes, or zero_shot in Python, gives it in words"
    return "has no head and therefore no classes"


def class_names(source: str, count: int) -> tuple[str, ...]:
    """The class names of weights: in their config.json, otherwise ImageNet's for 1000, or ().

    A .safetensors file that tinyvit wrote need not be for ImageNet: without a config.json, it has no names.
    One beside it is of another model, unless it is a run's.
    """
    path, names = Path(source), None
    if os.path.exists(path):  # unlike Path.exists, not an error for a name too long
        beside = (path if path.is_dir() else path.parent) / "config.json"
        if not is_own(path) or "settings" in stated_in(beside):
            names = read_class_names(beside, count)
    if names is None and count == 1000 and not is_by_tinyvit(path):
        names = imagenet_classes()
    return names or ()


def _load(source: str, report: Report | None, heads: int | None, which: str) -> Model:
    path = Path(source)
    if not os.path.isdir(path):
        path = find_weights(source, report)
    if os.path.isdir(path) or is_checkpoint(path):
        saved = RunFolder.open(path).load(which) if path.is_dir() else load_checkpoint(path)
        classes = saved.classes
        if not classes and (path.is_dir() or saved.progress):  # then it is of a run, which may state them
            folder = path if path.is_dir() else path.parent
            classes = read_class_names(folder / "config.json", saved.config.classes) or ()
        return Model(saved.config, saved.params, classes, saved.position_resize, saved.photo_fit)
    config, params = load_weights(path, heads)
    own = is_own(path)
    fit = read_preprocessing(path.parent) if os.path.isfile(source) and not own else None  # of no known name
    is_classifier = config.classes > 1 and config.predicts == "image"  # even one made of a CLIP or SigLIP
    texts = path.parent if has_words(path.parent) and not (is_classifier or own) else None
    classes = class_names(source, config.classes) if is_classifier else ()
    model = Model(config, params, classes, usual_position_resize(path), fit, texts=texts)
    if fit is None or config.has_resnet:
        return model
    fit = fit.covered_by(config.patch_size)
    try:
        return at_image_size(replace(model, photo_fit=fit), fit.size)
    except UserError as error:
        raise UserError(f"the files beside {path} state another size of photos: {error}") from error


def names_weights(source: str) -> bool:
    """True for a model other than a run's: a file or folder of weights, a known name, or one on the hub."""
    path = Path(source)
    if os.path.isdir(path):
        return not has_checkpoint(path) and (has_words(path) or weights_in(path) is not None)
    return path.suffix.lower() in FILE_ENDINGS or is_known(source) or is_hub_name(source)


def _weights_within(source: str) -> str:
    """The path of the weights in a Hugging Face folder; any other source unchanged."""
    folder = Path(source)
    if is_hub_name(source):
        folder = from_hub(source)
        if not weights_in(folder):
            raise UserError(f"{source} has no .safetensors file on Hugging Face's hub: choose another model.")
    if has_checkpoint(folder):
        return source  # a run, perhaps with an export
    return str(weights_in(folder) or source)
