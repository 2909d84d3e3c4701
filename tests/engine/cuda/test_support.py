"""The engine and precision chosen on a GPU, and the line that says why if it is another one."""

import math
from dataclasses import fields, replace
from functools import partial

import numpy as np
import pytest

from tests.helpers import tiny_config
from tests.stand_in_cuda import FakeCublas
from tinyvit.data import BatchPlan
from tinyvit.engine import CpuEngine, ReferenceEngine, Training, make_engine
from tinyvit.engine.cuda import cublas
from tinyvit.engine.cuda import engine as engine_module
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.engine.cuda.plan import plan_inference, plan_step
from tinyvit.engine.cuda.support import unsupported
from tinyvit.gradcheck.models import MODEL_CHECKS
from tinyvit.model import Params, initialise, layout, preset
from tinyvit.model.later.rotary import Rotary
from tinyvit.objectives import loss_and_grads, masked_patches
from tinyvit.optim import Adam


def chosen(xp, config=None, precision="auto", dtype="float32", **more):
    """The engine for a model on this GPU."""
    config = config or tiny_config()
    params = Params.zeros(layout(config), dtype).to(xp)
    return make_engine(config, params, precision=precision, **more)


@pytest.mark.parametrize("precision", ["fp32", "tf32", "bf16"])
def test_a_card_of_today_computes_at_every_precision(cuda, precision):
    engine = chosen(cuda.xp, precision=precision)
    assert (type(engine), engine.precision, engine.note) == (CudaEngine, precision, "")


@pytest.mark.parametrize(("capability", "precision"), [("75", "fp32"), ("80", "bf16"), ("120", "bf16")])
def test_auto_is_bfloat16_where_the_card_has_it(cuda, monkeypatch, capability, precision):
    monkeypatch.setattr(cuda.xp.cuda.Device(), "compute_capability", capability)
    engine = chosen(cuda.xp)
    assert (type(engine), engine.precision, engine.note) == (CudaEngine, precision, "")


def test_an_older_card_computes_in_fp32_and_says_so(cuda, monkeypatch):
    monkeypatch.setattr(cuda.xp.cuda.Device(), "compute_capability", "75")
    engine = chosen(cuda.xp, precision="bf16")
    assert (type(engine), engine.precision) == (CudaEngine, "fp32")
    assert engine.note == (
        "bf16 needs a card of compute capability 8.0 or more, and this one has 7.5: everything is computed "
        "in fp32."
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"position": "relative", "position_at": "blocks"}, "no relative positions"),
        ({"position": "1d", "position_at": "blocks"}, "no 1d positions in the blocks"),
        ({"predicts": "embedding"}, "do not compute embeddings"),
        ({"position": "bias", "position_at": "blocks"}, "no bias positions in the blocks"),
        ({"gated": True, "registers": 2, "layer_scale": 0.1}, "do not have this model's gated, layer_scale."),
        ({"width": 24, "rotary": Rotary(learned=True)}, "no learned rotary positions"),
        ({"image_size": 512, "patch_size": 4, "width": 384, "heads": 6}, "16,385 tokens does not fit"),
        ({"width": 3200, "heads": 50}, "width 3,200"),
        ({"width": 192, "heads": 1}, "heads of width 192 are wider than 128"),
    ],
)
def test_what_the_kernels_cannot_do_goes_the_plain_way_and_says_why(cuda, change, reason):
    engine = chosen(cuda.xp, replace(tiny_config(), **change))
    assert type(engine) is ReferenceEngine
    assert reason in engine.note and engine.note.startswith("the CUDA engine is not used: ")
    assert engine.note.endswith("Plain CuPy computes in float32.") and "\n" not in engine.note


def test_the_models_with_kernels_are_these():
    named = {check.name for check in MODEL_CHECKS if not unsupported(check.config)}
    ours = {"class token", "mean pooling, exact GELU", "pre_logits, three heads", "no positions"}
    ours |= {"dropout, stochastic depth", "2-D positions", "sin-cos positions"}
    assert named == {
        *(f"ViT, {name}" for name in ours),
        "registers without positions",
        "masked patches, mean-colour",
        "masked patches, pixels",
    }


def test_a_model_with_more_parameters_than_an_int_can_count_is_refused_before_anything_is_planned():
    huge = preset("H/14", 224, 1000)
    assert unsupported(replace(huge, layers=108)) == ""
    reason = unsupported(replace(huge, layers=109))
    assert reason == "its kernels count up to 2,146,435,072, and there are 2,147,208,680 parameters"


def test_a_resnet_other_objectives_and_dtypes_go_the_plain_way(cuda):
    xp, config = cuda.xp, tiny_config()
    resnet, patches = preset("resnet-nano", 32, 10), replace(config, predicts="patches")
    model = initialise(patches).to(xp)
    training = Training(xp.asarray(np.zeros((1, 8, 8, 3), np.uint8)), xp.asarray([0]), Adam(model))
    engines = {
        "convolutions": chosen(xp, resnet),
        "only the loss of labels": chosen(xp, objective=masked_patches.loss_and_grads),
        "that of patches": make_engine(patches, model, training=training),
        "float64": chosen(xp, dtype="float64"),
    }
    for reason, engine in engines.items():
        assert type(engine) is ReferenceEngine and reason in engine.note


