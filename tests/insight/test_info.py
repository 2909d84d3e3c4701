"""The command `python -m tinyvit.info`, and the text it prints."""

from dataclasses import replace

import pytest

import tinyvit
from tests.tiny_runs import assert_one_line, enter
from tinyvit import info
from tinyvit.insight.summary import presets_table, summary, usual_name
from tinyvit.model import OFFICIAL, SMALL, initialise, is_preset, preset
from tinyvit.model.cost import multiply_adds, parameter_count
from tinyvit.training.run_folder import RunFolder
from tinyvit.training.settings import Settings
from tinyvit.weights.checkpoint import Checkpoint, save_checkpoint
from tinyvit.weights.known import KNOWN
from tinyvit.weights.save import save_official


@pytest.fixture
def go(capsys, monkeypatch):
    return lambda *argv: enter(info, capsys, monkeypatch, *argv)


def test_without_a_model_all_presets_stand_beside_the_paper(go):
    status, out, err = go()
    assert (status, err) == (0, "")
    rows = {line.split()[0]: line.split() for line in out.splitlines()[2:-3]}
    assert list(rows) == [usual_name(name) for name in (*SMALL, *OFFICIAL)]
    assert rows["B/16"] == ["B/16", "224", "1000", "12", "768", "3072", "12", "86.57", "86", "17.564"]
    assert rows["nano/4"] == ["nano/4", "32", "10", "4", "64", "128", "4", "0.14", "-", "0.011"]
    assert out == presets_table() + "\n"


def test_a_preset_is_described(go):
    status, out, err = go("vit-b_16")
    assert (status, err) == (0, "")
    assert out.startswith("B/16\n")
    for part in (
        "224 x 224 pixels",
        "197",
        "12 heads of width 64",
        "86,567,656",
        "346 MB",
        "17.6 G",
        "52.7 G",
    ):
        assert part in out, part


@pytest.mark.parametrize(
    ("label", "changes", "said"),
    [
        ("classes", {}, "10"),
        ("classes", {"classes": 1}, "none: it has no head"),
        ("classes", {"predicts": "patches"}, "none: it predicts 10 numbers for each patch"),
        (
            "classes",
            {"predicts": "embedding"},
            "none: it maps images to 10 numbers, as its text side does with texts",
        ),
        ("tokens", {"pool": "mean", "class_token": False}, "64"),
        (
            "tokens",
            {"merge_after": 1},
            "65, including the class token; 17 after 1 block, where 2 x 2 patches are merged",
        ),
        ("arithmetic", {"predicts": "patches"}, "tanh GELU, epsilon 1e-06, a head for every patch"),
        ("tokens", {"registers": 1}, "66, including the class token and 1 register"),
        ("tokens", {"pool": "distilled"}, "66, including the class token and one for distillation"),
    ],
)
def test_a_model_that_has_something_else_says_so(label, changes, said):
    config = replace(preset("nano/4", 32, 10), **changes)
    assert f"\n{label:20}{said}\n" in summary(config, "a model")


@pytest.mark.parametrize("flags", [(), ("--image-size", "384"), ("--classes", "10")])
def test_the_table_adds_up_to_all_parameters(go, flags):
    _, out, _ = go("B/16", *flags)
    rows = [line.split("  ") for line in out[out.index("parameter  ") :].splitlines()[1:]]
    total, layers = 0, int(out.split("blocks.i, ")[1].split()[0])
    for row in rows[:-1]:
        if not row[0].startswith("blocks.i"):
            total += int(row[-1].replace(",", "")) * (layers if row[0] == "" else 1)
    assert total == int(rows[-1][-1].replace(",", ""))
    size, classes = (384 if "--image-size" in flags else 224), (10 if "--classes" in flags else 1000)
    assert total == parameter_count(preset("B/16", size, classes))


@pytest.fixture
def model():
    config = preset("nano/8", 16, 3)
    return config, initialise(config)


def test_a_file_and_a_run_are_described(go, model, tmp_path):
    config, params = model
    save_official(tmp_path / "a.npz", config, params)
    run = RunFolder(tmp_path / "run")
    run.create(Settings(dataset="shapes", model="nano/8"), config, ("a", "b", "c"), params.count)
    save_checkpoint(run.best_path, Checkpoint(config, params))
    for source in (tmp_path / "a.npz", run.path, run.best_path):
        assert go(source) == (0, summary(config, str(source)) + "\n", "")
    assert go(run.path, "--classes", "7")[1] == summary(preset("nano/8", 16, 7), str(run.path)) + "\n"


def test_a_new_head_is_described_as_it_will_be(go, tmp_path):
    model = tinyvit.preset("nano/8", 16, 6, predicts="embedding", head_bias=False, pre_logits=5)
    model.save(tmp_path / "a.npz")
    expected = summary(model.with_new_head(7).config, str(tmp_path / "a.npz"))
    assert go(tmp_path / "a.npz", "--classes", "7") == (0, expected + "\n", "")


def test_images_too_large_for_the_kernels_leave_out_what_a_gpu_takes(go):
    status, out, err = go("nano/4", "--image-size", "8000")
    assert (status, err) == (0, "") and "8000 x 8000 pixels" in out and "GPU" not in out


def test_mistakes_are_one_line(go, tmp_path):
    assert_one_line(go("huge/4"), "huge/4 is not a model", "SIZE/PATCH", "Ti_16-384")
    assert_one_line(go("mini/7"), "patches of 7 x 7 do not divide")
    assert_one_line(go(tmp_path / "a.npz"), "a.npz")
    assert_one_line(go(tmp_path), "not a run folder")
    assert_one_line(go("--classes", "3"), "give one")
    assert_one_line(go("B/16", "--image-size", "0"), "--image-size")


def test_nothing_is_downloaded_for_what_is_a_preset_too(go, monkeypatch):
    monkeypatch.setattr("tinyvit.weights.known.download", lambda *args: pytest.fail("downloads"))
    both = [name for name in KNOWN if is_preset(name)]
    assert "ViT-B_16" in both
    for name in both:
        assert go(name)[0] == 0


def test_heads_belong_to_a_file(go, tmp_path):
    assert_one_line(go("B/16", "--heads", "7"), "fixed number of heads")
    assert_one_line(go("--heads", "7"), "--heads need a MODEL")


def test_a_model_without_a_head_and_its_arithmetic(go, tmp_path):
    config = preset("nano/4", 8, 1, pool="mean", pre_logits=5)
    save_official(tmp_path / "a.npz", config, initialise(config))
    _, out, _ = go(tmp_path / "a.npz")
    assert "none: it has no head" in out
    assert "tanh GELU, epsilon 1e-06, mean of the patches, pre_logits 5" in out


def test_a_hybrid_is_described_with_its_resnet(go):
    status, out, err = go("R50+ViT-B_16")
    assert (status, err) == (0, "")
    assert out.startswith("R50+B/16\n")
    for part in ("14 x 14 patches of 16 x 16", "3, 4, 9 units", "14 x 14 has 1,024 channels", "98,659,112"):
        assert part in out, part


def test_an_epoch_costs_three_forward_passes_of_each_image():
    assert 3 * multiply_adds(preset("B/16", 224, 1000)) * 1_281_167 / 1e12 / 3600 == pytest.approx(
        18.75, abs=0.01
    )
    text = summary(preset("B/16", 224, 1000), "B/16")
    assert "training, an image  52.7 G" in text and "ImageNet, an epoch  67.5 P: 18.8 hours" in text
