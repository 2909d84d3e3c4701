"""Checkpoints: what is read is what was written, or an error that says why not; nothing is ever unpickled."""

import errno
import io
import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

from tests.tiny_runs import (
    arrays,
    assert_one_line,
    assert_same_bits,
    metrics,
    spawn,
    tiny,
)
from tinyvit import evaluate, predict, train
from tinyvit.engine import ReferenceEngine
from tinyvit.model import Params, initialise, preset
from tinyvit.support.errors import UserError
from tinyvit.support.files import atomic as files
from tinyvit.support.files import parse_json
from tinyvit.support.limits import LARGEST, MOST_EPOCHS
from tinyvit.training import run_trainer
from tinyvit.training.run_folder import RunFolder
from tinyvit.weights.checkpoint import Checkpoint, load_checkpoint, save_checkpoint


@pytest.fixture
def run(left_alone, tmp_path):
    """A finished run."""
    return shutil.copytree(left_alone, tmp_path / "run")


def example(**changes):
    config = preset("nano/4", 8, 3, **changes)
    params = initialise(config, 5)
    params["head.weight"][...] = np.random.default_rng(0).normal(size=params["head.weight"].shape)
    return Checkpoint(config, params, {"m": params.flat + 1}, {"step": 3, "best": 0.1})


@pytest.mark.parametrize(
    "changes", [{}, {"pool": "mean", "gelu": "exact"}, {"pre_logits": 7, "drop_path": 0.1}]
)
def test_what_is_read_is_what_was_written(tmp_path, changes):
    written = example(**changes)
    save_checkpoint(tmp_path / "a.npz", written)
    read = load_checkpoint(tmp_path / "a.npz")
    assert read.config == written.config
    assert read.progress == written.progress
    assert read.params.flat.tobytes() == written.params.flat.tobytes()
    assert read.optimizer["m"].tobytes() == written.optimizer["m"].tobytes()
    assert list(tmp_path.iterdir()) == [tmp_path / "a.npz"]


def test_a_checkpoint_holds_no_pickles(run):
    for name in ("last.npz", "best.npz"):
        assert all(array.dtype.kind in "fU" for array in arrays(run / name).values())


def test_every_bit_that_matters_is_checked(tmp_path):
    """One byte changed anywhere: either an error for the user, or the very same content."""
    written = example()
    save_checkpoint(tmp_path / "a.npz", written)
    whole = (tmp_path / "a.npz").read_bytes()
    ends = [*range(0, 120), *range(len(whole) - 160, len(whole))]
    for place in [*ends, *np.random.default_rng(1).integers(0, len(whole), 60)]:
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        (tmp_path / "b.npz").write_bytes(damaged)
        try:
            read = load_checkpoint(tmp_path / "b.npz")
        except UserError as error:
            assert "b.npz" in str(error)
        else:
            assert read.params.flat.tobytes() == written.params.flat.tobytes(), place
            assert read.config == written.config, place


@pytest.mark.parametrize("share", [0, 0.001, 0.3, 0.9, 0.999, 0.99999])
def test_a_file_that_is_cut_short(go, run, share):
    for name in ("best", "last"):
        path = run / f"{name}.npz"
        path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    assert_one_line(go(evaluate, run), run / "best.npz", "damaged", "last.npz")
    assert_one_line(go(predict, run, "a.png", "--checkpoint", "last"), run / "last.npz", "damaged")
    before = metrics(run)
    assert_one_line(go(train, "--resume", run), run / "last.npz", "damaged")
    assert metrics(run) == before


@pytest.mark.parametrize("content", [b"", b"PK", b"hello", b"\x93NUMPY\x01\x00"])
def test_a_file_that_is_not_a_checkpoint(tmp_path, content):
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(UserError, match=r"a\.npz is not a usable"):
        load_checkpoint(tmp_path / "a.npz")


def test_other_arrays_are_not_a_checkpoint(tmp_path):
    np.save(tmp_path / "one.npy", np.ones(3))
    np.savez(tmp_path / "many.npz", a=np.ones(3))
    np.savez(tmp_path / "objects.npz", config=np.array([{}], dtype=object))
    for name in ("one.npy", "many.npz", "objects.npz"):
        with pytest.raises(UserError, match=name):
            load_checkpoint(tmp_path / name)


