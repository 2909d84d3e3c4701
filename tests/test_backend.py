import ast
import importlib
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tinyvit
from tinyvit.backend import array_module, select_device, to_numpy, training_note
from tinyvit.data.augment import crop_and_flip, draw_augmentation, normalise

PACKAGE = Path(tinyvit.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))


class CUDARuntimeError(RuntimeError):
    """As CuPy's."""


def fake_cupy(devices=1, ones=np.ones, driver=12080, needed=12090):
    """As much of CuPy as select_device asks for; an exception in place of a value is raised."""

    def count():
        if isinstance(devices, Exception):
            raise devices
        return devices

    def first_kernel(*args, **kwargs):
        if isinstance(ones, Exception):
            raise ones
        return ones(*args, **kwargs)

    runtime = SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        getDeviceCount=count,
        driverGetVersion=lambda: driver,
        runtimeGetVersion=lambda: needed,
        deviceSynchronize=lambda: None,
        getDeviceProperties=lambda number: {"name": b"Fake GPU 3000"},
    )
    return SimpleNamespace(
        ones=first_kernel,
        cuda=SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(id=0)),
        get_array_module=lambda *arrays: np,
    )


# What CUDA and CuPy say, word for word.
TOO_OLD = CUDARuntimeError(
    "cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version"
)
NO_DEVICE = CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
NOT_READY = CUDARuntimeError("cudaErrorSystemNotReady: system not yet initialized")
OUT_OF_MEMORY = CUDARuntimeError("cudaErrorMemoryAllocation: out of memory")
PTX = RuntimeError("CUDA_ERROR_UNSUPPORTED_PTX_VERSION: the provided PTX was compiled ...")
NO_NVRTC = RuntimeError('Failure finding "libnvrtc.so": No such file: libnvrtc.so*\nSearched in: ...')
NO_HEADERS = RuntimeError(
    "Failed to find CUDA headers. Please install CUDA toolkit headers (e.g., pip install cupy-cuda12x[ctk]) "
    "or specify CUDA_PATH environment variable."
)
NO_ROOT = RuntimeError(
    "Failed to auto-detect CUDA root directory. Please specify `CUDA_PATH` environment variable if you are "
    "using CUDA versions not yet supported by CuPy."
)
NO_CUBLAS = ImportError("libcublas.so.12: cannot open shared object file")
NEW_GPU = RuntimeError("nvrtc: error: invalid value for --gpu-architecture (-arch)")
INSTALL_CUDA = 'run pip install --upgrade "cupy-cuda12x[ctk]"'  # CuPy 13 has no ctk

UNUSABLE = {
    "not installed": (None, "CuPy is not installed", "run pip install cupy-cuda12x"),
    "no driver": (fake_cupy(TOO_OLD, driver=0), "there is no NVIDIA driver", "install one from nvidia.com"),
    "an old driver": (
        fake_cupy(TOO_OLD, driver=11040),
        "the NVIDIA driver is too old: it supports CUDA 11.4, but CuPy needs 12.9",
        "update it from nvidia.com/drivers",
    ),
    "a driver too old for the compiler": (
        fake_cupy(1, PTX, driver=12020),
        "the NVIDIA driver is too old: it supports CUDA 12.2, but CuPy needs 12.9",
        "update it from nvidia.com/drivers",
    ),
    "no device": (fake_cupy(NO_DEVICE), "the NVIDIA driver finds no GPU", "check that nvidia-smi lists one"),
    "no GPU": (fake_cupy(0), "the NVIDIA driver finds no GPU", "check that nvidia-smi lists one"),
    "a driver in trouble": (fake_cupy(NOT_READY), "refuses to work (cudaErrorSystemNotReady", "nvidia-smi"),
    "no NVRTC": (fake_cupy(1, NO_NVRTC), "libnvrtc.so", INSTALL_CUDA),
    "no headers": (fake_cupy(1, NO_HEADERS), "header files are missing", INSTALL_CUDA),
    "no headers for CuPy 13": (fake_cupy(1, NO_ROOT), "header files are missing", INSTALL_CUDA),
    "no cuBLAS": (fake_cupy(1, NO_CUBLAS), "libcublas.so.12", INSTALL_CUDA),
    "a full GPU": (fake_cupy(1, OUT_OF_MEMORY), "refuses to work (cudaErrorMemoryAllocation", "nvidia-smi"),
    "a GPU too new": (fake_cupy(1, NEW_GPU), "does not work (nvrtc: error", "pip install --force-reinstall"),
    "an error without words": (fake_cupy(1, RuntimeError()), "does not work (RuntimeError)", "pip install"),
}


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """A machine of which nothing is known: no CuPy package is installed, unless a test adds its name here."""
    names = []
    found = lambda: [SimpleNamespace(metadata={"Name": name}) for name in names]
    monkeypatch.setattr("tinyvit.backend.metadata.distributions", found)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return names


