"""A stand-in for CuPy on a machine without a GPU: it refuses what CuPy refuses, and computes with NumPy.

Its arrays cannot be mixed with NumPy's, nor become one without get(), nor (which CuPy would allow) be handed
to NumPy's functions; its own functions, methods and keywords are only those that CuPy has, looked up in CuPy
where that is installed: it needs no GPU for that. So what runs on it keeps its arrays on one device. It says
nothing about speed, and nothing about CuPy's own kernels. Streams, graphs and CUDA kernels: stand_in_cuda.py.
"""

import functools
import inspect
import operator
from types import ModuleType, SimpleNamespace

import numpy as np

try:
    import cupy
except ImportError:  # no wheel for this system
    cupy = None

# These wait, to know how many there are.
SHAPE_FROM_NUMBERS = {"nonzero", "flatnonzero", "argwhere", "unique"}
UFUNC_KEYWORDS = {"out", "dtype", "casting"}
ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
ARITHMETIC += ("and", "or", "xor", "lshift", "rshift")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
UNARY = ("neg", "pos", "abs", "invert")


class DeviceArray:
    """The cupy.ndarray of the code under test.

    waits counts how often the host looked at a number, and launches how often a kernel would have run: for
    every result that is not merely another view of an array.
    """

    waits = 0
    capturing = False  # whether a stream is being captured as a graph
    launches = 0
    __array_ufunc__ = None  # NumPy leaves operators to this class
    __hash__ = None

    def __init__(self, array):
        if array.flags.owndata:
            refuse_while_capturing("memory is allocated, which replays of the graph would share with others")
        self._array = array

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __getattr__(self, name):
        of_host = name.startswith("__array_")  # by which NumPy would get at the numbers
        if of_host or (cupy is not None and not hasattr(cupy.ndarray, name)):
            raise AttributeError(f"cupy.ndarray has no attribute {name!r}")
        found = getattr(self._array, name)
        return _on_device(found) if callable(found) else _to_device(found)

    def __getitem__(self, key):
        host = _to_host(key)
        parts = host if isinstance(host, tuple) else (host,)
        masks = [part for part in parts if isinstance(part, np.ndarray) and part.dtype.kind == "b"]
        DeviceArray.waits += bool(masks)  # how many there are decides the shape
        return _launched(self._array[host], self._array)

    def __setitem__(self, key, value):
        refuse_while_capturing("numbers are written")
        DeviceArray.launches += 1
        self._array[_to_host(key)] = _to_host(value)

    def __len__(self):
        return len(self._array)

    def __iter__(self):
        return map(_to_device, self._array)

    @property
    def data(self):
        """CuPy's MemoryPointer: the address, which is one of main memory here."""
        return SimpleNamespace(ptr=self._array.ctypes.data)

    def set(self, array, stream=None):
        """Copy an array of the host's here; with a stream, without waiting."""
        refuse_while_capturing("an array of the host is copied")
        if array.dtype != self._array.dtype:
            raise TypeError(f"{array.dtype} array cannot be set to {self._array.dtype} array")
        if array.shape != self._array.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self._array.shape}, new shape: {array.shape}")
        if not self._array.flags.c_contiguous:
            raise RuntimeError("Cannot set to non-contiguous array")
        DeviceArray.waits += stream is None
        self._array[...] = array

    def get(self):
        """A copy in main memory."""
        return self._look().copy()

    def item(self, *place):
        """One number."""
        return self._look().item(*place)

    def tolist(self):
        """All numbers."""
        return self._look().tolist()

    def _look(self):
        refuse_while_capturing("the host looks at a number")
        DeviceArray.waits += 1
        return self._array

    def __float__(self):
        return float(self._look())

    def __int__(self):
        return int(self._look())

    def __index__(self):
        return operator.index(self._look())

    def __bool__(self):
        return bool(self._look())


def refuse_while_capturing(what):
    """Raise what CUDA would, or what it would let pass and the replays would not do."""
    if DeviceArray.capturing:
        raise RuntimeError(
            f"cudaErrorStreamCaptureUnsupported: {what} while a stream is captured; the stand-in's graphs "
            "are made of kernels and cuBLAS products alone"
        )


def _to_host(value):
    """The array underneath, for NumPy; a NumPy array has no business here."""
    if isinstance(value, DeviceArray):
        return value._array
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(value, list) and not all(isinstance(part, DeviceArray) for part in value):
        raise TypeError("Unsupported type <class 'list'>")
    return type(value)(map(_to_host, value)) if isinstance(value, tuple | list) else value