def test_no_file_or_a_folder(tmp_path):
    with pytest.raises(UserError, match="there is no checkpoint"):
        load_checkpoint(tmp_path / "a.npz")
    with pytest.raises(UserError, match="cannot read"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize(
    "config", ["[", "7", "{}", '{"widht": 3}', '{"image_size": 8, "patch_size": "x", "width": 64}']
)
def test_a_model_description_that_makes_no_sense(run, config):
    content = arrays(run / "last.npz") | {"config": np.array(config)}
    np.savez(run / "last.npz", **content)
    with pytest.raises(UserError, match=r"last\.npz is not a checkpoint"):
        load_checkpoint(run / "last.npz")


def test_a_parameter_that_is_missing_or_of_another_shape(run):
    content = arrays(run / "last.npz")
    np.savez(run / "last.npz", **(content | {"param/norm.bias": np.ones(3, "float32")}))
    with pytest.raises(UserError, match=r"norm\.bias should have shape \(64,\), the file has shape \(3,\)"):
        load_checkpoint(run / "last.npz")
    del content["param/norm.bias"]
    np.savez(run / "last.npz", **content)
    with pytest.raises(UserError, match=r"norm\.bias should have shape \(64,\), the file has no such"):
        load_checkpoint(run / "last.npz")


def test_a_checkpoint_of_another_model(go, photos, run, tmp_path):
    go(train, *tiny(photos, tmp_path / "other", "--model", "nano/8", "--epochs", "1"))
    for name in ("last.npz", "best.npz"):
        (tmp_path / "other" / name).replace(run / name)
    for result in (go(evaluate, run), go(predict, run, "a.png"), go(train, "--resume", run)):
        assert_one_line(result, "does not contain the model", "config.json", "restore")


def no_space(*args):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_full_disk_leaves_the_old_checkpoint(go, photos, tmp_path, monkeypatch, call):
    """The disk is full from step 6 on, where the run saves, until space is freed."""
    go(train, *tiny(photos, tmp_path / "alone"))
    step, run = ReferenceEngine.step, tmp_path / "run"
    with monkeypatch.context() as patch:

        def filling(self, plan, lr):
            if plan.step == 7:
                patch.setattr(files.os, call, no_space)
                patch.setattr(run_trainer, "SAVE_SECONDS", -1)
            return step(self, plan, lr)

        patch.setattr(ReferenceEngine, "step", filling)
        assert_one_line(go(train, *tiny(photos, run)), run / "last.npz", "No space left", "free some space")
    assert sorted(path.name for path in run.iterdir()) == [
        "best.npz",
        "config.json",
        "curves.png",
        "last.npz",
        "metrics.csv",
        "metrics.jsonl",
        *(["previous.npz"] if call == "replace" else []),  # by then the last one has this name as well
        "samples",
        "split.json",
    ]
    assert json.loads(str(arrays(run / "last.npz")["progress"]))["step"] == 4
    assert go(train, "--resume", run)[0] == 0
    assert_same_bits(run / "last.npz", tmp_path / "alone" / "last.npz")


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_disk_that_is_full_from_the_start_leaves_nothing(go, photos, tmp_path, monkeypatch, call):
    with monkeypatch.context() as patch:
        patch.setattr(files.os, call, no_space)
        assert_one_line(go(train, *tiny(photos, tmp_path / "run")), "No space left")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit on the size of a file")
def test_a_file_that_may_not_grow(photos, tmp_path, monkeypatch):
    import resource

    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")  # other tests may share it, and it would be cut short

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    process = spawn("train", *tiny(photos, tmp_path / "run"), preexec_fn=limit)
    _, err = process.communicate(timeout=60)
    assert_one_line((process.returncode, "", err), "best.npz", "free some space")
    assert not list(tmp_path.iterdir())


# A run that diverges.


def test_a_loss_that_explodes_in_the_first_epoch(go, photos, tmp_path):
    result = go(train, *tiny(photos, tmp_path / "run", "--lr", "1e6", "--clip", "0"))
    assert_one_line(result, "diverged", "No checkpoint was kept", "lower --lr than 1e+06")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e30])