every_lack = pytest.mark.parametrize("cupy, missing, remedy", UNUSABLE.values(), ids=UNUSABLE)


@every_lack
def test_asking_for_a_gpu_that_cannot_be_used_says_in_one_line_what_to_do(monkeypatch, cupy, missing, remedy):
    monkeypatch.setitem(sys.modules, "cupy", cupy)  # None makes `import cupy` fail
    device = select_device("gpu")
    assert device.xp is np and not device.is_gpu and device.label == "NumPy"
    assert device.note.startswith("no GPU can be used: ") and device.note.endswith(". NumPy is used instead.")
    assert missing in device.note and remedy in device.note and "\n" not in device.note


@every_lack
def test_auto_uses_the_cpu_silently(monkeypatch, cupy, missing, remedy):
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    device = select_device("auto")
    assert (device.xp, device.note) == (np, "")


@pytest.mark.parametrize("visible", ["", "-1", "7"])
@pytest.mark.parametrize("devices", [NO_DEVICE, 0])
def test_a_gpu_hidden_by_the_environment_is_not_called_missing(monkeypatch, visible, devices):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(devices))
    note = select_device("gpu").note
    assert f"CUDA_VISIBLE_DEVICES={visible!r} leaves no GPU visible; unset it, or set it" in note


@pytest.mark.parametrize("driver", [0, 11040])
def test_the_environment_is_not_blamed_for_what_the_driver_lacks(monkeypatch, driver):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(TOO_OLD, driver=driver))
    assert "CUDA_VISIBLE_DEVICES" not in select_device("gpu").note


def test_a_driver_too_old_for_the_newest_cupy_alone_has_another_remedy(monkeypatch, installed):
    installed.append("cupy-cuda13x")
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(TOO_OLD, driver=12040, needed=13000))
    note = select_device("gpu").note
    assert "it supports CUDA 12.4, but CuPy needs 13.0; update it from nvidia.com/drivers, or run " in note
    assert "pip uninstall cupy-cuda13x, then pip install cupy-cuda12x" in note


def broken_cupy(monkeypatch, folder, text):
    """A package called cupy, with this text, in the place of the real one."""
    (folder / "cupy").mkdir()
    (folder / "cupy" / "__init__.py").write_text(text)
    monkeypatch.setitem(sys.modules, "cupy", None)  # so that it is forgotten afterwards
    for name in [name for name in sys.modules if name.split(".")[0] == "cupy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(folder)


AS_CUPY_SAYS_IT = """
try:
    raise ImportError("libcudart.so.12: cannot open shared object file")
except ImportError as exc:
    raise ImportError("\\n=====\\nFailed to import CuPy.\\n\\nOriginal error: ...\\n=====") from exc
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import fastrlock_that_is_not_there", "No module named 'fastrlock_that_is_not_there'"),
        ("raise ImportError('numpy.core.multiarray failed to import')", "numpy.core.multiarray failed"),
        ("raise AttributeError('np.float_ was removed')", "np.float_ was removed"),
        (AS_CUPY_SAYS_IT, "libcudart.so.12: cannot open"),
        ("", "no attribute 'cuda'"),
    ],
)
@pytest.mark.parametrize("package", ["cupy-cuda12x", "cupy-cuda13x"])
def test_a_broken_cupy_is_not_called_missing(monkeypatch, tmp_path, installed, text, reason, package):
    broken_cupy(monkeypatch, tmp_path, text)
    installed += ["numpy", "cupy-xarray", package]
    note = select_device("gpu").note
    assert f"CuPy is installed but does not work ({'module ' if not text else ''}" in note and reason in note
    assert f"run pip install --force-reinstall {package}." in note and "\n" not in note


def test_two_cupy_packages_are_named(monkeypatch, tmp_path, installed):
    installed += ["numpy", "CuPy_CUDA11x", "cupy-cuda12x"]
    for text in ("raise ImportError('undefined symbol')", None):
        if text:
            broken_cupy(monkeypatch, tmp_path, text)
        else:  # after one of two has been uninstalled
            monkeypatch.setitem(sys.modules, "cupy", None)
        note = select_device("gpu").note
        assert "2 CuPy packages are installed (cupy-cuda11x, cupy-cuda12x) and conflict" in note
        assert "run pip uninstall cupy-cuda11x cupy-cuda12x, then pip install cupy-cuda12x." in note


def test_a_package_without_its_module_is_broken_not_missing(monkeypatch, installed):
    monkeypatch.setitem(sys.modules, "cupy", None)
    installed.append("cupy-cuda13x")
    assert "does not work" in select_device("gpu").note
    assert "pip install --force-reinstall cupy-cuda13x" in select_device("gpu").note


def test_two_working_cupy_packages_are_accepted(monkeypatch, installed):
    installed += ["cupy-cuda11x", "cupy-cuda12x"]
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    assert select_device("gpu").is_gpu


def test_training_that_falls_back_says_which_recipe_it_follows(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    device = select_device("gpu")
    note = training_note(device, "vit-micro/4", "22 epochs")
    assert note == f"{device.note} This run follows the CPU recipe: vit-micro/4, 22 epochs."
    assert training_note(select_device("auto"), "vit-micro/4", "22 epochs") == ""


@pytest.mark.parametrize("wanted", ["auto", "gpu"])
def test_a_usable_gpu_is_taken_and_named(monkeypatch, wanted):
    cupy = fake_cupy()
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    device = select_device(wanted)
    assert device.is_gpu and device.xp is cupy
    assert (device.label, device.note) == ("CuPy on Fake GPU 3000", "")


def test_the_cpu_is_taken_when_asked_for_and_cupy_is_not_even_looked_at(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(devices=AssertionError("looked at")))
    device = select_device("cpu")
    assert (device.xp, device.note, device.is_gpu) == (np, "", False)


def test_a_device_of_another_name_is_a_mistake_in_the_program():
    with pytest.raises(ValueError, match="device is 'tpu', expected 'auto', 'cpu' or 'gpu'"):
        select_device("tpu")


@pytest.mark.parametrize("cupy", [None, fake_cupy()], ids=["without CuPy", "with CuPy"])
def test_numpy_arrays_and_numbers_belong_to_numpy(monkeypatch, cupy):
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert array_module(np.ones(2), np.float32(1), np.ones(())) is np
    array = np.ones(3)
    assert to_numpy(array) is array


def test_arrays_of_cupy_belong_to_cupy_and_are_fetched(monkeypatch):
    cupy, fetched = fake_cupy(), np.ones(3)
    cupy.get_array_module = lambda *arrays: cupy
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    array = SimpleNamespace(get=lambda: fetched)
    assert array_module(array) is array_module(np.ones(2), array) is cupy
    assert to_numpy(array) is fetched


def imported_modules(tree):
    """Names of the modules that a file imports, by statement or by importlib."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
            yield from (arg.value for arg in node.args if isinstance(arg, ast.Constant))


def test_no_file_but_the_backend_and_the_one_that_stands_alone_imports_cupy():
    importers = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        for name in imported_modules(ast.parse(path.read_text(encoding="utf-8")))
        if str(name).split(".")[0] in ("cupy", "cupyx", "cupy_backends")
    }
    assert importers == {"backend.py", "in_one_file.py"}


