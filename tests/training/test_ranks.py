"""Several processes, here threads, train one model: the same losses as one, whatever part each has."""

import io
import json
import math
import os
import signal
import threading
import time

import numpy as np
import pytest

from tests.helpers import distance
from tests.support.distributed.fake_mpi import errors_of, together
from tests.tiny_runs import metrics, numbers
from tinyvit.backend import select_device
from tinyvit.data import ImageSet
from tinyvit.engine import ReferenceEngine, Training
from tinyvit.model import initialise, preset
from tinyvit.optim import make_optimizer
from tinyvit.support.distributed import ALONE, Ranks, acting_as, on_rank_zero, one_per_machine_first
from tinyvit.support.errors import UserError
from tinyvit.support.shell.progress import Progress
from tinyvit.training import build_trainer, evaluation, run_trainer
from tinyvit.training.build_trainer import RunContext
from tinyvit.training.choices import new_settings
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.session import train
from tinyvit.training.signals import StopRequest, unwinding_signals

SILENT = Progress(io.StringIO())
NOISY = {"dropout": 0.1, "drop_path": 0.1, "crop_padding": 1, "flip": True}


def chosen(photos, **more):
    """The settings of a run of 3 epochs of 4 steps."""
    usual = {"dataset": "folder", "data_dir": str(photos), "image_size": 8, "model": "nano/4", "epochs": 3}
    return usual | {"batch_size": 8, "threads": 1, "device": "cpu", **NOISY} | more


def trained(size, out, settings, printed=None, **more):
    """The exit statuses of all ranks; `printed`, a list, gets what each of them printed."""

    def work(ranks):
        stream = io.StringIO()
        status = train(dict(settings), out, progress=Progress(stream), **more)
        if printed is not None:
            printed.append((ranks.rank, stream.getvalue()))
        return status

    return [work(ALONE)] if size == 1 else together(size, work)


def assert_nearly_the_same_run(run, expected):
    """The same but for rounding, which Adam enlarges where a gradient is nothing but rounding."""
    for mine, other in zip(metrics(run), metrics(expected), strict=True):
        assert mine == pytest.approx(other, rel=1e-4)
    for name in ("last.npz", "best.npz"):
        mine, other = numbers(run / name), numbers(expected / name)
        assert mine.keys() == other.keys()
        for kind in ("param/", "optimizer/m", "optimizer/v", "weights"):
            keys = [key for key in other if key.startswith(kind)]
            if keys:
                flat = [np.concatenate([found[key].ravel() for key in keys]) for found in (mine, other)]
                assert distance(*flat) < 1e-3, kind


@pytest.fixture(scope="module")
def alone(photos, tmp_path_factory):
    """The folder of the same run by one process."""
    run = tmp_path_factory.mktemp("alone") / "run"
    assert trained(1, run, chosen(photos)) == [0]
    return run


@pytest.mark.parametrize(
    ("size", "more"),
    [(2, {}), (3, {}), (4, {"accumulate": 2})],
    ids=["two", "three", "four, in parts"],
)
def test_the_same_batches_give_the_losses_of_one_process(photos, alone, tmp_path, size, more):
    printed = []
    assert trained(size, tmp_path / "run", chosen(photos, **more), printed) == [0] * size
    assert_nearly_the_same_run(tmp_path / "run", alone)
    lines = dict(printed)
    assert f"{size} processes, each NumPy on 1 thread" in lines[0]
    assert lines[0].count("\nepoch ") == 3 and "done in" in lines[0]
    assert not any(lines[rank] for rank in range(1, size))
    settings = json.loads((tmp_path / "run" / "config.json").read_text())["settings"]
    assert settings["ranks"] == size


@pytest.mark.parametrize("sizes", [(2, 3), (3, 1)])
def test_a_run_is_resumed_by_another_number_of_processes(photos, alone, tmp_path, monkeypatch, sizes):
    run, printed = tmp_path / "run", []
    stop_after(5, monkeypatch, rank=sizes[0] - 1)
    assert trained(sizes[0], run, chosen(photos), printed) == [130] * sizes[0]
    assert "stopped after step 5, which is saved" in dict(printed)[0]
    monkeypatch.undo()
    printed.clear()
    assert trained(sizes[1], run, {"threads": 1}, printed, resume=run) == [0] * sizes[1]
    assert "resumed after step 5 of 12" in dict(printed)[0]
    assert_nearly_the_same_run(run, alone)
    assert trained(2, run, {}, printed, resume=run) == [0, 0]
    assert [text.startswith(f"{run} is finished") for _, text in sorted(printed[-2:])] == [True, False]


def stop_after(step, monkeypatch, rank):
    """The stop request of one rank gets Ctrl-C after this many steps."""
    requests, take_step = {}, ReferenceEngine.step

    class Noted(StopRequest):
        def __init__(self, deadline):
            super().__init__(deadline)
            requests[self.ranks.rank] = self

    def interrupted(self, plan, lr):
        result = take_step(self, plan, lr)
        if plan.step == step and self.training.ranks.rank == rank:
            requests[rank].arrived = 2
        return result

    monkeypatch.setattr("tinyvit.training.signals.StopRequest", Noted)
    monkeypatch.setattr(ReferenceEngine, "step", interrupted)


