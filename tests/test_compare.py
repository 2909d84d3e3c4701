"""Comparing runs: what differs, which did best, and the curves on one picture."""

import json
import os
import shutil

import pytest
from PIL import Image

from tests.tiny_runs import assert_one_line, metrics
from tinyvit import compare


@pytest.fixture
def variant(trained, tmp_path):
    """variant(NAME, SETTINGS, RECORDS): a copy of the trained run with other settings, or other records."""

    def make(name, settings=None, records=None):
        run = tmp_path / name
        shutil.copytree(trained, run)
        config = json.loads((run / "config.json").read_text("utf-8"))
        config["settings"] |= settings or {}
        (run / "config.json").write_text(json.dumps(config), "utf-8")
        if records is not None:
            (run / "metrics.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records), "utf-8")
        return run

    return make


def record(epoch, **more):
    return {"epoch": epoch, "step": 4 * epoch, "train_loss": 1.0, "test_accuracy": None, **more}


def row(out, label):
    """The cells of a line of the table."""
    line = next(line for line in out.splitlines() if line.startswith(label + "  "))
    return line[len(label) :].split()


def test_settings_that_differ_are_shown_and_no_others(go, variant, tmp_path):
    one = variant("one", {"lr": 0.003, "flip": False, "weights": None})
    other = variant("other", {"lr": 0.01, "flip": True, "weights": "Ti_16"})
    status, out, err = go(compare, one, other, "--out", tmp_path / "c.png")
    assert (status, err) == (0, "")
    assert out.splitlines()[0].split() == ["one", "other"]
    assert row(out, "lr") == ["0.003", "0.01"]
    assert row(out, "flip") == ["no", "yes"]
    assert row(out, "weights") == ["-", "Ti_16"]
    settings, _, _ = out.partition("\n\n")
    assert len(settings.splitlines()) == 4


def test_runs_with_the_same_settings_say_so(go, variant, tmp_path):
    _, out, _ = go(compare, variant("a"), variant("b"), "--out", tmp_path / "c.png")
    assert "all settings are the same\n" in out


def test_settings_that_a_run_was_resumed_with_are_compared_too(go, variant, tmp_path):
    def with_changes(name, changed, **settings):
        run = variant(name, settings)
        config = json.loads((run / "config.json").read_text("utf-8")) | {"changed": changed}
        (run / "config.json").write_text(json.dumps(config), "utf-8")
        return run

    first = {"step": 6, "epoch": 2, "lr": [0.003, 0.0001], "epochs": [2, 4]}
    again = {"step": 9, "epoch": 3, "lr": [0.0001, 0.0003], "threads": [1, 2]}
    runs = [with_changes("a", [first, again], lr=0.0003, epochs=4), variant("b", {"lr": 0.0003, "epochs": 4})]
    runs.append(with_changes("c", [{"step": 1, "epoch": 1, "lr": [0.1, 0.0003]}], lr=0.0003, epochs=4))
    _, out, _ = go(compare, *runs, "--out", tmp_path / "c.png")
    assert "all settings are the same" not in out
    cells = {line.split("  ")[0]: line for line in out.partition("\n\n")[0].splitlines()[1:]}
    assert cells.keys() == {"lr", "epochs", "threads"}
    assert "0.003, from step 6 0.0001, from step 9 0.0003" in cells["lr"]
    assert "2, from step 6 4" in cells["epochs"] and "1, from step 9 2" in cells["threads"]
    assert row(out, "lr")[-2:] == ["0.0003", "0.0003"]  # from step 1 on is from the start
    found = json.loads(go(compare, *runs, "--json")[1])
    assert found["differing_settings"] == ["epochs", "lr", "threads"]
    assert [run["changed"] for run in found["runs"]][:2] == [[first, again], []]
    assert "all settings are the same" in go(compare, *runs[1:], "--out", tmp_path / "c.png")[1]
    for wrong in (5, {}, [3], [{"step": 1}], [first | {"lr": 0.1}], [first | {"lr": [1, 2, 3]}]):
        damaged = with_changes(f"wrong{len(list(tmp_path.iterdir()))}", wrong)
        assert_one_line(go(compare, runs[1], damaged), "config.json is damaged (its changes of settings")


def test_figures_of_different_tasks_are_not_compared(go, variant, tmp_path, monkeypatch):
    """Of a run without labels, the accuracy is the share of colours that it predicts right."""
    records = [record(1, test_accuracy=0.25, test_loss=3.0)]
    blind = [variant(name, {"target": "mean-colour"}, records) for name in ("a", "b")]
    for run in blind:
        config = json.loads((run / "config.json").read_text("utf-8")) | {"classes": []}
        (run / "config.json").write_text(json.dumps(config), "utf-8")
    sighted, other = variant("c", None, records), variant("d", None, records)
    config = (other / "config.json").read_text("utf-8")
    (other / "config.json").write_text(config.replace('"red"', '"orange"'), "utf-8")
    drawn = []
    monkeypatch.setattr(compare, "draw_comparison", lambda runs, path, accuracy: drawn.append(accuracy))

    def compared(*runs):
        drawn.clear()
        return go(compare, *runs, "--out", tmp_path / "c.png")[1]

    out = compared(*blind)
    assert row(out, "colours right at best epoch") == ["25.0%"] * 2 and "accuracy" not in out
    assert drawn == ["colours right"] and "different tasks" not in out
    out = compared(blind[0], sighted)
    assert row(out, "best accuracy") == row(out, "last test accuracy") == ["-", "25.0%"]
    assert "different tasks, whose losses and accuracies cannot be compared: no curves are drawn" in out
    assert not drawn
    out = compared(sighted, other)
    assert "different tasks, whose losses and accuracies cannot be compared, since their classes" in out
    assert drawn == ["accuracy"]
    assert "different tasks" in go(compare, blind[0], sighted, "--json")[2]


def test_figures_are_those_of_the_metrics(go, trained, variant, tmp_path):
    records = [
        record(1, test_accuracy=0.5, test_loss=0.75),
        record(2, test_accuracy=0.25, test_loss=0.5, seconds=65),
    ]
    _, out, _ = go(compare, trained, variant("short", records=records), "--out", tmp_path / "c.png")
    of_trained = metrics(trained)
    best = max(r["val_accuracy"] for r in of_trained)
    assert row(out, "epochs done") == [str(len(of_trained)), "2"]
    assert row(out, "judged on") == ["validation", "images", "test", "images"]
    assert row(out, "best accuracy") == [f"{100 * best:.1f}%", "50.0%"]
    assert row(out, "loss at best epoch")[1] == "0.7500"
    assert row(out, "last accuracy") == [f"{100 * of_trained[-1]['val_accuracy']:.1f}%", "25.0%"]
    assert row(out, "last loss")[1] == "0.5000"
    assert row(out, "time")[1] == "1:05"


@pytest.mark.parametrize(
    ("accuracies", "losses", "epoch", "without_labels"),
    [
        ((0.5, 0.9, 0.7), (1.0, 1.0, 1.0), 2, 1),
        ((0.9, 0.9, 0.9), (0.5, 0.3, 0.4), 2, 2),  # of equals the lower loss
        ((0.9, 0.9, 0.9), (0.3, 0.3, 0.3), 1, 1),  # then the earlier one
        ((0.9, 0.9, 0.9), (None, None, None), 1, None),  # older runs have no test loss
        ((0.9, 0.9, 0.2), (float("nan"), 0.4, 0.1), 2, 3),
        ((None, 0.2, None), (0.1, 0.9, 0.1), 2, 1),
    ],
)
def test_of_equally_accurate_epochs_the_one_of_lower_loss_is_best(accuracies, losses, epoch, without_labels):
    pairs = enumerate(zip(accuracies, losses, strict=True), 1)
    records = [record(e, test_accuracy=a, test_loss=x) for e, (a, x) in pairs]
    assert compare.Run("run", {}, records).best["epoch"] == epoch
    blind = compare.Run("run", {"target": "pixels"}, records).best  # judged by the loss
    assert (blind and blind["epoch"]) == without_labels


def test_the_curves_of_all_runs_are_drawn(go, trained, variant, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(compare, "draw_comparison", lambda runs, path, _: drawn.append((runs, path)))
    _, out, _ = go(compare, trained, variant("other"), "--out", tmp_path / "c.png")
    [(runs, path)] = drawn
    assert [name for name, _ in runs] == ["trained", "other"]
    assert all(len(records) == len(metrics(trained)) for _, records in runs)
    assert path == tmp_path / "c.png"
    assert out.endswith(f"\nwrote {path}\n")


def test_without_out_the_picture_lies_in_the_current_folder(go, trained, variant, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert go(compare, trained, variant("other"))[1].endswith("wrote compare.png\n")
    with Image.open("compare.png") as picture:
        assert picture.format == "PNG"


def test_json_holds_settings_and_records(go, trained, variant, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    records = [record(1, train_loss=float("nan"), test_accuracy=0.5), record(2, test_accuracy=0.25)]
    other = variant("other", {"lr": 0.01}, records)
    status, out, err = go(compare, trained, other, "--json")
    assert (status, err) == (0, "")
    result = json.loads(out, parse_constant=pytest.fail)
    assert result["differing_settings"] == ["lr"]
    one, two = result["runs"]
    assert (one["run"], two["run"]) == (str(trained), str(other))
    assert (one["settings"], two["settings"]) == ({"lr": 0.003}, {"lr": 0.01})
    assert (one["judged_on"], two["judged_on"]) == ("validation", "test")
    assert two["best"] == records[0] | {"train_loss": None}
    assert two["last"] == records[1]
    assert not (tmp_path / "compare.png").exists()
    status, out, err = go(compare, trained, other, "--json", "--out", tmp_path / "c.png")
    assert json.loads(out) == result
    assert err == f"wrote {tmp_path / 'c.png'}\n"


def test_runs_of_the_same_name_are_told_apart_by_their_paths(go, trained, tmp_path):
    shutil.copytree(trained, tmp_path / "x" / trained.name)
    _, out, _ = go(compare, trained, tmp_path / "x" / trained.name, "--out", tmp_path / "c.png")
    assert len(set(out.splitlines()[0].split())) == 2


def test_a_run_that_has_not_finished_an_epoch_does_not_stop_the_others(go, trained, variant, tmp_path):
    fresh = variant("fresh")
    (fresh / "metrics.jsonl").unlink()
    status, out, _ = go(compare, fresh, trained, "--out", tmp_path / "c.png")
    assert status == 0
    assert row(out, "epochs done")[0] == "0"
    assert row(out, "best accuracy")[0] == "-"
    words = "no curves to draw", "finished an epoch"
    assert_one_line(go(compare, fresh, fresh, "--out", tmp_path / "d.png"), *words)


def test_what_cannot_be_compared_is_one_line(go, trained, variant, tmp_path):
    assert_one_line(go(compare, trained), "at least two runs")
    assert_one_line(go(compare, trained, tmp_path / "nothing"), "there is no folder", "nothing")
    assert_one_line(go(compare, trained, trained, "--out", tmp_path / "c.jpg"), "end in .png")
    damaged = variant("damaged")
    with open(damaged / "metrics.jsonl", "a", encoding="utf-8") as file:
        file.write('{"epoch": 9, "st')
    assert_one_line(go(compare, trained, damaged), "line 9", "metrics.jsonl", "is damaged")


def test_long_names_differ_in_the_table_wherever_they_differ(go, variant, tmp_path):
    names = [f"photos-of-birds-lr-0.00{i}-batch-32-seed-0" for i in (1, 2)]
    out = go(compare, *map(variant, names), "--out", tmp_path / "c.png")[1]
    assert out.splitlines()[0].split() == names
    ends = [f"{'photos-of-birds-of-all-kinds-' * 2}{i}" for i in (1, 2)]
    first, second = go(compare, *map(variant, ends), "--out", tmp_path / "c.png")[1].splitlines()[0].split()
    assert len(first) == len(second) == 31 and (first[-1], second[-1]) == ("1", "2")


@pytest.mark.skipif(os.name == "nt", reason="Windows allows no such names")
def test_a_terminal_obeys_no_name_and_no_setting(go, variant, tmp_path):
    one, other = variant("new\nline"), variant("other", {"data_dir": "x\x1b[31my"})
    out = go(compare, one, other, "--out", tmp_path / "c.png")[1]
    assert out.splitlines()[0].split() == ["new\\nline", "other"]
    assert row(out, "data dir")[-1] == "x\\x1b[31my"


def test_curves_are_drawn_before_a_reader_of_the_table_leaves(variant, tmp_path, monkeypatch):
    def leaves(*_, **__):
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", leaves)
    words = [variant("a"), variant("b"), "--out", tmp_path / "c.png"]
    args = compare.parser().parse_args([*map(str, words)])
    with pytest.raises(BrokenPipeError):
        compare.main(args)
    assert (tmp_path / "c.png").exists()
