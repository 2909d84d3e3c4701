"""The loads of a kernel are issued before the first of them is waited for: read in its machine code.

What this is worth in time is for a GPU to say.
"""

import pytest

from tests.lab.compiler.compiled_kernels import READ, missing_package
from tests.lab.compiler.machine_code import assembly, disassembler, trips

pytestmark = pytest.mark.skipif(
    missing_package() is not None or disassembler() is None,
    reason="reading machine code needs NVRTC and nvdisasm: pip install cupy-cuda12x nvidia-cuda-nvrtc-cu12 "
    "nvidia-cuda-runtime-cu12 nvidia-cuda-nvdisasm",
)
BF16 = "__nv_bfloat16"

# The least number of loads in each trip to memory, of those trips that have loads of 8 or 16 bytes: others
# are for a bias or the key of a mask. Attention's have 4 vectors of each strip and 8 numbers of each bias.
TRIPS = {
    f"layer_norm.cu residual_layer_norm<{BF16}, 32, 3, 2>": (9, 4, 2),  # x, branch, its bias; gain and offset
    "layer_norm.cu residual_layer_norm<float, 32, 6, 4>": (18, 10, 2),
    f"layer_norm.cu layer_norm_backward<{BF16}, 32, 3, 2, 512>": (14,),  # dy, x, skip, gain, mean, r
    f"layer_norm.cu layer_norm_backward<{BF16}, 32, 3, 4, 256>": (14,),
    "layer_norm.cu layer_norm_backward<float, 32, 6, 4, 128>": (26,),
    f"attention.cu attention<{BF16}, 64>": (36, 12),  # q, k, v; q, where there are more strips than warps
    f"attention_backward.cu attention_backward<{BF16}, 64, true>": (24, 21),  # k, v; log_sum, q, dO, o
    # The same, and again k and v; q and dO.
    f"attention_backward.cu attention_backward<{BF16}, 64, false>": (24, 21, 24, 24, 16),
    f"gelu.cu bias_gelu<{BF16}, Tanh, 8>": (2,),  # two rows
    f"gelu.cu bias_gelu_backward<{BF16}, Exact, 8>": (2,),  # dg and h
    "gelu.cu bias_gelu_backward<float, Tanh, 4>": (2,),
    "optimizer.cu update<ADAMW>": (4,),  # w, g, m, v
    "optimizer.cu squared_sums": (4,),
    f"readout.cu mean_pool<{BF16}, 8>": (4,),
    f"rotary.cu rotate<{BF16}, 8, true>": (10,),  # the bias, two vectors, cosines and sines
    f"rotary.cu rotate<{BF16}, 8, false>": (10,),
    f"tokens.cu add_tokens_backward<{BF16}, 8, false>": (2,),
    f"tokens.cu add_tokens_backward<{BF16}, 8, true>": (2,),
}
# For sm_80, the compiler puts a use before the last loads.
TRIPS_80 = TRIPS | {f"attention.cu attention<{BF16}, 64>": (23, 13, 12)}

# The number of loads in the last trip, of kernels that load single numbers.
LAST_TRIP = {
    f"patches.cu make_patches<{BF16}, 8>": 8,  # the bytes of the next image; its own come in the trip before
    f"loss.cu cross_entropy<{BF16}>": 9,  # a column: eight rows and the bias
    "muon.cu momentum": 3,  # w, g, m
}


def instructions(compiled, kernel, architecture):
    file, _, instance = kernel.partition(" ")
    found = compiled[f"{file} sm_{architecture}"]
    return assembly(found["code"], found["names"][instance])


@pytest.mark.parametrize("architecture", READ)
@pytest.mark.parametrize("kernel", TRIPS)
def test_loads_are_under_way_together(compiled, kernel, architecture):
    found = [len(loads) for loads in trips(instructions(compiled, kernel, architecture)) if max(loads) > 32]
    expected = (TRIPS_80 if architecture == 80 else TRIPS)[kernel]
    assert len(found) == len(expected), found
    assert all(map(int.__ge__, found, expected)), found


@pytest.mark.parametrize("architecture", READ)
@pytest.mark.parametrize("kernel", LAST_TRIP)
def test_single_numbers_are_under_way_together(compiled, kernel, architecture):
    found = trips(instructions(compiled, kernel, architecture))
    assert len(found[-1]) == LAST_TRIP[kernel], found


@pytest.mark.parametrize("architecture", READ)
def test_four_numbers_of_bfloat16_are_written_at_once(compiled, architecture):
    """A quad of lanes then writes 32 bytes of a row, the least that memory moves."""
    code = instructions(compiled, f"attention_backward.cu attention_backward<{BF16}, 64, true>", architecture)
    stores = [operation for operation, _ in code if operation.startswith("STG")]
    assert sum(".64" in store for store in stores) == 3 * 4 * 2  # dq, dk and dv; tiles; rows of a lane


def test_a_load_is_waited_for_by_the_first_that_needs_it():
    code = [
        ("LDG.E.64", "R4, desc[UR4][R2.64]"),
        ("LDG.E", "R6, desc[UR4][R2.64+0x8]"),
        ("IADD3", "R2, R2, 0x10, RZ"),
        ("FADD", "R7, R5, 1"),  # the second half of the first load
        ("LDG.E.128.CONSTANT", "R8, desc[UR4][R4.64]"),
        ("STG.E.128", "desc[UR4][R2.64], R8"),
    ]
    assert trips(code) == [[64, 32], [128]]