def test_a_signal_to_one_rank_or_the_end_of_its_time_stops_all():
    def look(ranks):
        stop = StopRequest(time.monotonic() if ranks.rank == 2 else math.inf)
        before = StopRequest()
        reasons = [bool(before), bool(stop), stop.number]
        if ranks.rank == 1:
            stop.arrived = 15
        return [*reasons, bool(stop), stop.number]

    assert together(3, look) == [[False, True, 0, True, 15]] * 3


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="this system has no SIGUSR1")
def test_the_signal_that_mpiexec_passes_on_ends_a_rank_that_still_loads_its_data():
    ranks = type("Two", (Ranks,), {"size": 2})()
    with pytest.raises(SystemExit) as end, acting_as(ranks), unwinding_signals():
        os.kill(os.getpid(), signal.SIGUSR1)
    assert end.value.code == 128 + signal.SIGUSR1


def test_a_deadline_that_only_one_clock_has_reached_stops_all(photos, tmp_path):
    def work(ranks):
        deadline = time.monotonic() if ranks.rank == 1 else math.inf
        return train(chosen(photos), tmp_path / "run", deadline=deadline)

    assert together(2, work) == [128, 128]
    assert (tmp_path / "run" / "last.npz").exists()


def test_all_save_when_one_says_that_it_is_time(photos, alone, tmp_path, monkeypatch):
    """Each rank has its own clock, but none may go on while rank 0 saves."""
    monkeypatch.setattr(run_trainer, "SAVE_SECONDS", 1e9)
    saves, save = [], run_trainer.RunTrainer.save

    def impatient(self):
        if self.engine.ranks.rank == 1 and self.state.step == 6:
            self.saver.clock._saved = -1e10

    def counted(self):
        saves.append((self.engine.ranks.rank, self.state.step))
        save(self)

    monkeypatch.setattr(run_trainer.RunTrainer, "_say_news", impatient)
    monkeypatch.setattr(run_trainer.RunTrainer, "save", counted)
    assert trained(2, tmp_path / "run", chosen(photos)) == [0, 0]
    assert sorted(saves) == [(0, 6), (1, 6)]
    assert_nearly_the_same_run(tmp_path / "run", alone)


def test_evaluation_is_shared(photos, tmp_path, monkeypatch):
    looked_at, logits = [], evaluation.in_batches

    def counted(compute, config, params, images, *others):
        looked_at.append(len(images))
        return logits(compute, config, params, images, *others)

    monkeypatch.setattr(evaluation, "in_batches", counted)
    assert trained(3, tmp_path / "run", chosen(photos, epochs=1)) == [0] * 3
    assert sorted(looked_at) == [2, 3, 3]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_an_evaluation_is_that_of_one_process_however_few_the_images(count):
    config, rng = preset("nano/4", 8, 3), np.random.default_rng(0)
    images = ImageSet(rng.integers(0, 256, (count, 8, 8, 3), dtype=np.uint8), rng.integers(0, 3, count))
    params = initialise(config, 1)
    params["head.weight"][...] = rng.normal(size=(64, 3))

    def evaluated(ranks):
        training = Training(images.images, images.labels, make_optimizer("sgd", params), ranks=ranks)
        return evaluation.evaluate(ReferenceEngine(config, params, training=training), images)

    expected = evaluated(ALONE)
    for found in together(3, evaluated):
        np.testing.assert_allclose(found.probabilities, expected.probabilities, rtol=1e-4, atol=1e-6)
        assert (found.counts == expected.counts).all() and found.loss == pytest.approx(expected.loss)


def test_pretraining_and_fine_tuning(photos, tmp_path):
    settings = chosen(photos, epochs=1, target="mean-colour")
    for size in (1, 2):
        assert trained(size, tmp_path / f"blind{size}", settings) == [0] * size
    assert_nearly_the_same_run(tmp_path / "blind2", tmp_path / "blind1")
    tuned = chosen(photos, weights=str(tmp_path / "blind1"), model="blind1", steps=3, optimizer="sgd")
    for size in (1, 2):
        assert trained(size, tmp_path / f"tuned{size}", tuned) == [0] * size
    assert_nearly_the_same_run(tmp_path / "tuned2", tmp_path / "tuned1")


def test_mistakes_are_those_of_all(photos, alone, tmp_path):
    def train_into(out, **more):
        return errors_of(2, lambda ranks: train(chosen(photos, **more), out))

    taken = train_into(alone)
    assert taken[0] == taken[1] and "already contains a run" in taken[0]
    few = train_into(tmp_path / "few", batch_size=1)
    assert few[0] == few[1] and "a batch of 1 image cannot be shared by 2 processes" in few[0]
    nothing = train_into(tmp_path / "nothing", data_dir=str(tmp_path / "nowhere"))
    assert nothing[0] == nothing[1] and "nowhere" in nothing[0]
    assert not (tmp_path / "few").exists() and not (tmp_path / "nothing").exists()


