"""Training on arrays in memory: the loop in its simplest form, without a run folder.

    for each epoch:  an order of the images
        for each batch:  its plan, its learning rate, a step

training.loop adds everything else that a long run needs: evaluation, checkpoints, resuming.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tinyvit.backend import array_module
from tinyvit.data import ImageSet, balancing, epoch_order, indices_of_batch, make_policy, plan_batch
from tinyvit.data.classifier_input import checked_weights
from tinyvit.engine import Training, make_engine
from tinyvit.errors import UserError
from tinyvit.model import Params, ViTConfig
from tinyvit.objectives import loss_and_grads
from tinyvit.optim import (
    Average,
    averaged,
    learning_rate,
    usual_learning_rate,
    usual_weight_decay,
)
from tinyvit.runs.settings import setting_error
from tinyvit.shell.figures import counted
from tinyvit.training.divergence import without_overflow_warnings
from tinyvit.training.evaluation import evaluate, rank
from tinyvit.training.learning import make_learning


def fit(
    config: ViTConfig,
    params: Params,
    data: ImageSet,
    *,
    epochs: int = 10,
    batch_size: int = 64,
    lr: float | None = None,
    optimizer: str = "adamw",
    weight_decay: float | None = None,
    warmup_epochs: float | None = None,
    decay: str = "cosine",
    clip: float = 1.0,
    ema: float = 0.0,
    smoothing: float = 0.0,
    crop_padding: int = 0,
    crop_scale: float = 1.0,
    flip: bool = False,
    colour_jitter: float = 0.0,
    augment: str = "none",
    augment_ops: int = 2,
    augment_magnitude: float = 10.0,
    mixup: float = 0.0,
    cutmix: float = 0.0,
    erase: float = 0.0,
    repeats: int = 1,
    balanced: bool = False,
    sample_weight: np.ndarray | None = None,
    freeze: str | None = None,
    layer_decay: float = 1.0,
    lora: int | None = None,
    lora_alpha: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    precision: str = "auto",
    validation: ImageSet | None = None,
    patience: int | None = None,
    report: Callable[..., object] | None = None,
) -> list[float]:
    """Train the parameters in place, on their own device; returns the mean training loss of each epoch.

    The settings are those of the train command. lr None is 0.05 for SGD and 0.001 for the other optimisers;
    weight_decay None is 0 for Adam, and 0.05 for AdamW and Muon; warmup_epochs None is 1, but at most a
    quarter of the epochs. With ema, the parameters end as their running average. All random choices follow
    from the seed, so a second call makes the same ones. sample_weight (n,) is how often each image comes in
    the long run, relative to the others (see data.epoch_order). A smaller last batch of an epoch is trained
    on too.

    After each epoch, counted from 1, the model is judged on the validation images, if there are any, and
    report(epoch, loss) is called, or report(epoch, loss, validation_loss, validation_accuracy). If it returns
    True, that epoch was the last. With patience, so was one after which that many have not been better than
    the best, and the parameters end as they were then: the best have the highest accuracy, and of these the
    lowest loss.

    Raises UserError if there are no images, a label is out of range, a setting cannot have its value, the
    parameters are read-only, or training diverges; the parameters are then what they were before.
    """
    if lr is None:
        lr = usual_learning_rate(optimizer, otherwise=1e-3)
    if optimizer == "sgd" and weight_decay:
        raise UserError(
            f"weight_decay is {weight_decay!r}, but sgd has none: omit it, or choose another optimizer."
        )
    if weight_decay is None:
        weight_decay = usual_weight_decay(optimizer)
    if report is not None and not callable(report):
        raise UserError(f"report is {report!r}, expected a function of the epoch and its loss.")
    check_settings(
        epochs=epochs,
        batch_size=batch_size,
        lr=lr,
        optimizer=optimizer,
        weight_decay=weight_decay,
        decay=decay,
        clip=clip,
        ema=ema,
        smoothing=smoothing,
        crop_padding=crop_padding,
        crop_scale=crop_scale,
        flip=flip,
        colour_jitter=colour_jitter,
        augment=augment,
        augment_ops=augment_ops,
        augment_magnitude=augment_magnitude,
        mixup=mixup,
        cutmix=cutmix,
        erase=erase,
        repeats=repeats,
        balanced=balanced,
        freeze=freeze,
        layer_decay=layer_decay,
        lora=lora,
        lora_alpha=lora_alpha,
        seed=seed,
        threads=threads,
        precision=precision,
        patience=patience,
    )
    if warmup_epochs is None:
        warmup_epochs = min(1.0, epochs / 4)
    check_settings(warmup_epochs=warmup_epochs)
    if warmup_epochs > epochs:
        raise UserError(
            f"warmup_epochs is {warmup_epochs:g}, longer than the {epochs} epochs to train for: the learning "
            "rate would never reach its full value. Give a smaller one, or more epochs."
        )
    if repeats > batch_size:
        raise UserError(f"repeats is {repeats}, expected at most the batch size, {batch_size}.")
    if crop_padding and crop_scale < 1:
        raise UserError(f"crop_scale {crop_scale} takes the place of crop_padding: omit one of them.")
    _check_data(data, config.classes, crop_padding)
    if validation is not None:
        _check_data(validation, config.classes)
    elif patience is not None:
        raise UserError(f"patience is {patience}, but there is nothing to judge by: give validation too.")
    check_writable(params)
    weights = _weights(data.labels, balanced, sample_weight)
    count, xp = len(data), array_module(params.flat)
    stepper, frozen = make_learning(
        config,
        params,
        optimizer,
        weight_decay,
        freeze=freeze,
        layer_decay=layer_decay,
        lora=lora,
        lora_alpha=lora_alpha,
        seed=seed,
    )
    training = Training(
        xp.asarray(data.images),
        xp.asarray(data.labels),
        stepper,
        clip or math.inf,
        average=Average(params, ema) if ema else None,
        operations=augment != "none" or colour_jitter > 0,
        crops=crop_scale < 1,
        frozen=frozen,
    )
    policy = make_policy(augment, augment_ops, augment_magnitude)
    changes: dict[str, Any] = {"padding": crop_padding, "scale": crop_scale, "flip": flip, "policy": policy}
    changes |= {"jitter": colour_jitter, "mixup": mixup, "cutmix": cutmix, "erase": erase}
    objective = partial(loss_and_grads, smoothing=smoothing)
    engine = make_engine(config, params, objective, training, threads, precision)
    steps = math.ceil(count / batch_size)
    total, warmup = epochs * steps, round(warmup_epochs * steps)
    step, means, before = 0, [], params.flat.copy()
    best: tuple[float, ...] = ()
    for epoch in range(epochs):
        order, loss_sum = epoch_order(seed, epoch, count, repeats, weights), 0.0
        with without_overflow_warnings():
            for k in range(steps):
                step += 1
                indices = indices_of_batch(order, k, batch_size, repeats)
                plan = plan_batch(seed, step, indices, **changes)
                loss, _ = engine.step(plan, learning_rate(step, total, lr, warmup, decay))
                loss_sum = loss_sum + loss * len(indices)
        means.append(float(loss_sum) / count)
        # the loss is that before each update: whether the last one went well, only the parameters tell
        if not (math.isfinite(means[-1]) and bool(xp.isfinite(params.flat).all())):
            params.flat[...] = before
            raise UserError(
                f"training has diverged in epoch {epoch + 1}: the model is as it was before. Try a lower lr "
                f"than {lr:g}."
            )
        known: tuple[float, ...] = (epoch + 1, means[-1])
        if validation is not None:
            with averaged(training.average):
                result = evaluate(engine, validation)
                known += result.loss, result.accuracy
                if (found := rank(result.accuracy, result.loss, by_loss=False)) > best:
                    best, best_epoch, best_flat = found, epoch, params.flat.copy() if patience else None
        stops = report(*known) if report else False
        if isinstance(stops, bool | np.bool_) and stops:  # not the number that a write to a file returns
            break
        if patience and epoch - best_epoch >= patience:
            break
    if training.average:
        params.flat[...] = training.average.flat
    if patience:
        params.flat[...] = best_flat
    return means


def _weights(labels: np.ndarray, balanced: bool, sample_weight: np.ndarray | None) -> np.ndarray | None:
    """How often each image comes, relative to the others: (n,); None if all come alike."""
    if sample_weight is None:
        return balancing(labels) if balanced else None
    weights = checked_weights(sample_weight, len(labels))
    return weights * balancing(labels) if balanced else weights


def _check_data(data: ImageSet, classes: int, crop_padding: int = 0) -> None:
    """Raise UserError for images that cannot be trained or judged on, or cropped so far."""
    if not len(data):
        raise UserError("there are no images to train on, or to judge by: expected at least one.")
    check_labels(data.labels, classes)
    H, W = data.images.shape[1:3]
    if crop_padding >= min(H, W):
        raise UserError(
            f"crop_padding is {crop_padding}, expected less than the sides of images of {H} x {W}."
        )


def check_labels(labels: np.ndarray, classes: int) -> None:
    """Raise UserError for a label that is not the number of a class."""
    if len(labels) and (labels.min() < 0 or labels.max() >= classes):
        worst = labels.min() if labels.min() < 0 else labels.max()
        raise UserError(
            f"a label is {worst}, expected 0 to {classes - 1} for a model of "
            f"{counted(classes, 'class', 'classes')}."
        )


def check_writable(params: Params) -> None:
    """Raise UserError for parameters that cannot be changed, such as those of a file that is mapped."""
    if isinstance(params.flat, np.ndarray) and not params.flat.flags.writeable:
        raise UserError(
            "the parameters are read-only: use copy.deepcopy(model), or load the model without mmap_mode."
        )


def check_settings(**settings: Any) -> None:
    """Raise UserError for a setting with a value that it cannot have."""
    for name, value in settings.items():
        plain = value.item() if isinstance(value, np.generic) else value
        if expected := setting_error(name, plain):
            raise UserError(f"{name} is {value!r}, expected {expected}.")
