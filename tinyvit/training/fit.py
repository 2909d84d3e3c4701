"""Training on arrays in memory: the training loop as it is, without a run folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tinyvit.data import ImageSet, balancing
from tinyvit.data.classifier_input import checked_weights
from tinyvit.errors import UserError, nearest
from tinyvit.model import Params, ViTConfig
from tinyvit.training.choices import FIT, fit_settings
from tinyvit.training.divergence import Diverged, Guard
from tinyvit.training.evaluation import Evaluation, PatchEvaluation, task_of
from tinyvit.training.learning import make_engines
from tinyvit.training.loop import Trainer
from tinyvit.training.run_data import check_batches
from tinyvit.training.settings import FitSettings, Settings, table
from tinyvit.training.stages import Stages

if TYPE_CHECKING:
    from typing_extensions import Unpack

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
        about = [name for name in FIT if unknown[0].replace("_", " ") in table()[name].help]
        offered = nearest(unknown[0], about) if about else nearest(unknown[0], FIT)
        raise UserError(f"fit has no setting {unknown[0]}: expected some of {offered}.")
    if report is not None and not callable(report):
        raise UserError(f"report is {report!r}, expected a function of the epoch and its loss.")
    if validation is None and "patience" in given:
        raise UserError(
            f"patience is {given['patience']}, but there is nothing to judge by: give validation too."
        )
    with _flags_as_keywords():
        chosen = fit_settings(given, len(data), threads)
        check_batches(chosen, data)
        noise = {name: given[name] for name in ("dropout", "drop_path") if name in given}
        trainer = _InMemory(chosen, replace(config, **noise), params, data, validation, sample_weight, report)
        before = params.flat.copy()
        try:
            trainer.fit()
        except Diverged:
            params.flat[...] = before
            raise
    params.flat[...] = trainer.kept if trainer.kept is not None else trainer.model_now
    return [record["train_loss"] for record in trainer.state.records]


class _InMemory(Trainer):
    """A trainer that reports each epoch and, with patience, keeps the parameters of the best."""

    def __init__(
        self,
        settings: Settings,
        config: ViTConfig,
        params: Params,
        data: ImageSet,
        validation: ImageSet | None,
        sample_weight: np.ndarray | None,
        report: Callable[..., object] | None,
    ):
        task, stages = task_of(settings, config), Stages(settings, config)
        engines = make_engines(settings, stages, params, data, task.objective)
        guard = Guard(task.blind_loss, settings.lr, lambda: "The model is as it was before.")
        weights = None if sample_weight is None else checked_weights(sample_weight, len(data))
        if settings.balanced:
            weights = balancing(data.labels) * (1 if weights is None else weights)
        super().__init__(settings, task, stages, engines, guard, data, validation, weights=weights)
        self.report, self.kept = report, None

    @property
    def model_now(self) -> Any:
        """The parameters, or their running average if there is one."""
        average = self.engine.training.average
        return average.flat if average else self.engine.params.flat

    def _has_finished(
        self, record: dict[str, Any], judged: Evaluation | PatchEvaluation | None, is_best: bool
    ) -> bool:
        if is_best and self.settings.patience:
            self.kept = self.model_now.copy()
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
