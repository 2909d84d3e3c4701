"""Products with epilogues: what they compute, what is refused, and that cublasLt.h has the same numbers."""

import ctypes
import importlib.util
import shutil
import subprocess
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests import stand_in_cublas_lt as stand_in
from tests.bfloat16 import from_bf16
from tests.engine.cuda.engine_cases import CASES, draw, trained, worst_gradient
from tests.engine.cuda.run import assert_agrees, rounded, stored
from tests.engine.cuda.test_cuda_engine import TOLERANCE, draw_for
from tests.helpers import distance
from tests.stand_in import StandIn
from tests.stand_in_cuda import FakeCublas, Queue
from tinyvit import ops
from tinyvit.engine import ReferenceEngine
from tinyvit.engine.cuda import cublas_lt
from tinyvit.engine.cuda.cublas import Cublas
from tinyvit.engine.cuda.cublas_lt import SWITCH, FusedProduct, wants_fused_gelu
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.engine.cuda.launch import Buffer, Epilogue, Product
from tinyvit.engine.cuda.plan import Options, plan_step

BF16 = "bfloat16"
R, I, O = 5, 8, 24  # rows, inputs and outputs of a layer


def carry_out(product, given, library=None):
    """What a product writes, by name, of float32 values; all other buffers begin as NaN."""
    ours = Cublas("bf16", StandIn().asarray(np.empty(4 << 20, np.uint8)), library or FakeCublas(Queue()))
    ours.use(0)
    buffers = {buffer.name: buffer for buffer in (*product.reads, *product.writes)}
    memory = {name: aligned(given.get(name, np.full(b.shape, np.nan))) for name, b in buffers.items()}
    FusedProduct(ours, product, {buffers[name]: array.ctypes.data for name, array in memory.items()})()
    return {buffer.name: from_bf16(memory[buffer.name]) for buffer in product.writes}


def aligned(values):
    """The values as bfloat16, at an address that 256 divides, as a card's memory has."""
    values = stored(np.asarray(values, np.float32), BF16)
    room = np.empty(values.size + 128, np.uint16)
    start = -room.ctypes.data % 256 // 2
    room[start : start + values.size] = values.ravel()
    return room[start : start + values.size].reshape(values.shape)


def buffers(**shapes):
    return [Buffer(name, shape, BF16) for name, shape in shapes.items()]


def values(**shapes):
    rng = np.random.default_rng(1)
    return {name: rounded(rng.normal(size=shape), BF16) for name, shape in shapes.items()}


@pytest.mark.parametrize("kind", ["GELU_AUX_BIAS", "GELU_BIAS"])
def test_bias_and_gelu_follow_the_product_and_their_input_may_be_kept(kind):
    shapes = {"x": (R, I), "W": (I, O), "g": (R, O), "bias": (O,), "h": (R, O)}
    x, W, g, bias, h = buffers(**shapes)
    given = values(x=(R, I), W=(I, O), bias=(O,))
    product = Product(x, W, g, epilogue=Epilogue(kind, bias, h if "AUX" in kind else None))
    found = carry_out(product, given)
    right = given["x"] @ given["W"] + given["bias"]
    assert_agrees(found.pop("g"), ops.gelu(right, "tanh")[0], BF16)
    for kept in found.values():
        assert_agrees(kept, right, BF16)
    assert set(found) == ({"h"} if "AUX" in kind else set())


def test_the_slope_of_gelu_and_the_gradient_of_the_bias_follow_the_product():
    dm, W, dh, dbias, h = buffers(dm=(R, I), W=(O, I), dh=(R, O), dbias=(O,), h=(R, O))
    given = values(dm=(R, I), W=(O, I), h=(R, O))
    found = carry_out(Product(dm, W, dh, transpose_b=True, epilogue=Epilogue("DGELU_BGRAD", dbias, h)), given)
    right = ops.gelu_backward(given["dm"] @ given["W"].T, ops.gelu(given["h"], "tanh")[1])
    assert_agrees(found["dh"], right, BF16)
    assert_agrees(found["dbias"], right.sum(axis=0), BF16)