def test_other_data_on_one_rank_is_a_mistake(photos, tmp_path):
    def work(ranks):
        train(chosen(photos, fraction=0.5 if ranks.rank else 1.0), tmp_path / "run")

    found = errors_of(2, work)
    assert found[0] == found[1] and "rank 1 on" in found[0] and "the images and labels are not" in found[0]


@pytest.mark.parametrize("part", ["train", "test"])
def test_another_pixel_on_one_rank_is_a_mistake(photos, tmp_path, monkeypatch, part):
    load, lock, loaded = build_trainer.load_data, threading.Lock(), []

    def damaged_once(*args, **more):
        dataset = load(*args, **more)
        with lock:
            loaded.append(dataset)
            if len(loaded) == 1:
                getattr(dataset, part).images[0, 0, 0, 0] ^= 1
        return dataset

    monkeypatch.setattr(build_trainer, "load_data", one_per_machine_first(damaged_once))
    found = errors_of(2, lambda ranks: train(chosen(photos), tmp_path / "run"))
    assert found[0] == found[1] and "the images and labels are not" in found[0]


def test_all_start_from_the_numbers_of_the_first_rank(photos, tmp_path, monkeypatch):
    """Whatever each has read: on another machine, a file of weights may be another one."""
    start, lock, started = build_trainer.starting_model, threading.Lock(), []

    def another_each_time(*args):
        model = start(*args)
        with lock:
            started.append(model)
            model.params.flat[...] += len(started)
        return model

    def work(ranks):
        run = RunFolder.claim(tmp_path / "run", "folder")
        settings = new_settings(chosen(photos), None, select_device("cpu"))
        trainer = build_trainer.new_trainer(run, settings, {}, select_device("cpu"), RunContext(SILENT))
        return trainer.engine.params.flat.copy()

    monkeypatch.setattr(build_trainer, "starting_model", another_each_time)
    first, second = together(2, work)
    np.testing.assert_array_equal(first, second)
    assert any(np.array_equal(first, model.params.flat) for model in started)


def test_nobody_leaves_while_the_first_rank_writes(photos, tmp_path, monkeypatch):
    """A rank that has left no longer handles signals: a second one would end the whole job."""
    events, write = [], run_trainer.save_checkpoint

    def slowly(path, *args):
        time.sleep(0.2)
        write(path, *args)
        events.append(path.name)

    def work(ranks):
        train(chosen(photos, epochs=1), tmp_path / "run", progress=Progress(io.StringIO()))
        events.append(ranks.rank)

    monkeypatch.setattr(run_trainer, "save_checkpoint", on_rank_zero(slowly))
    together(3, work)
    assert {*events[:-3]} == {"last.npz", "best.npz"} and {*events[-3:]} == {0, 1, 2}


def test_a_full_disk_is_a_mistake_of_all(photos, tmp_path, monkeypatch):
    def full(path, *args):
        raise UserError(f"cannot write {path}: No space left on device.")

    monkeypatch.setattr(run_trainer, "save_checkpoint", on_rank_zero(full))
    found = errors_of(3, lambda ranks: train(chosen(photos, epochs=1), tmp_path / "run"))
    assert found[0] == found[1] == found[2] and "No space left" in found[0]


def test_only_the_first_rank_undoes_a_fine_tuning_that_failed(photos, alone, tmp_path, monkeypatch):
    """On another machine, a checkpoint of the same name belongs to another run."""
    marks, mark = [], RunFolder.mark_start

    def marked(run):
        marks.append(run)
        mark(run)

    def fails(trainer, deadline):
        raise UserError("training has diverged.")

    monkeypatch.setattr(RunFolder, "mark_start", on_rank_zero(marked))
    monkeypatch.setattr(run_trainer.RunTrainer, "fit", fails)
    settings = chosen(photos, weights=str(alone), model="alone")
    assert errors_of(2, lambda ranks: train(settings, tmp_path / "run"))[0]
    assert len(marks) == 1 and not (tmp_path / "run").exists()


@pytest.mark.parametrize("optimizer", ["adamw", "muon"])
def test_mixed_images_the_average_of_the_weights_and_muon(photos, tmp_path, optimizer):
    settings = chosen(photos, epochs=1, ema=0.9, optimizer=optimizer, mixup=0.5, cutmix=1.0, erase=0.3)
    for size in (1, 2):
        assert trained(size, tmp_path / f"run{size}", settings) == [0] * size
    assert_nearly_the_same_run(tmp_path / "run2", tmp_path / "run1")


def test_divergence_is_noticed_by_all(photos, tmp_path):
    found = errors_of(2, lambda ranks: train(chosen(photos, lr=1e9), tmp_path / "run"))
    assert found[0] == found[1] and "training has diverged" in found[0]
