"""The places of a plan's arrays in one block of memory, so that few bytes serve many arrays.

An array needs memory from the first step that uses it to the last. Activations of the forward pass wait for
the backward; a gradient lives for two or three steps, and the next one can take its place. Arrays are placed
one after another, the largest first: each at the lowest place where it overlaps no array that is needed at
the same time.
"""

import re
from collections import Counter
from typing import NamedTuple

from tinyvit.engine.cuda.launch import Buffer, Product, Step
from tinyvit.engine.cuda.plan.draft import Plan

ALIGNMENT = 256  # bytes, as of cudaMalloc: enough for the widest loads


class Place(NamedTuple):
    """Bytes start to stop of the workspace, from step `first` of the plan to step `last`."""

    start: int
    stop: int
    first: int
    last: int


class Workspace(NamedTuple):
    """The size of the workspace in bytes, and the place of each array in it."""

    size: int
    places: dict[str, Place]

    def largest(self, count: int = 10) -> list[tuple[str, int]]:
        """The arrays that take most of it when it is fullest, with their bytes, the largest first.

        The same array of all blocks counts as one: blocks.h is blocks.0.h, blocks.1.h and so on.
        """
        at, there = self._fullest(), Counter[str]()
        for name, place in self.places.items():
            if place.first <= at <= place.last:
                there[re.sub(r"^blocks\.\d+", "blocks", name)] += place.stop - place.start
        return there.most_common(count)

    def _fullest(self) -> int:
        """The step at which most bytes are in use."""
        changes: dict[int, int] = {}
        for start, stop, first, last in self.places.values():
            changes[first] = changes.get(first, 0) + stop - start
            changes[last + 1] = changes.get(last + 1, 0) - (stop - start)
        used = most = fullest = 0
        for step in sorted(changes):
            used += changes[step]
            if used > most:
                most, fullest = used, step
        return fullest


def plan_workspace(plan: Plan) -> Workspace:
    """A place for every array of a plan that is not there before and after."""
    placed: list[tuple[str, Place]] = []
    size = 0
    uses = _uses(plan)
    for name in sorted(uses, key=lambda name: (-plan.arrays[name].nbytes, uses[name])):
        first, last = uses[name]
        needed = -(-plan.arrays[name].nbytes // ALIGNMENT) * ALIGNMENT
        start = 0
        rivals = sorted(p for _, p in placed if p.first <= last and first <= p.last)
        for rival in rivals:  # the first gap that is wide enough
            if start + needed <= rival.start:
                break
            start = max(start, rival.stop)
        placed.append((name, Place(start, start + needed, first, last)))
        size = max(size, start + needed)
    return Workspace(size, dict(placed))


def _uses(plan: Plan) -> dict[str, tuple[int, int]]:
    """The numbers of the first and the last step that use each array of the workspace."""
    uses: dict[str, tuple[int, int]] = {}
    for number, step in enumerate(plan.steps):
        for buffer in buffers_of(step):
            if buffer.name not in plan.outside:
                uses[buffer.name] = uses.get(buffer.name, (number,))[0], number
    if plan.result:
        uses[plan.result.name] = uses[plan.result.name][0], len(plan.steps)
    return uses


def buffers_of(step: Step) -> tuple[Buffer, ...]:
    """All buffers that a step is given."""
    if isinstance(step, Product):
        return (*step.reads, *step.writes)
    return tuple(argument for argument in step.args if isinstance(argument, Buffer))
