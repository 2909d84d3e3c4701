"""--precision: in the settings, in the first lines of a run, in evaluate, and old runs without it."""

import json

from tests.tiny_runs import metrics, numbers, tiny
from tinyvit import evaluate, train
from tinyvit.engine.cuda.engine import CudaEngine
from tinyvit.training.settings import Settings

GPU = ("--device", "gpu", "--width", "24", "--heads", "3", "--mlp-width", "40")  # of the model "everything"


def test_a_run_on_the_gpu_says_what_computes_and_how_much_memory_it_takes(cuda, go, photos, tmp_path):
    status, out, err = go(train, *tiny(photos, tmp_path / "a", *GPU, "--epochs", "1", "--precision", "bf16"))
    assert (status, err) == (0, "")
    assert f"{cuda.label}, CUDA kernels, bf16, workspace of " in out
    assert Settings.load(tmp_path / "a" / "config.json").precision == "bf16"
    assert metrics(tmp_path / "a")[0]["train_loss"] > 0

    for flags, words in (((), "accuracy"), (("--precision", "bf16"), "accuracy")):
        status, out, _ = go(evaluate, str(tmp_path / "a"), "--device", "gpu", *flags)
        assert status == 0 and words in out


def test_on_a_cpu_one_line_says_that_it_is_fp32(go, photos, tmp_path):
    run = tmp_path / "a"
    status, out, _ = go(train, *tiny(photos, run, "--epochs", "1", "--device", "cpu", "--precision", "tf32"))
    assert status == 0
    assert out.count("tf32 needs a GPU: everything is computed in fp32.") == 1
    status, out, _ = go(evaluate, str(run), "--device", "cpu", "--precision", "bf16")
    assert status == 0 and "bf16 needs a GPU: everything is computed in fp32." in out


def test_a_model_without_kernels_says_so_once(cuda, go, photos, tmp_path):
    flags = (*GPU, "--epochs", "1", "--position", "relative")
    status, out, _ = go(train, *tiny(photos, tmp_path / "a", *flags))
    assert status == 0
    assert out.count("the CUDA engine is not used: its kernels have no relative positions") == 1


def test_a_run_without_a_precision_in_its_config_is_one_of_auto(go, photos, tmp_path):
    run = tmp_path / "a"
    assert go(train, *tiny(photos, run, "--epochs", "1"))[0] == 0
    config = json.loads((run / "config.json").read_text("utf-8"))
    del config["settings"]["precision"]
    (run / "config.json").write_text(json.dumps(config), "utf-8")
    assert Settings.load(run / "config.json").precision == "auto"
    status, out, err = go(train, "--resume", str(run), "--epochs", "2", "--precision", "bf16")
    assert (status, err) == (0, "")
    assert "bf16 needs a GPU" in out


def test_a_precision_that_does_not_exist_is_refused(go, photos, tmp_path):
    status, _, err = go(train, *tiny(photos, tmp_path / "a", "--precision", "fp8"))
    assert status == 2 and "fp8" in err


def test_a_run_is_resumed_with_the_state_of_the_optimiser(cuda, go, photos, tmp_path, monkeypatch):
    """The arrays of a checkpoint are written into those that the graph knows."""
    flags = (*GPU, "--precision", "fp32", "--decay", "constant", "--warmup-epochs", "0")
    assert go(train, *tiny(photos, tmp_path / "whole", *flags, "--epochs", "2"))[0] == 0
    assert go(train, *tiny(photos, tmp_path / "parts", *flags, "--epochs", "1"))[0] == 0
    kinds, step = [], CudaEngine.step
    monkeypatch.setattr(CudaEngine, "step", lambda *args: kinds.append(type(args[0])) or step(*args))
    assert go(train, "--resume", str(tmp_path / "parts"), "--epochs", "2")[0] == 0
    assert set(kinds) == {CudaEngine}
    whole, parts = (numbers(tmp_path / name / "last.npz") for name in ("whole", "parts"))
    for name in whole:
        assert whole[name].tobytes() == parts[name].tobytes(), name
