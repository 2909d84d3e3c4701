"""Successive halving: every idea gets a little time, the better half of them twice as much, and so on.

In each round, all runs have as long as the first variant's, and each is a whole run: a learning rate that
falls to zero is worth several points, so that nothing is learned from stopping a long run early. Each round
but the first begins with half as many variants, and so takes as long as the one before. They are ranked by
training images that were held out, once, with seed 0; further seeds are for the last round alone.

Source: Jamieson and Talwalkar 2016, "Non-stochastic best arm identification and hyperparameter optimization",
arXiv 1502.07943.
"""

from collections.abc import Iterator
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
        sizes = [len(self.study.variants(self.size, self.dataset))]
        while len(sizes) < self.study.rounds:
            sizes.append(_better_half(sizes[-1]))
        return sum(sizes) + (seeds - 1) * sizes[-1]

    def _description(self) -> dict[str, Any]:
        """What is known from the beginning, as the folder is claimed again when it is continued."""
        return Plan(self.name, self.study, self.size, self.dataset, self.out)._description()

    def _rounds(self) -> list[tuple[Variant, ...]]:
        """The variants of each round that is known."""
        left = self.study.variants(self.size, self.dataset)
        rounds: list[tuple[Variant, ...]] = []
        while len(rounds) < self.study.rounds:
            rounds.append(tuple(self._in_round(variant, len(rounds)) for variant in left))
            found = [self._result(variant) for variant in rounds[-1]]
            accuracies = [result["held_out"] or 0.0 for result in found if result]
            if len(accuracies) < len(left):
                break
            ranking = sorted(range(len(left)), key=accuracies.__getitem__, reverse=True)
            left = tuple(left[i] for i in sorted(ranking[: _better_half(len(left))]))
        return rounds

    def _in_round(self, variant: Variant, number: int) -> Variant:
        """The variant with the steps it has time for: at first by its multiply-adds, then by the clock."""
        first = self.study.variants(self.size, self.dataset)[0]
        if number == 0:
            steps = self._common(0)["steps"] * self._cost(first) / self._cost(variant)
        else:
            own, base = (self._result(self._in_round(each, 0)) for each in (variant, first))
            assert own and base, "the first round is finished"
            pace = (own["images_seen"] or 0) / (own["seconds"] or 1)  # nothing is known if it diverged
            steps = 2**number * (base["seconds"] or 1) * pace / self.job(variant, 0).chosen["batch_size"]
        usual = self._common(0)
        warmup = steps * usual["warmup_steps"] / usual["steps"]
        length = {"steps": max(2, round(steps)), "warmup_steps": max(1, round(warmup))}
        name = f"{variant.name}-{2**number}x"
        return replace(variant, name=name, settings=variant.settings | length, lines=(variant.name,))

    def _cost(self, variant: Variant) -> float:
        """That of a step."""
        job = self.job(variant, 0)
        return self.work(job) / job.chosen["steps"]

    def _result(self, variant: Variant) -> dict[str, Any] | None:
        folder = self.folder(self.job(variant, 0).name)
        return result_of(folder) if is_finished(folder) else None


def _better_half(count: int) -> int:
    return max(1, count // 2)