@pytest.mark.parametrize("number", [4, 6, 7, 8])
def test_a_model_that_explodes_later_leaves_the_last_good_checkpoint(
    go, photos, tmp_path, monkeypatch, number, poison
):
    monkeypatch.setattr(run_trainer, "SAVE_SECONDS", -1)
    step, run = ReferenceEngine.step, tmp_path / "run"

    def poisoned(self, plan, lr):
        result = step(self, plan, lr)
        if plan.step == number:
            for name in ("patch.weight", "norm.weight", "head.weight"):
                self.params[name][...] *= poison
        return result

    monkeypatch.setattr(ReferenceEngine, "step", poisoned)
    assert_one_line(go(train, *tiny(photos, run)), "diverged", "is kept in", run / "last.npz", "--lr")
    checkpoint = load_checkpoint(run / "last.npz")
    assert np.isfinite(checkpoint.params.flat).all()
    if not np.isfinite(poison):
        assert checkpoint.progress["step"] == number - 1


def test_an_optimiser_that_explodes_is_not_saved(go, photos, tmp_path, monkeypatch):
    step = ReferenceEngine.step

    def poisoned(self, plan, lr):
        result = step(self, plan, lr)
        if plan.step == 6:
            self.training.optimizer.state["v"][3] = np.inf
        return result

    monkeypatch.setattr(ReferenceEngine, "step", poisoned)
    assert_one_line(go(train, *tiny(photos, tmp_path / "run")), "diverged", "optimiser's state")
    assert np.isfinite(arrays(tmp_path / "run" / "last.npz")["optimizer/v"]).all()


def test_a_checkpoint_holds_the_records_of_the_longest_run(run):
    """With as many digits in every number as it can have."""
    longest = dict.fromkeys(metrics(run)[-1], -1.2345678901234567e-100)
    longest |= {
        "val_loss": longest["lr"],
        "val_accuracy": longest["lr"],
        "epoch": MOST_EPOCHS,
        "step": LARGEST,
    }
    text = json.dumps({"step": LARGEST, "seconds": longest["lr"], "records": [longest] * MOST_EPOCHS})
    assert len(parse_json(text)["records"]) == MOST_EPOCHS


def test_parameters_keep_their_dtype(tmp_path):
    checkpoint = example()
    wide = Params(checkpoint.params.flat.astype("float64"), checkpoint.params.rows)
    save_checkpoint(tmp_path / "a.npz", Checkpoint(checkpoint.config, wide))
    assert load_checkpoint(tmp_path / "a.npz").params.flat.dtype == np.float64


def test_nothing_is_unpickled(tmp_path):
    """An archive with a pickle in the place of a parameter is refused before it can act."""
    buffer = io.BytesIO()
    np.savez(buffer, config=np.array("{}"), **{"param/norm.bias": np.array([print], dtype=object)})
    (tmp_path / "a.npz").write_bytes(buffer.getvalue())
    with pytest.raises(UserError, match="never loaded"):
        load_checkpoint(tmp_path / "a.npz")


def edited(path, **changes):
    """Write a checkpoint without a seal, as earlier versions did, some arrays changed or left out (None)."""
    content = arrays(path) | changes
    np.savez(path, **{name: array for name, array in content.items() if array is not None})
    return path


@pytest.fixture
def saved(tmp_path):
    save_checkpoint(tmp_path / "a.npz", example())
    return tmp_path / "a.npz"


@pytest.mark.parametrize("absent", ["sealed", "classes", "settings", "origin", "training/weights"])
def test_a_checkpoint_of_an_earlier_version_is_read(tmp_path, absent):
    written = example()
    written = replace(written, weights=written.params.flat + 2, position_resize="bicubic")
    save_checkpoint(tmp_path / "a.npz", written)
    assert absent in np.load(tmp_path / "a.npz").files
    read = load_checkpoint(edited(tmp_path / "a.npz", **{"sealed": None, absent: None}))
    assert (read.progress, read.classes, read.settings) == ({"step": 3, "best": 0.1}, (), {})
    assert read.position_resize == ("corners" if absent == "origin" else "bicubic")
    assert (read.weights is None) == (absent == "training/weights")


@pytest.mark.parametrize("seal", [True, False])
def test_an_array_that_states_half_its_precision_is_refused(saved, seal):
    """NumPy itself would read half of it, and stop before the checksum of the zip."""
    path = saved if seal else edited(saved)
    path.write_bytes(path.read_bytes().replace(b"'<f4'", b"'<f2'"))
    with pytest.raises(UserError, match="its checksum" if seal else r"dtype float16 needs .* bytes, has"):
        load_checkpoint(path)


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["param/norm.weight", "optimizer/m"])
def test_numbers_that_are_not_finite_are_refused(saved, name, number):
    array = arrays(saved)[name]
    array.flat[3] = number
    with pytest.raises(UserError, match=r"a\.npz is damaged: .* not a finite number"):
        load_checkpoint(edited(saved, **{name: array}))


