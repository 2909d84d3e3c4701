"""Kernels on a real GPU, for tests of kernels on the CPU: NumPy arrays in, NumPy arrays out."""

import sys

import numpy as np

from tinyvit.engine.cuda.program import NULL


class RawModule:
    """A counterpart of cuda_on_cpu.RawModule for tests, made of CuPy's."""

    def __init__(self, *, code, options, name_expressions, path=None):
        cupy = sys.modules["cupy"]
        self._module = cupy.RawModule(code=code, options=options, name_expressions=name_expressions)

    def get_function(self, name):
        return Kernel(self._module.get_function(name))


class Kernel:
    """A kernel that is given copies of all arrays, and whose results are copied back."""

    def __init__(self, kernel):
        self.__dict__["_kernel"] = kernel

    def __getattr__(self, name):
        return getattr(self._kernel, name)

    def __setattr__(self, name, value):
        setattr(self._kernel, name, value)

    def __call__(self, grid, block, args, *, shared_mem=0):
        owners = {id(owner(a)): owner(a) for a in args if isinstance(a, np.ndarray)}
        copies = {key: sys.modules["cupy"].asarray(array) for key, array in owners.items()}

        def there(argument):
            if isinstance(argument, np.ndarray):
                return part(copies[id(owner(argument))], owner(argument), argument)
            return NULL if argument is None else argument

        self._kernel(grid, block, tuple(map(there, args)), shared_mem=shared_mem)
        for key, array in owners.items():
            array[...] = copies[key].get()


def owner(array):
    """The whole array that this one is a part of: parts of the same one must stay so on the GPU."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def part(copy, whole, array):
    """The part of a copy that `array` is of the whole."""
    start = (array.ctypes.data - whole.ctypes.data) // array.itemsize
    return copy.reshape(-1)[start : start + array.size]
