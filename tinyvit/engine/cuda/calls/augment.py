"""The launch of kernels/augment.cu, which augments the images of a batch, and the table that it reads."""

import numpy as np

from tinyvit.data.augment import NAMES
from tinyvit.data.operations import MOVES, whole_numbers
from tinyvit.engine.cuda.calls.signature import launch
from tinyvit.engine.cuda.launch import Buffer, Launch

ROWS = 7  # of the table of operations: OPERATION_ROWS of the kernel
KINDS = (
    *("identity", "move", "colour", "sharpness", "brightness", "contrast"),
    *("posterize", "solarize", "autocontrast", "equalize"),
)  # in the order of the kernel
TONES_BYTES = 3844  # of shared memory: sizeof(Tones) of the kernel
_THREADS = 512  # in a block: two pixels of 32 x 32 for each

_ALIASES = dict.fromkeys(MOVES, "move") | {"invert": "solarize"}  # inverting is solarising from 0 on
_KIND = np.array([KINDS.index(_ALIASES.get(name, name)) for name in NAMES], np.int32)  # by place in NAMES
_MOVE, _POSTERIZE = KINDS.index("move"), NAMES.index("posterize")
_INVERT = NAMES.index("invert")
_NAMES = np.array(NAMES)


def augment(images: Buffer, plan: Buffer, operations: Buffer, augmented: Buffer) -> Launch:
    """The images that a plan chooses, cropped, mirrored, and after their operations.

    images uint8 (n, H, W, 3), the data set; plan int32 (4, S), as in make_patches; operations int32
    (rounds, 7, S), see operation_tables; augmented uint8 (S, H, W, 3). fits must say that a block has room.
    """
    _, H, W, _ = images.shape
    S = plan.shape[1]
    return launch(
        "augment",
        S,
        (images, plan, operations, augmented, operations.shape[0], H, W),
        _THREADS,
        shared_bytes=shared_bytes(H, W),
        moved=2 * augmented.nbytes + plan.nbytes + operations.nbytes,  # not the whole data set
    )


def shared_bytes(height: int, width: int) -> int:
    """Shared memory of a block: two images, and tables."""
    return TONES_BYTES + 2 * height * width * 3


def fits(height: int, width: int, shared_limit: int) -> bool:
    """True if a card that allows a block this many bytes of shared memory can augment such images."""
    return shared_bytes(height, width) <= shared_limit


def operation_tables(operations: np.ndarray, height: int, width: int) -> np.ndarray:
    """The operations (S, rounds) as the kernel reads them: int32 (rounds, 7, S).

    The first row is the place in KINDS. The others are, for moves, the six of operations.whole_numbers; of
    posterize the next one says how many bits it takes away, and of all others it has the amount's bits as a
    float32, which is how the reference takes it.
    """
    named, amounts = operations["kind"].T, operations["amount"].T  # (rounds, S)
    kinds = _KIND[named]
    single = np.where(named == _INVERT, 0, amounts).astype(np.float32)
    tables = np.zeros((*kinds.shape[:1], ROWS, *kinds.shape[1:]), np.int32)
    tables[:, 0] = kinds
    tables[:, 1] = np.where(named == _POSTERIZE, 8 - single.round().astype(np.int32), single.view(np.int32))
    at_round, image = np.nonzero(kinds == _MOVE)
    if len(image):
        numbers = whole_numbers(_NAMES[named[at_round, image]], amounts[at_round, image], height, width)
        tables[at_round, 1:, image] = numbers.reshape(6, -1).T
    return tables
