"""A pretend GPU: its arrays live elsewhere, it works later than it is asked to, and it counts.

What it has in common with a real one: an operation on its arrays is only put into a queue, and is carried out
when the host waits for a number. Until then the number is not there. What it lacks is speed: the work is done
by NumPy, in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Work = Callable[[], None]


class Device:
    """Counts launches, and the times the host waited for unfinished work."""

    def __init__(self) -> None:
        self.launches = self.waits = 0
        self._queue: list[Work] = []

    def array(self, values: Any) -> DeviceArray:
        """A copy of the host's numbers, on the device."""
        return DeviceArray(self, np.array(values, dtype=np.float64))

    def launch(self, work: Work) -> None:
        """Put work into the queue; nothing is done yet."""
        self.launches += 1
        self._queue.append(work)

    def wait(self) -> None:
        """Let the host wait until the queue is empty."""
        self.waits += bool(self._queue)
        for work in self._queue:
            with np.errstate(all="ignore"):  # a GPU does not warn
                work()
        self._queue.clear()


class DeviceArray:
    """Numbers on a device. float(x), bool(x) and x.get() wait for them and copy them to the host."""

    __array_ufunc__ = None  # NumPy is to leave operations with such an array to us

    def __init__(self, device: Device, memory: np.ndarray) -> None:
        self.device, self._memory = device, memory

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape is known on the host: asking for it does not wait."""
        return self._memory.shape

    @property
    def T(self) -> DeviceArray:  # noqa: N802 - as in NumPy
        """Transposed: the same memory."""
        return DeviceArray(self.device, self._memory.T)

    def get(self) -> np.ndarray:
        """A copy on the host. Waits."""
        self.device.wait()
        return self._memory.copy()

    def sum(self) -> DeviceArray:
        """The sum of all numbers, on the device, of shape ()."""
        return _new(np.sum, self)

    def mean(self) -> DeviceArray:
        """The mean of all numbers, on the device, of shape ()."""
        return _new(np.mean, self)

    def __float__(self) -> float:
        return float(self.get())

    def __bool__(self) -> bool:
        return bool(self.get())

    def __repr__(self) -> str:
        return f"array({self.get()}, on the device)"  # printing waits as well

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError("NumPy cannot reach an array on the device: copy it to the host with .get()")

    def _write(self, function: Callable, other: Any) -> DeviceArray:
        """Overwrite the numbers with a function of themselves and of another operand."""
        other = _operand(self.device, other)
        memory = self._memory
        self.device.launch(lambda: np.copyto(memory, function(memory, other)))
        return self


def minimum(a: Any, b: Any) -> DeviceArray:
    """The smaller of two, number by number, on the device. A NaN stays NaN."""
    return _new(np.minimum, a, b)


def sqrt(a: DeviceArray) -> DeviceArray:
    """Square roots, on the device."""
    return _new(np.sqrt, a)


def _new(function: Callable, *operands: Any) -> DeviceArray:
    """A new array on the device, which a launch will fill."""
    device = next(each.device for each in operands if isinstance(each, DeviceArray))
    values = [_operand(device, each) for each in operands]
    with np.errstate(all="ignore"):
        shape = np.shape(function(*(np.ones(np.shape(value)) for value in values)))
    memory = np.full(shape, np.nan)  # until it has been worked out
    device.launch(lambda: np.copyto(memory, function(*values)))
    return DeviceArray(device, memory)


def _operand(device: Device, value: Any) -> Any:
    """An operand that an operation can read: memory of the device, or a number sent with the launch."""
    if isinstance(value, DeviceArray):
        if value.device is not device:
            raise TypeError("two arrays on different devices")
        return value._memory
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("one array is on the host, the other on the device: copy one with device.array()")
    return float(value)


def _install(name: str, function: Callable) -> None:
    """Give DeviceArray one operator in its three forms: a + b, b + a, a += b."""
    setattr(DeviceArray, f"__{name}__", lambda a, b: _new(function, a, b))
    setattr(DeviceArray, f"__r{name}__", lambda a, b: _new(function, b, a))
    setattr(DeviceArray, f"__i{name}__", lambda a, b: a._write(function, b))


for _name, _function in {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "pow": np.power,
    "matmul": np.matmul,
}.items():
    _install(_name, _function)
for _name, _function in {
    "gt": np.greater,
    "lt": np.less,
    "ge": np.greater_equal,
    "le": np.less_equal,
}.items():
    setattr(DeviceArray, f"__{_name}__", lambda a, b, function=_function: _new(function, a, b))