def test_importing_every_command_does_not_import_cupy():
    commands = ", ".join(f"tinyvit.{path.stem}" for path in PACKAGE.glob("[!_]*.py"))
    code = f"import sys, {commands}; sys.exit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, check=False).returncode == 0


def names_used_of_either_module(tree):
    """The names that follow `xp.`, `device.xp.` and `array_module(...).`: 'exp', 'linalg.norm'."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        path, inner = [node.attr], node.value
        while isinstance(inner, ast.Attribute) and inner.attr != "xp":
            path.insert(0, inner.attr)
            inner = inner.value
        is_xp = isinstance(inner, ast.Name) and inner.id == "xp"
        is_device_xp = isinstance(inner, ast.Attribute) and inner.attr == "xp"
        is_call = isinstance(inner, ast.Call) and ast.unparse(inner.func) == "array_module"
        if is_xp or is_device_xp or is_call:
            yield ".".join(path)


def test_every_function_used_of_either_array_module_is_in_numpy_and_in_cupy():
    try:
        cupy = importlib.import_module("cupy")
    except ImportError:
        pytest.skip("CuPy is not installed")
    used = {
        (name, path.relative_to(PACKAGE).as_posix())
        for path in SOURCES
        for name in names_used_of_either_module(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert {"exp", "linalg.norm", "empty"} <= {name for name, _ in used}
    for module in (np, cupy):
        for name, path in used:
            if module is np and (path.startswith("engine/cuda/") or name.split(".")[0] == "cuda"):
                continue  # for CuPy alone
            found = module
            for part in name.split("."):
                found = getattr(found, part, None)
            assert found is not None, f"{path} uses {name}, which {module.__name__} does not have"


def test_a_real_gpu_is_found_and_computes(gpu):
    array = gpu.xp.arange(6, dtype="float32").reshape(2, 3)
    assert array_module(array) is gpu.xp and gpu.label.startswith("CuPy on ")
    np.testing.assert_array_equal(to_numpy(array @ array.T), [[5, 14], [14, 50]])


def test_augmentation_on_the_gpu_gives_the_pixels_of_numpy(gpu):
    rng = np.random.default_rng(1)
    images = rng.integers(0, 256, (7, 12, 10, 3), dtype=np.uint8)
    indices, draw = rng.integers(0, 7, 20), draw_augmentation(rng, 20, padding=4)
    expected = normalise(crop_and_flip(images, indices, *draw), "float32")
    there = crop_and_flip(gpu.xp.asarray(images), indices, *draw)
    result = to_numpy(normalise(there, "float32"))
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-7)
