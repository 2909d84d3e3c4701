"""What the host tells a step, in one small copy: learning rate, keys of random numbers, the batch's plan.

The words of the array on the device, 32 bits each, are

    controls    8 float32             learning rate and the factors of Adam: see calls/optimizer.py
    keys        uint32 (n, 2)         of the draws of dropout and stochastic depth: see calls/noise.py
    plan        int32 (4, B)          indices, down, right, flip of a BatchPlan

The host writes them to memory that the device can read at any time, and does not wait until it has. So there
are several such places, used in turn, and one is written again only after its copy is done.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from tinyvit.backend import Array
from tinyvit.data import BatchPlan

CONTROLS = 8
_PLACES = 32  # a host this many steps ahead waits for the device; the training loop looks every 20 steps


class Uploads:
    """The array on the device, for batches of up to `images` images, and places on the host."""

    def __init__(self, xp: ModuleType, keys: int, images: int):
        self._xp, self.images = xp, images
        self._keys = slice(CONTROLS, CONTROLS + 2 * keys)
        self._plan = slice(self._keys.stop, self._keys.stop + 4 * images)
        self._device = xp.empty(self._plan.stop, dtype="uint32")
        self._host = [self._pinned() for _ in range(_PLACES)]
        self._events: list[Any] = [None] * _PLACES
        self._next = 0

    @property
    def arrays(self) -> dict[str, Array]:
        """The three parts on the device, by the names that they have in plans."""
        return {
            "controls": self._device[:CONTROLS].view("float32"),
            "keys": self._device[self._keys],
            "plan": self._device[self._plan].view("int32"),
        }

    @property
    def norm(self) -> Array:
        """The norm of the gradient, an array without axes, as the last update wrote it."""
        return self._device[4:5].view("float32").reshape(())

    def send(self, controls: tuple[float, ...], keys: np.ndarray | None, plan: BatchPlan | None) -> None:
        """Copy these to the device, as far as they are given; the stream's later work finds them there."""
        place, self._next = self._next, (self._next + 1) % _PLACES
        if self._events[place] is not None and not self._events[place].done:
            self._events[place].synchronize()
        words = self._host[place]
        stop = CONTROLS
        words[:CONTROLS].view(np.float32)[: len(controls)] = controls
        if keys is not None:
            stop = self._keys.start + keys.size
            words[self._keys.start : stop] = keys.reshape(-1)
        if plan is not None:
            rows = (plan.indices, plan.down, plan.right, plan.flip)
            stop = self._plan.start + 4 * len(plan)
            words[self._plan.start : stop].view(np.int32)[...] = np.concatenate(
                rows, dtype=np.int32, casting="unsafe"
            )
        stream = self._xp.cuda.get_current_stream()
        self._device[:stop].set(words[:stop], stream)
        self._events[place] = stream.record()

    def finish(self) -> None:
        """Wait until no copy is under way: only then may the places on the host serve something else."""
        for event in self._events:
            if event is not None:
                event.synchronize()

    def _pinned(self) -> np.ndarray:
        """Words of memory on the host that the device reads by itself, which a copy without waiting needs."""
        size = self._device.size
        return np.frombuffer(self._xp.cuda.alloc_pinned_memory(4 * size), np.uint32, size)
