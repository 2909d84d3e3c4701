"""Compile every CUDA kernel for every generation of cards: NVRTC needs no GPU.

    python -m tests.lab.compiler.compiled_kernels

prints registers, spilled bytes and shared memory of each kernel.
"""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)  # Turing, Ampere (A100, RTX 30), Ada, Hopper, Blackwell
READ = (80, 90)  # whose machine code is read: see test_machine_code.py
KERNELS = ROOT / "tinyvit/engine/cuda/kernels"
ROWS = (  # type, threads, loads and vector of rows of 191, 192, 384 and 768 numbers, block of the backward
    ("float", 32, 6, 1, 384),
    ("__nv_bfloat16", 32, 3, 2, 512),
    ("__nv_bfloat16", 32, 3, 4, 256),
    ("float", 32, 6, 4, 128),
)
VECTORS = (("float", 4), ("__nv_bfloat16", 8))  # the longest, which take most registers
INSTANCES = {
    "attention.cu": [f"attention<{t}, 64>" for t in ("float", "__nv_bfloat16")],
    "attention_backward.cu": [
        f"attention_backward<{t}, 64, {kept}>"
        for t in ("float", "__nv_bfloat16")
        for kept in ("true", "false")
    ],
    "augment.cu": ["augment"],
    "gelu.cu": [
        "bias_gelu<__nv_bfloat16, Tanh, 8>",
        "bias_gelu_backward<float, Tanh, 4>",
        "bias_gelu_backward<__nv_bfloat16, Exact, 8>",
    ],
    "layer_norm.cu": [
        *(f"residual_layer_norm<{t}, {n}, {i}, {v}>" for t, n, i, v, _ in ROWS[1::2]),
        *(f"layer_norm_backward<{t}, {n}, {i}, {v}, {b}>" for t, n, i, v, b in ROWS),
    ],
    "loss.cu": [
        *(f"{kernel}<{t}>" for kernel in ("cross_entropy", "add_bias", "squared_error") for t, _ in VECTORS),
        *("add_losses", "colour_classes"),
    ],
    "muon.cu": ["momentum", *(f"{k}<{t}>" for k in ("normalise", "polynomial", "move") for t, _ in VECTORS)],
    "optimizer.cu": [
        *(f"update<{kind}>" for kind in ("ADAMW", "ADAM", "SGD")),
        *("squared_sums", "clip", "to_bf16"),
    ],
    "patches.cu": [f"{kernel}<{t}, {v}>" for kernel in ("make_patches", "patchify") for t, v in VECTORS],
    "readout.cu": [
        f"{kernel}<{t}, {v}>"
        for kernel in ("mean_pool", "take_rows", "pool_backward", "bias_tanh", "bias_tanh_backward")
        for t, v in VECTORS
    ],
    "rotary.cu": [f"rotate<{t}, {v}, {pairs}>" for t, v in VECTORS for pairs in ("true", "false")],
    "sums.cu": ["add_columns"],
    "tokens.cu": [
        *(f"draw_corruption<{t}>" for t, _ in VECTORS),
        *(f"add_tokens<{t}, {v}>" for t, v in VECTORS),
        *(f"add_tokens_backward<{t}, {v}, {hides}>" for t, v in VECTORS for hides in ("false", "true")),
    ],
}


def missing_package():
    """The package that is needed and not installed; None if all are there."""
    for package in ("cupy", "nvidia.cuda_nvrtc", "nvidia.cuda_runtime"):
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            found = None
        if found is None:
            return package
    return None


def include_folders():
    """The folders in which CuPy lets the compiler look, in its order."""
    import cupy
    import nvidia.cuda_runtime

    own = Path(cupy.__file__).parent / "_core/include"
    runtime = Path(next(iter(nvidia.cuda_runtime.__path__)))
    bundled = [own / "cupy/_cccl" / name for name in ("cub", "thrust", "libcudacxx")]
    return [*bundled, KERNELS, own, runtime / "include"]


def compile_kernel(path, architecture, instances):
    """The machine code, what the compiler said, and the names that the instances have in the code."""
    from cupy.cuda import nvrtc

    program = nvrtc.createProgram(path.read_text("utf-8"), path.name, [], [])
    for instance in instances:
        nvrtc.addNameExpression(program, instance)
    options = [
        f"-arch=sm_{architecture}",
        "-std=c++17",
        "-ftz=true",  # as CuPy has it: numbers below 1e-38 are 0
        "--device-as-default-execution-space",
        "--ptxas-options=-v",
    ]
    options += [f"-I{folder}" for folder in include_folders()]
    try:
        nvrtc.compileProgram(program, options)
    except nvrtc.NVRTCError:
        raise AssertionError(nvrtc.getProgramLog(program)) from None
    names = {instance: nvrtc.getLoweredName(program, instance) for instance in instances}
    return nvrtc.getCUBIN(program), nvrtc.getProgramLog(program), names


def kernels():
    return sorted(KERNELS.glob("*.cu"))


def usage(log):
    """The report of ptxas on each kernel: registers of a thread, bytes that got none (spilled, or of an array
    that a loop indexes), bytes of static shared memory."""
    lines = re.findall(r"Used (\d+) registers.*", log)
    shared = [re.search(r"(\d+) bytes smem", line) for line in re.findall(r"Used \d+ registers.*", log)]
    return {
        "registers": [int(n) for n in lines],
        "spilled": [int(n) for n in re.findall(r"(\d+) bytes stack frame", log)],
        "shared": [int(found[1]) if found else 0 for found in shared],
    }


def compile_all():
    """The usage of each file's kernels for each architecture, and the code of some."""
    results = {}
    for path in kernels():
        for architecture in ARCHITECTURES:
            code, log, names = compile_kernel(path, architecture, INSTANCES[path.name])
            found = usage(log) | {"is_machine_code": code[:4] == b"\x7fELF"}
            print(path.name, f"sm_{architecture}", found, flush=True)
            if architecture in READ:
                found |= {"code": code, "names": names}
            results[f"{path.name} sm_{architecture}"] = found
    return results


if __name__ == "__main__":
    compile_all()