def test_an_old_card_or_a_missing_library_goes_the_plain_way(cuda, monkeypatch):
    def missing():
        raise cublas.CublasError("the cuBLAS library is not found: install CUDA")

    monkeypatch.setattr(cublas, "load_library", missing)
    assert "cuBLAS library is not found" in chosen(cuda.xp).note
    monkeypatch.setattr(cuda.xp.cuda.Device(), "compute_capability", "70")
    note = chosen(cuda.xp).note
    assert "it needs a card of compute capability 7.5 or more, and this one has 7.0" in note


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (
            RuntimeError("Failed to find CUDA headers. Please install CUDA toolkit headers (e.g., ...)"),
            'the CUDA header files are missing; run pip install --upgrade "cupy',
        ),
        (
            Exception('/tmp/x.cu(3): catastrophic error: cannot open source file "cuda_bf16.h"\n1 error'),
            'the CUDA header files are missing; run pip install --upgrade "cupy',
        ),
        (
            Exception('/tmp/x.cu(7): warning #177-D\n/tmp/x.cu(9): error: no "asm" here\n\n1 error detected'),
            '.cu does not compile (no "asm" here)',
        ),
        (
            RuntimeError("CUDA_ERROR_NO_BINARY_FOR_GPU: no kernel image"),
            "does not compile (CUDA_ERROR_NO_BIN",
        ),
        (ValueError(), "does not compile (ValueError)"),
    ],
)
def test_kernels_that_cannot_be_compiled_are_known_before_the_first_step(cuda, monkeypatch, error, reason):
    def fails(**_):
        raise error

    monkeypatch.setattr(cuda.xp, "RawModule", fails)
    engine = chosen(cuda.xp, precision="bf16")
    assert type(engine) is ReferenceEngine
    assert engine.note.startswith("the CUDA engine is not used: ") and "\n" not in engine.note
    assert reason in engine.note


def test_a_full_gpu_is_not_mistaken_for_kernels_that_do_not_compile(cuda, monkeypatch):
    def fails(**_):
        raise MemoryError("out of memory")

    monkeypatch.setattr(cuda.xp, "RawModule", fails)
    with pytest.raises(MemoryError):
        chosen(cuda.xp)


def test_a_cublas_that_does_not_start_and_other_makes_of_cards_go_the_plain_way(cuda, monkeypatch):
    broken = FakeCublas(cuda.xp.queue)
    broken.cublasCreate_v2 = lambda handle: 1
    monkeypatch.setattr(cublas, "load_library", lambda: broken)
    engine = chosen(cuda.xp)
    assert type(engine) is ReferenceEngine and "cublasCreate failed with status 1" in engine.note
    monkeypatch.setattr(cuda.xp.cuda.runtime, "is_hip", True, raising=False)
    assert "NVIDIA" in chosen(cuda.xp).note


def test_plans_are_made_for_the_multiprocessors_of_the_card(cuda, monkeypatch):
    monkeypatch.setitem(cuda.xp.cuda.Device().attributes, "MultiProcessorCount", 20)
    found = []
    monkeypatch.setattr(engine_module, "plan_step", lambda *args: found.append(args[2]) or plan_step(*args))
    monkeypatch.setattr(
        engine_module, "plan_inference", lambda *args: found.append(args[2]) or plan_inference(*args)
    )
    params = initialise(tiny_config()).to(cuda.xp)
    images = cuda.xp.asarray(np.zeros((10, 8, 8, 3), np.uint8))
    training = Training(images, cuda.xp.asarray(np.zeros(10, int)), Adam(params))
    chosen(cuda.xp, training=training)
    assert [options.multiprocessors for options in found] == [20, 20]


def test_images_that_do_not_have_three_channels_are_no_data_set_for_the_kernels(cuda):
    """Their kernels read three channels; then make_batch makes every batch, or says what it expects."""
    config = replace(tiny_config(), channels=1)
    params = initialise(config).to(cuda.xp)
    images = cuda.xp.asarray(np.zeros((10, 8, 8, 1), np.uint8))
    training = Training(images, cuda.xp.asarray(np.zeros(10, int)), Adam(params))
    assert chosen(cuda.xp, config, training=training)._dataset is None


def test_on_a_cpu_a_precision_for_gpus_is_fp32_and_one_line_says_so():
    config = tiny_config()
    for precision in ("auto", "fp32"):
        assert make_engine(config, initialise(config), precision=precision).note == ""
    engine = make_engine(config, initialise(config), precision="bf16")
    assert type(engine) is CpuEngine
    assert engine.note == "bf16 needs a GPU: everything is computed in fp32."


def test_a_graph_is_not_needed_to_see_what_a_step_takes(cuda):
    config = tiny_config()
    params = initialise(config).to(cuda.xp)
    images = cuda.xp.asarray(np.zeros((10, 8, 8, 3), np.uint8))
    training = Training(images, cuda.xp.asarray(np.zeros(10, int)), Adam(params), math.inf, 2)
    engine = make_engine(config, params, partial(loss_and_grads, smoothing=0.1), training, precision="bf16")
    assert engine.summary(2_000).startswith("CUDA kernels, bf16, workspace of ")
    small, large = (float(engine.summary(n).split()[-2].replace(",", "")) for n in (2_000, 20_000))
    assert 8 * small < large < 12 * small


def test_a_plan_has_no_field_that_the_tables_for_a_gpu_leave_out():
    """A field that plan_tables does not know would be left out on a GPU in silence."""
    known = {"indices", "down", "right", "flip", "operations", "mixing", "erasing", "after"}
    in_the_keys_or_refused = {"seed", "step", "first", "crops", "own"}
    assert {field.name for field in fields(BatchPlan)} == known | in_the_keys_or_refused