def test_an_epilogue_counts_its_bytes_and_must_fit_the_product():
    x, W, y, bias, h = buffers(x=(R, I), W=(I, O), y=(R, O), bias=(O,), h=(R, O))
    plain, fused = Product(x, W, y), Product(x, W, y, epilogue=Epilogue("GELU_AUX_BIAS", bias, h))
    assert fused.bytes_moved == plain.bytes_moved + 2 * O + 2 * R * O
    for wrong in (Epilogue("GELU_BIAS", h), Epilogue("GELU_AUX_BIAS", bias, x)):
        with pytest.raises(ValueError, match="does not go with a product"):
            Product(x, W, y, epilogue=wrong)
    with pytest.raises(ValueError, match="does not go with a product"):
        Product(x, W, y, accumulate=True, epilogue=Epilogue("GELU_BIAS", bias))


def test_descriptors_are_given_back():
    library, shapes = FakeCublas(Queue()), {"x": (R, I), "W": (I, O), "y": (R, O), "bias": (O,)}
    x, W, y, bias = buffers(**shapes)
    carry_out(Product(x, W, y, epilogue=Epilogue("GELU_BIAS", bias)), values(**shapes), library)
    assert not library.descriptors


def test_products_have_epilogues_where_one_asks_for_them(monkeypatch):
    monkeypatch.delenv(SWITCH, raising=False)
    assert not wants_fused_gelu()
    monkeypatch.setenv(SWITCH, "1")
    assert wants_fused_gelu()


def kinds_of(engine):
    """The epilogues of the latest plan, with how often each is there."""
    return Counter(step.epilogue.kind for step in engine.latest.plan.steps if getattr(step, "epilogue", None))


@pytest.mark.parametrize("precision", ["bf16", "fp32"])
def test_loss_and_gradients_with_epilogues_are_those_of_the_reference(cuda, monkeypatch, precision):
    config, xp = CASES["plain"], cuda.xp
    params, images, labels, _ = draw_for(precision, config)
    monkeypatch.setenv(SWITCH, "1")
    engine = CudaEngine(config, params.to(xp), precision=precision)
    reference = ReferenceEngine(config, params.astype("float64"))
    for fresh in (True, False):
        right = reference.loss_and_grads(images.astype("float64"), labels, fresh=fresh)
        loss = engine.loss_and_grads(xp.asarray(images), xp.asarray(labels), fresh=fresh)
        assert abs(float(loss) - right) < TOLERANCE[precision] * right
        worst, name = worst_gradient(engine.grads.to(np), reference.grads)
        assert worst < TOLERANCE[precision], name

    assert kinds_of(engine) == Counter(GELU_AUX_BIAS=config.layers, DGELU_BGRAD=config.layers)
    logits = engine.logits(xp.asarray(images)).get()
    assert distance(logits, reference.logits(images.astype("float64"))) < TOLERANCE[precision]
    assert kinds_of(engine) == Counter(GELU_BIAS=config.layers)
    assert engine.note == ""


@pytest.mark.parametrize("change", [{"gelu": "exact"}, {"dropout": 0.1}, {"mlp_width": 36}], ids=str)
def test_another_gelu_dropout_and_rows_of_an_odd_length_keep_the_kernels(change):
    def kinds(config):
        plan = plan_step(config, 4, Options("bf16", noise=True, fuses_gelu=True))
        return {step.epilogue.kind for step in plan.steps if getattr(step, "epilogue", None)}

    assert kinds(CASES["plain"]) == {"GELU_AUX_BIAS", "DGELU_BGRAD"}
    assert kinds(replace(CASES["plain"], **change)) == set()


def test_replayed_graphs_have_the_products_in_them(cuda, monkeypatch):
    config, results = CASES["plain"], []
    monkeypatch.setenv(SWITCH, "1")
    for graphs in (True, False):
        make = partial(CudaEngine, precision="bf16", graphs=graphs)
        losses, weights, _ = trained(make, config, draw(config)[0].to(cuda.xp), cuda.xp)
        results.append(losses.tobytes() + weights.tobytes())
    assert results[0] == results[1]


