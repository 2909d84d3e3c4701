"""Training on arrays in memory: the training loop as it is, without a run folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tinyvit.data import ImageSet
from tinyvit.data.classifier_input import checked_weights
from tinyvit.model import Params, ViTConfig
from tinyvit.support.errors import UserError, did_you_mean, nearest
from tinyvit.training.choices import FIT, fit_settings
from tinyvit.training.evaluation import Evaluation, PatchEvaluation
from tinyvit.training.loop import Trainer
from tinyvit.training.run_data import check_batches
from tinyvit.training.settings import FitSettings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from tinyvit.support.shell.progress import Progress

_BESIDE = ("validation", "sample_weight", "report", "progress")  # what Model.fit takes beside settings
_FLAG = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


def fit(
    config: ViTConfig,
    params: Params,
    data: ImageSet,
    *,
    threads: int | None = None,
    validation: ImageSet | None = None,
    sample_weight: np.ndarray | None = None,
    report: Callable[..., object] | None = None,
    progress: Progress | None = None,
    **settings: Unpack[FitSettings],
) -> list[float]:
    """Train the parameters in place, on their own device; returns the mean training loss of each epoch.

    See Model.fit for the arguments. Raises UserError if a setting cannot have its value, or does not suit the
    others or the data, and if training diverges; the parameters are then what they were before.
    """
    given: dict[str, Any] = {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in settings.items()
        if value is not None
    }
    if unknown := sorted(given.keys() - set(FIT)):
        known, meant = nearest(unknown[0], FIT), did_you_mean(unknown[0], (*FIT, *_BESIDE))
        raise UserError(f"fit has no setting {unknown[0]}{meant}: expected some of {known}.")
    if report is not None and not callable(report):
        raise UserError(f"report is {report!r}, expected a function of the epoch and its loss.")
    if validation is None and "patience" in given:
        raise UserError(
            f"patience is {given['patience']}, but there is nothing to judge by: give validation too."
        )
    own = given["augment"] if callable(given.get("augment")) else None
    if own is not None:
        given["augment"] = "none"  # in place of a recipe's
    with _flags_as_keywords():
        chosen = fit_settings(given, len(data), threads)
        check_batches(chosen, data)
        chosen_noise = [name for name in ("dropout", "drop_path") if {name, "recipe"} & given.keys()]
        config = replace(config, **{name: getattr(chosen, name) for name in chosen_noise})
        weights = None if sample_weight is None else checked_weights(sample_weight, len(data))
        before, kept = params.flat.copy(), "The model is as it was before."
        trainer = _InMemory(
            chosen,
            config,
            params,
            lambda: kept,
            data,
            validation,
            sample_weight=weights,
            progress=progress,
            augment=own,
        )
        trainer.report = report
        try:
            trainer.fit()
        except UserError:  # as when training diverges
            params.flat[...] = before
            raise
    params.flat[...] = trainer.model_now if trainer.best is None else trainer.best
    return [record["train_loss"] for record in trainer.state.records]


class _InMemory(Trainer):
    """A trainer that reports each epoch and, with patience, keeps the parameters of the best."""

    best: Any = None  # a copy of these parameters
    report: Callable[..., object] | None = None

    @property
    def model_now(self) -> Any:
        """The parameters, or their running average if there is one."""
        average = self.engine.training.average
        return average.flat if average else self.engine.params.flat

    def _has_finished(
        self, record: dict[str, Any], judged: Evaluation | PatchEvaluation | None, is_best: bool
    ) -> bool:
        if is_best and self.settings.patience:
            self.best = self.model_now.copy()
        super()._has_finished(record, judged, is_best)
        results = (judged.loss, judged.accuracy) if judged else ()
        answer = self.report(record["epoch"], record["train_loss"], *results) if self.report else False
        return isinstance(answer, bool | np.bool_) and bool(answer)  # not what a write to a file returns


@contextmanager
def _flags_as_keywords() -> Iterator[None]:
    """Within this context, messages that name settings as flags, such as --crop-scale, name keywords."""
    try:
        yield
    except UserError as error:
        message = _FLAG.sub(lambda flag: flag[1].replace("-", "_"), str(error))
        raise type(error)(message) from None