@pytest.mark.parametrize("dtype", ["i8", "?", "U4"])
def test_parameters_that_are_not_floating_point_are_refused(saved, dtype):
    array = arrays(saved)["param/norm.weight"].astype(dtype)
    with pytest.raises(UserError, match=r"norm\.weight .* which is not floating point"):
        load_checkpoint(edited(saved, **{"param/norm.weight": array}))


@pytest.mark.parametrize(
    "changes",
    [
        {"config": np.array("[" * 100_000)},
        {"config": np.ones(3)},
        {"config": None},
        {"progress": np.array("[]")},
        {"progress": np.array('{"records": [3]}')},
        {"progress": np.array('{"records": [{"epoch": "one", "step": 3}]}')},
        {"classes": np.array("[3]")},
        {"classes": np.array('["a", "b"]')},
        {"progress": np.frombuffer(b"\xff\xff\xff\x7f\0\0\0\0", "<U2").reshape(())},  # no character
    ],
)
def test_descriptions_that_are_none_are_refused(saved, changes):
    with pytest.raises(UserError, match=r"a\.npz is not a checkpoint of tinyvit"):
        load_checkpoint(edited(saved, **changes))


def test_a_model_of_a_thousand_million_layers_is_refused_before_it_is_laid_out(saved):
    config = json.loads(str(arrays(saved)["config"]))
    for changes in ({"layers": 10**9}, {"resnet": [10**9], "patch_size": 1}):
        with pytest.raises(UserError, match="its model description is missing or unreadable"):
            load_checkpoint(edited(saved, config=np.array(json.dumps(config | changes))))


def test_parameters_that_the_model_does_not_have_are_refused(saved):
    """A file of four blocks does not become a model of three."""
    config = json.loads(str(arrays(saved)["config"])) | {"layers": 3}
    with pytest.raises(UserError, match=r"a parameter blocks\.3\..*, the model has none of that name"):
        load_checkpoint(edited(saved, config=np.array(json.dumps(config))))


def test_names_of_classes_cannot_command_the_terminal(saved):
    found = load_checkpoint(edited(saved, classes=np.array(json.dumps(["a", "\x1b[2Jb", "c"]))))
    assert found.classes == ("a", r"\x1b[2Jb", "c")


def test_the_checkpoint_before_is_kept_and_offered_when_the_last_is_damaged(go, photos, tmp_path):
    run = tmp_path / "run"
    assert go(train, *tiny(photos, run))[0] == 0
    assert json.loads(str(arrays(run / "previous.npz")["progress"]))["step"] == 8
    whole = (run / "last.npz").read_bytes()
    (run / "last.npz").write_bytes(whole[:5000] + b"?" + whole[5001:])
    told = go(train, "--resume", run)
    assert_one_line(told, run / "last.npz", "checksum", "previous.npz, after step 8, is whole", "delete")
    (run / "last.npz").unlink()
    (tmp_path / "whole.npz").write_bytes(whole)
    assert go(train, "--resume", run)[0] == 0
    assert_same_bits(run / "last.npz", tmp_path / "whole.npz")


def test_a_checkpoint_before_that_is_damaged_too_is_not_offered(tmp_path):
    run = RunFolder(tmp_path)
    for step in (1, 2):
        one = example()
        one.progress["step"] = step
        save_checkpoint(run.last_path, one, run.previous_path)
    for path in (run.last_path, run.previous_path):
        path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(UserError, match=r"last\.npz .* checksum") as caught:
        run.load("last")
    assert "previous" not in str(caught.value)


@pytest.mark.parametrize("failing", [None, "link"])
def test_each_checkpoint_is_found_again_as_the_previous_one(tmp_path, monkeypatch, failing):
    """Also where a file cannot have two names, and after a crash that left both names to one file."""
    if failing:
        monkeypatch.setattr(files.os, failing, no_space)
    last, previous = tmp_path / "last.npz", tmp_path / "previous.npz"
    for step in range(4):
        one = example()
        one.progress["step"] = step
        save_checkpoint(last, one, previous)
        assert load_checkpoint(last).progress["step"] == step
        if step:
            assert load_checkpoint(previous).progress["step"] == step - 1
        if step == 1 and not failing:
            previous.unlink()
            os.link(last, previous)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["last.npz", "previous.npz"]
