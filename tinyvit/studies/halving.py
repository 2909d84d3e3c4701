"""Successive halving: every idea gets a little time, the better half of them twice as much, and so on.

The runs of a round last equally long: in the first by their multiply-adds, then by the clock. Each is a whole
run: a learning rate that falls to zero is worth several points, so nothing is learned from stopping a long
run early. Each round but the first begins with half as many variants, and so takes as long as the one before.
They are ranked by training images that were held out, once, with seed 0; further seeds are for the last round
alone. A variant that diverged is out.

Source: Jamieson and Talwalkar 2016, "Non-stochastic best arm identification and hyperparameter optimization",
arXiv 1502.07943.
"""

import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from tinyvit.studies.plan import Job, Plan
from tinyvit.studies.results import is_finished, result_of
from tinyvit.studies.study import Variant


class HalvingPlan(Plan):
    """A study in rounds, of which each is known once the one before it is finished."""

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The variants of all rounds so far."""
        return tuple(variant for each in self._rounds() for variant in each)

    def jobs(self, seeds: int) -> Iterator[Job]:
        """The runs of all rounds with seed 0, then the last round's with others; none of unknown rounds.

        A round becomes known, and its runs follow, when the caller has carried out those before it.
        """
        rounds: list[tuple[Variant, ...]] = []
        while len(known := self._rounds()) > len(rounds):
            rounds.append(known[len(rounds)])
            for variant in rounds[-1]:
                yield self.job(variant, 0)
        if len(rounds) == self.study.rounds:
            for seed in range(1, seeds):
                for variant in rounds[-1]:
                    yield self.job(variant, seed)

    def count(self, seeds: int) -> int:
        """How many runs there are in all, known or not."""
        sizes = [len(variants) for variants in self._rounds()]
        while len(sizes) < self.study.rounds:
            sizes.append(_better_half(sizes[-1]))
        return sum(sizes) + (seeds - 1) * sizes[-1]

    def known_jobs(self, seeds: int) -> list[Job]:
        """The runs of the first round."""
        return [self.job(self._in_round(variant, 0), 0) for variant in self._ideas()]

    def total(self, figure: Callable[[Job], int], seeds: int) -> int:
        """The sum of a figure over all runs: a round, or a further seed, takes as long as the first."""
        return (self.study.rounds + seeds - 1) * super().total(figure, 1)

    def _ideas(self) -> tuple[Variant, ...]:
        return self.study.variants(self.size, self.dataset)

    def _rounds(self) -> list[tuple[Variant, ...]]:
        """The variants of each round that is known."""
        left = self._ideas()
        rounds: list[tuple[Variant, ...]] = []
        while len(rounds) < self.study.rounds:
            rounds.append(tuple(self._in_round(variant, len(rounds)) for variant in left))
            found = [self._result(variant) for variant in rounds[-1]]
            if not all(found):
                break
            accuracies = {i: one["held_out"] for i, one in enumerate(found) if one and not one["diverged"]}
            ranking = sorted(accuracies, key=accuracies.__getitem__, reverse=True)
            left = tuple(left[i] for i in sorted(ranking[: _better_half(len(left))]))
        return rounds

    def _in_round(self, variant: Variant, number: int) -> Variant:
        """The variant with the steps it has time for: at first by its multiply-adds, then by the clock.

        Machines are not equally fast all the time, so all that is known is used: the pace of the variant in
        all rounds so far, and the median time of the first round's runs.
        """
        if number == 0:
            steps = self._common(0)["steps"] * self._cost(self._ideas()[0]) / self._cost(variant)
        else:
            own = self._results(self._in_round(variant, earlier) for earlier in range(number))
            first = self._results(self._in_round(each, 0) for each in self._ideas())
            pace = sum(one["images_seen"] for one in own) / sum(one["seconds"] for one in own)
            seconds = 2**number * statistics.median(one["seconds"] for one in first)
            steps = seconds * pace / self.job(variant, 0).chosen["batch_size"]
        usual = self._common(0)
        warmup = steps * usual["warmup_steps"] / usual["steps"]
        length = {"steps": max(2, round(steps)), "warmup_steps": max(1, round(warmup))}
        name = f"{variant.name}-{2**number}x"
        return replace(variant, name=name, settings=variant.settings | length, lines=(variant.name,))

    def _cost(self, variant: Variant) -> float:
        """That of a step."""
        job = self.job(variant, 0)
        return self.work(job) / job.chosen["steps"]

    def _results(self, variants: Iterable[Variant]) -> list[dict[str, Any]]:
        """Those of the runs that are finished and have not diverged."""
        found = [self._result(variant) for variant in variants]
        return [one for one in found if one and not one["diverged"]]

    def _result(self, variant: Variant) -> dict[str, Any] | None:
        folder = self.folder(self.job(variant, 0).name)
        return result_of(folder) if is_finished(folder) else None


def _better_half(count: int) -> int:
    return max(1, count // 2)
