"""The memory that plans are carried out in: arrays that stay, and one block for all others."""

from types import ModuleType

from tinyvit.backend import Array
from tinyvit.engine.cuda.launch import Buffer
from tinyvit.engine.cuda.workspace import Workspace

NUMPY_NAMES = {"bfloat16": "uint16"}  # NumPy has no bfloat16: its bits are handed on


class Memory:
    """Arrays by name, and the block for the workspaces of all plans, which are used one at a time.

    version changes whenever an array moves: whoever remembers addresses must then ask again.
    """

    def __init__(self, xp: ModuleType):
        self.xp, self.version = xp, 0
        self._kept: dict[str, Array] = {}
        self._block = xp.empty(0, dtype="uint8")

    def keep(self, name: str, array: Array) -> None:
        """Have this array, of adjacent numbers, serve under a name."""
        if array is not self._kept.get(name):
            self._kept[name] = array
            self.version += 1

    def reserve(self, workspace: Workspace) -> None:
        """Make the block large enough."""
        if self._block.nbytes < workspace.size:
            self.version += 1
            self._block = self.xp.empty(0, dtype="uint8")  # given back before the larger one is taken
            self._block = self.xp.empty(workspace.size, dtype="uint8")

    def room(self, buffer: Buffer) -> Array:
        """An array that stays, of the shape of this buffer; other shapes of that name share its memory."""
        held = self._kept.get(buffer.name)
        dtype = NUMPY_NAMES.get(buffer.dtype, buffer.dtype)
        if held is None or held.size < buffer.size or held.dtype != dtype:
            self.keep(buffer.name, self.xp.empty(buffer.size, dtype=dtype))
        return self._kept[buffer.name].reshape(-1)[: buffer.size].reshape(buffer.shape)

    def array(self, buffer: Buffer, workspace: Workspace) -> Array:
        """The part of memory that a buffer stands for."""
        if buffer.name in self._kept:
            flat = self._kept[buffer.name].reshape(-1)
        else:
            place = workspace.places[buffer.name]
            flat = self._block[place.start : place.stop].view(NUMPY_NAMES.get(buffer.dtype, buffer.dtype))
        return flat[buffer.start : buffer.start + buffer.size].reshape(buffer.shape)