REFUSALS = {
    "cublasLtMatmulAlgoGetHeuristic": lambda *_: 15,
    "cublasLtMatmul": lambda *_: 15,
    "cublasLtMatmulDescCreate": None,  # as in a library that has no such function
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_cublas_refuses_is_done_by_kernels_and_said_once(cuda, monkeypatch, name):
    config, make, engines = CASES["plain"], partial(CudaEngine, precision="bf16"), []

    def kept(*args, **keywords):
        engines.append(make(*args, **keywords))
        return engines[-1]

    params = draw(config)[0]
    right, weights, _ = trained(make, config, params.to(cuda.xp), cuda.xp, accumulate=2)
    monkeypatch.setenv(SWITCH, "1")
    library = FakeCublas(cuda.xp.queue)
    setattr(library, name, REFUSALS[name])
    monkeypatch.setattr("tinyvit.engine.cuda.cublas.load_library", lambda: library)
    found, ours, _ = trained(kept, config, params.to(cuda.xp), cuda.xp, accumulate=2)
    assert found.tobytes() == right.tobytes() and ours.tobytes() == weights.tobytes()
    note = engines[0].note
    assert note.startswith("GELU is not fused with the products beside it: ") and name in note
    assert "\n" not in note


# What these headers include of others that come with the compiler alone: words for it, and two types.
WITHOUT_NVCC = ("#define __CUDA_FP16_H__", "#define __CUDA_BF16_H__", "struct __half; struct __nv_bfloat16;")
WORDS = ("__host__", "__device__", "__device_builtin__", "__align__(n)", "__builtin_align__(n)", "CUDARTAPI")

ENTRY_POINTS = """
using Status = cublasStatus_t;
using Handle = cublasLtHandle_t;
using How = cublasLtMatmulDesc_t;
using Layout = cublasLtMatrixLayout_t;
using Wish = cublasLtMatmulPreference_t;
using Found = cublasLtMatmulHeuristicResult_t;
using In = const void*;
Status (*create_matmul)(How*, cublasComputeType_t, cudaDataType_t) = cublasLtMatmulDescCreate;
Status (*set_matmul)(How, cublasLtMatmulDescAttributes_t, In, size_t) = cublasLtMatmulDescSetAttribute;
Status (*create_layout)(Layout*, cudaDataType, uint64_t, uint64_t, int64_t) = cublasLtMatrixLayoutCreate;
Status (*create_wish)(Wish*) = cublasLtMatmulPreferenceCreate;
Status (*set_wish)(Wish, cublasLtMatmulPreferenceAttributes_t, In, size_t)
    = cublasLtMatmulPreferenceSetAttribute;
Status (*destroy_matmul)(How) = cublasLtMatmulDescDestroy;
Status (*destroy_layout)(Layout) = cublasLtMatrixLayoutDestroy;
Status (*destroy_wish)(Wish) = cublasLtMatmulPreferenceDestroy;
Status (*choose)(Handle, How, Layout, Layout, Layout, Layout, Wish, int, Found*, int*)
    = cublasLtMatmulAlgoGetHeuristic;
Status (*multiply)(Handle, How, In, In, Layout, In, Layout, In, In, Layout, void*, Layout,
    const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t) = cublasLtMatmul;
static_assert(sizeof(cudaDataType_t) == 4 && sizeof(cublasComputeType_t) == 4 && sizeof(Status) == 4);
static_assert(sizeof(cublasLtMatmulAlgo_t) == 64 && offsetof(Found, algo) == 0);
"""


def folder_with(name, file):
    """The folder of a file of NVIDIA's package of this name, of CUDA 12 or 13; skips the test without it."""
    for package in (f"nvidia.{name}", "nvidia.cu13"):
        with suppress(ModuleNotFoundError, AttributeError):
            for folder in importlib.util.find_spec(package).submodule_search_locations:
                if found := next(Path(folder).glob(file), None):
                    return found.parent
    pytest.skip("needs pip install nvidia-cublas-cu12 nvidia-cuda-runtime-cu12")


def test_the_library_itself_keeps_what_descriptors_are_told():
    """They need no GPU; and libcublas gives the functions of libcublasLt, which it needs, as its own."""
    folder = folder_with("cublas", "lib/libcublas.so.*")
    library = ctypes.CDLL(next(folder.glob("libcublas.so.*")))
    made = cublas_lt._Descriptor(library, "MatmulDesc", ctypes.c_int(68), ctypes.c_int(0))
    wanted = {name: 16 * (1 + i) for i, name in enumerate(cublas_lt.DESCRIPTION)}
    wanted |= {"TRANSA": 1, "TRANSB": 0, "EPILOGUE": cublas_lt.EPILOGUES["DGELU_BGRAD"]}
    made.set(cublas_lt.DESCRIPTION, wanted)
    wish = cublas_lt._Descriptor(library, "MatmulPreference")
    wishes = {name: 16 * (1 + i) for i, name in enumerate(cublas_lt.PREFERENCE)} | {
        "REDUCTION_SCHEME_MASK": 0
    }
    wish.set(cublas_lt.PREFERENCE, wishes)
    for descriptor, table, told in (
        (made, cublas_lt.DESCRIPTION, wanted),
        (wish, cublas_lt.PREFERENCE, wishes),
    ):
        for name, (number, kind) in table.items():
            value, size = kind(), ctypes.c_size_t()
            get = getattr(library, f"cublasLt{descriptor._kind}GetAttribute")
            given = ctypes.byref(value), ctypes.c_size_t(ctypes.sizeof(kind)), ctypes.byref(size)
            assert get(descriptor.pointer, number, *given) == 0
            assert (value.value, size.value) == (told[name], ctypes.sizeof(kind)), name


def test_numbers_sizes_and_arguments_are_those_of_the_header(tmp_path):
    lines = [*WITHOUT_NVCC, "#include <cstddef>", "#include <cublasLt.h>", ENTRY_POINTS]
    expected = {f"CUBLASLT_EPILOGUE_{name}": number for name, number in cublas_lt.EPILOGUES.items()}
    for prefix, table in (("MATMUL_DESC", cublas_lt.DESCRIPTION), ("MATMUL_PREF", cublas_lt.PREFERENCE)):
        expected |= {f"CUBLASLT_{prefix}_{name}": number for name, (number, _) in table.items()}
    expected |= {
        "CUBLASLT_REDUCTION_SCHEME_NONE": cublas_lt.UNDIVIDED,
        "CUDA_R_32F": 0,
        "CUDA_R_16BF": 14,
        "CUBLAS_COMPUTE_32F": 68,
        "CUBLAS_OP_N": 0,
        "CUBLAS_OP_T": 1,
        "sizeof(cublasLtMatmulHeuristicResult_t)": ctypes.sizeof(cublas_lt.Heuristic),
        "offsetof(cublasLtMatmulHeuristicResult_t, state)": cublas_lt.Heuristic.state.offset,
        "offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize)": cublas_lt.Heuristic.workspace.offset,
    }
    lines += [f"static_assert({name} == {number});" for name, number in expected.items()]
    (tmp_path / "header.cpp").write_text("\n".join(lines), "utf-8")
    (tmp_path / "crt").mkdir()
    (tmp_path / "crt/host_defines.h").write_text("".join(f"#define {word}\n" for word in WORDS), "utf-8")
    headers = {"cublas": "include/cublasLt.h", "cuda_runtime": "include/driver_types.h"}
    folders = [f"-I{folder_with(name, header)}" for name, header in headers.items()]
    if not (compiler := shutil.which("g++")):
        pytest.skip("needs g++")
    done = subprocess.run(
        [compiler, "-std=c++17", "-fsyntax-only", f"-I{tmp_path}", *folders, tmp_path / "header.cpp"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_the_stand_in_has_the_numbers_of_tinyvit():
    assert {name: number for number, name in stand_in.EPILOGUES.items()} == cublas_lt.EPILOGUES
    assert ctypes.sizeof(cublas_lt.Heuristic) == stand_in.HEURISTIC.size
    for kind, table in (("MatmulDesc", cublas_lt.DESCRIPTION), ("MatmulPreference", cublas_lt.PREFERENCE)):
        theirs = {name: number for number, (name, _) in stand_in.ATTRIBUTES[kind].items()}
        assert theirs == {name: number for name, (number, _) in table.items()}
