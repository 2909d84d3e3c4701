"""The inputs of a step, in one small copy: learning rate, keys of random numbers, the batch's plan.

The words of the array on the device, 32 bits each, are

    controls    8 float32             learning rate and the factors of Adam: see calls/optimizer.py
    keys        uint32 (n, 2)         of the draws of dropout and stochastic depth: see calls/noise.py
    plan        int32 (4, S)          indices, down, right, flip of a BatchPlan
    erasing     int32 (5, S)          top, bottom, left, right, and the key of the noise: see data/mixing.py
    mixing      int32 (6, B)          top, bottom, left, right, and two float32: the weight of the next image
                                      there and its share of the label: see data/mixing.py
    operations  int32 (n, 7, S)       what is done to the images in n rounds: see calls/augment.py

where S is B or, if images are mixed, B + 1: the image that comes after the last is planned too.

The host writes them to memory that the device can read at any time, and does not wait until it has. So there
are several such places, used in turn, and one is written again only after its copy is done.
"""

from types import ModuleType
from typing import Any

import numpy as np

from tinyvit.backend import Array
from tinyvit.data import BatchPlan
from tinyvit.engine.cuda.calls.augment import ROWS as OPERATION_ROWS
from tinyvit.engine.cuda.calls.augment import operation_tables

CONTROLS = 8
ROWS = {"plan": 4, "erasing": 5, "mixing": 6}  # of tables for each image
_PLACES = 32  # a host this many steps ahead waits for the device; the training loop looks every 20 steps


class Uploads:
    """The array on the device, for batches of up to `images` images with this many rounds of operations each,
    and places on the host.
    """

    def __init__(self, xp: ModuleType, keys: int, images: int, rounds: int = 0):
        self._xp, self.images, self.rounds = xp, images, rounds
        self._parts = {"controls": slice(0, CONTROLS)}
        tables = ROWS | {"operations": rounds * OPERATION_ROWS}
        for name, words in ("keys", 2 * keys), *((n, rows * (images + 1)) for n, rows in tables.items()):
            start = next(reversed(self._parts.values())).stop
            self._parts[name] = slice(start, start + words)
        self._device = xp.empty(self._parts["operations"].stop, dtype="uint32")
        self._host = [self._pinned() for _ in range(_PLACES)]
        self._events: list[Any] = [None] * _PLACES
        self._next = 0

    @property
    def arrays(self) -> dict[str, Array]:
        """The parts on the device, by the names that they have in plans."""
        dtypes = {"controls": "float32", "keys": "uint32"}
        return {
            name: self._device[part].view(dtypes.get(name, "int32")) for name, part in self._parts.items()
        }

    @property
    def norm(self) -> Array:
        """The norm of the gradient, an array without axes, as the last update wrote it."""
        return self._device[4:5].view("float32").reshape(())

    def send(
        self, controls: tuple[float, ...], keys: np.ndarray | None, tables: dict[str, np.ndarray]
    ) -> None:
        """Copy these to the device, as far as they are given; the stream's later work finds them there.

        tables are int32, by name: plan_tables of a batch's plan.
        """
        place, self._next = self._next, (self._next + 1) % _PLACES
        if self._events[place] is not None and not self._events[place].done:
            self._events[place].synchronize()
        words = self._host[place]
        words[:CONTROLS].view(np.float32)[: len(controls)] = controls
        stop = CONTROLS
        given = tables if keys is None else {"keys": keys} | tables
        for name, numbers in given.items():
            start = self._parts[name].start
            stop = start + numbers.size
            words[start:stop] = numbers.reshape(-1).view(np.uint32)
        stream = self._xp.cuda.get_current_stream()
        self._device[:stop].set(words[:stop], stream)
        self._events[place] = stream.record()

    def finish(self) -> None:
        """Wait until no copy is under way: only then may the places on the host serve something else."""
        for event in self._events:
            if event is not None:
                event.synchronize()

    def _pinned(self) -> np.ndarray:
        """Words of page-locked memory on the host, which a copy without waiting needs."""
        size = self._device.size
        return np.frombuffer(self._xp.cuda.alloc_pinned_memory(4 * size), np.uint32, size)


def plan_tables(plan: BatchPlan, height: int, width: int) -> dict[str, np.ndarray]:
    """The plan of a batch of images of that size as int32 tables, by name: as in the list above."""
    planned = [plan] if plan.after is None else [plan, plan.after]
    tables = {"plan": _joined([(p.indices, p.down, p.right, p.flip) for p in planned])}
    if plan.erasing is not None:
        rectangles = [(*p.erasing.rectangles(height, width), p.erasing.key.view(np.int32)) for p in planned]
        tables["erasing"] = _joined(rectangles)
    if plan.mixing is not None:
        regions, weight = plan.mixing.regions(height, width)
        floats = (weight, plan.mixing.shares(height, width))
        tables["mixing"] = _joined([(*regions, *(each.astype(np.float32).view(np.int32) for each in floats))])
    if plan.operations.size:
        operations = np.concatenate([p.operations for p in planned])
        tables["operations"] = operation_tables(operations, height, width)
    return tables


def _joined(parts: list[tuple[np.ndarray, ...]]) -> np.ndarray:
    """The rows of a table, each of them several arrays one after another, as int32."""
    rows = [np.concatenate(row) for row in zip(*parts, strict=True)]
    return np.stack(rows, dtype=np.int32, casting="unsafe")