def _to_device(value):
    """Arrays, and NumPy's scalars too: CuPy has arrays without axes in their place."""
    if isinstance(value, np.ndarray | np.generic):
        return DeviceArray(np.asarray(value))
    if isinstance(value, tuple) and any(isinstance(part, np.ndarray) for part in value):
        return tuple(map(_to_device, value))
    return value


def _launched(result, *sources):
    """A result on the device, counted unless it is a view of one of the sources."""
    if isinstance(result, np.ndarray | np.generic):
        arrays = [source for source in sources if isinstance(source, np.ndarray)]
        DeviceArray.launches += not any(np.may_share_memory(result, source) for source in arrays)
    return _to_device(result)


def _on_device(function, original=None):
    """A function of NumPy's that takes and gives device arrays; original is CuPy's, whose keywords count."""

    def call(*args, **keywords):
        if original is not None:
            _check_arguments(original, args, keywords)
        keywords = {name: _to_host(value) for name, value in keywords.items()}
        DeviceArray.waits += function.__name__ in SHAPE_FROM_NUMBERS
        out, result = keywords.get("out"), function(*map(_to_host, args), **keywords)
        if result is None or out is not None:
            refuse_while_capturing("numbers are written")
        if out is not None and result is out:
            DeviceArray.launches += 1
            return DeviceArray(out)
        own = getattr(function, "__self__", None)
        return _launched(result, *map(_to_host, args), own)

    return call


def _check_arguments(original, args, keywords):
    if isinstance(original, cupy.ufunc):
        assert keywords.keys() <= UFUNC_KEYWORDS, f"cupy.{original.name} takes no {keywords.keys()}"
        return
    if signature := _signature(original):
        signature.bind(*args, **keywords)


@functools.cache
def _signature(function):
    try:
        return inspect.signature(function)
    except ValueError:  # compiled, without a signature
        return None


def _forwards(plain):
    return lambda self, other: _launched(plain(self._array, _to_host(other)))


def _backwards(plain):
    return lambda self, other: _launched(plain(_to_host(other), self._array))


def _in_place(plain):
    def method(self, other):
        refuse_while_capturing("numbers are written")
        DeviceArray.launches += 1
        plain(self._array, _to_host(other))
        return self

    return method


def _alone(plain):
    return lambda self: _launched(plain(self._array))


for _name in ARITHMETIC:
    _plain = getattr(operator, f"__{_name}__")
    setattr(DeviceArray, f"__{_name}__", _forwards(_plain))
    setattr(DeviceArray, f"__r{_name}__", _backwards(_plain))
    setattr(DeviceArray, f"__i{_name}__", _in_place(getattr(operator, f"__i{_name}__")))
for _name in COMPARISONS:
    setattr(DeviceArray, f"__{_name}__", _forwards(getattr(operator, f"__{_name}__")))
for _name in UNARY:
    setattr(DeviceArray, f"__{_name}__", _alone(getattr(operator, f"__{_name}__")))


class _Module:
    """A module of NumPy's whose functions take and give device arrays; counterpart is CuPy's, or None."""

    def __init__(self, module, counterpart):
        self._module, self._counterpart = module, counterpart

    def __getattr__(self, name):
        found = getattr(self._module, name)
        # where CuPy has no such thing this is an AttributeError, as on a GPU
        original = None if self._counterpart is None else getattr(self._counterpart, name)
        if isinstance(found, ModuleType):
            return _Module(found, original)
        return _on_device(found, original) if callable(found) and not isinstance(found, type) else found


class StandIn(_Module):
    """The module that `import cupy` gives."""

    ndarray = DeviceArray
    cuda = SimpleNamespace(
        runtime=SimpleNamespace(
            CUDARuntimeError=RuntimeError,
            getDeviceCount=lambda: 1,
            deviceSynchronize=lambda: None,
            getDeviceProperties=lambda number: {"name": b"no GPU at all"},
        ),
        Device=lambda: SimpleNamespace(id=0, compute_capability="50"),  # too old for the CUDA engine
    )

    def __init__(self):
        super().__init__(np, cupy)
        self.__name__ = "cupy"

    @staticmethod
    def asarray(array, dtype=None):
        """To the device; what is there already, of this dtype, stays itself."""
        host = array._array if isinstance(array, DeviceArray) else np.array(array)
        converted = np.asarray(host, dtype=dtype)
        return array if isinstance(array, DeviceArray) and converted is host else DeviceArray(converted)

    @staticmethod
    def array(array, dtype=None):
        """To the device, always a copy."""
        return DeviceArray(np.array(array._array if isinstance(array, DeviceArray) else array, dtype=dtype))

    def get_array_module(self, *arrays):
        """This, or NumPy."""
        return self if any(isinstance(array, DeviceArray) for array in arrays) else np
