"""The paper's model stands alone; every other part has one file, and edits the paper's lists."""

import ast
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import tinyvit
from tests.helpers import random_batch, tiny_config
from tinyvit.backend import array_module
from tinyvit.checking import MODEL_CHECKS, TOLERANCE
from tinyvit.checking.models import ModelCheck, random_params
from tinyvit.errors import UserError
from tinyvit.model import ViTConfig, cost, later, preset, stages
from tinyvit.model.later import PARTS, assemble, fields_known_to
from tinyvit.model.later.part import Part, instead
from tinyvit.model.paper_config import PaperConfig
from tinyvit.model.stage import stage
from tinyvit.objectives import loss_and_grads
from tinyvit.optim import AdamW

PACKAGE = Path(tinyvit.__file__).parent
PAPER = ("stage", "vit", "block", "last_block", "paper_config", "params", "distributions")


# The paper's path.


def imported_by(file):
    """The modules that a file imports anywhere."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_file_of_the_papers_model_imports_a_later_part():
    files = [PACKAGE / "model" / f"{name}.py" for name in PAPER] + sorted((PACKAGE / "ops").glob("*.py"))
    for file in files:
        assert not [name for name in imported_by(file) if "later" in name or name.endswith("model.config")]


def test_a_plain_step_enters_few_functions_and_no_later_part():
    """Numbers to keep small: raise them only for a reason that the commit gives."""
    config = preset("nano/4", 32, 10)
    params = tinyvit.model.initialise(config)
    grads, optimizer = params.zeros_like(), AdamW(params, weight_decay=0.05)
    images, labels = random_batch(config, 4, np.random.default_rng(0), "float32")
    entered = set()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            entered.add((Path(code.co_filename).relative_to(PACKAGE).as_posix(), code.co_firstlineno))

    sys.setprofile(note)
    try:
        loss_and_grads(config, params, images, labels, grads)
        optimizer.step(grads, 1e-3, 1)
    finally:
        sys.setprofile(None)
    files = {file for file, _ in entered}
    assert not [file for file in files if "later" in file]
    assert len(files) <= 20 and len(entered) <= 62
    assert sum(lines_of_code(PACKAGE / file) for file in files) <= 790


def lines_of_code(file):
    """The lines of a file that are neither blank, nor comments, nor part of a docstring."""
    text = file.read_text()
    documented = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            documented |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and line.strip()[0] != "#" and n not in documented for n, line in lines)


# The other parts.


def test_every_field_beyond_the_papers_belongs_to_a_part_and_has_the_papers_value_by_default():
    plain = tiny_config()
    own = {field.name for field in fields(ViTConfig)} - {field.name for field in fields(PaperConfig)}
    theirs = {name: value for part in PARTS for name, value in part.fields.items()}
    assert own - theirs.keys() == {"resnet_width", "resnet_groups", "resnet_form", "parts"}
    assert {name: getattr(plain, name) for name in theirs} == theirs
    assert not [part for part in PARTS if part.is_in(plain)]


def test_every_part_is_in_a_model_whose_gradients_are_checked():
    configs = [check.config for check in MODEL_CHECKS]
    only_in_texts = {"causal"}
    missing = [p.fields for p in PARTS if not any(p.is_in(c) for c in configs)]
    assert [fields for fields in missing if fields.keys() != only_in_texts] == []


def test_engines_and_formats_are_named_for_fields_that_parts_have():
    for part in PARTS:
        assert part.known_to.keys() <= part.fields.keys()
        assert set(" ".join(part.known_to.values()).split()) <= {
            "cpu",
            "cuda",
            "onnx",
            "timm",
            "page",
            "plain",
        }
    assert fields_known_to("cuda") == {"class_token", "registers", "position_on", "rotary"}
    assert fields_known_to("plain") == {"layer_scale", "qkv_bias", "position_on"}


# A part of one's own: RMSNorm (Zhang and Sennrich 2019) in the place of every LayerNorm.


def rms_norm(x, weight, bias, eps):
    xp = array_module(x)
    r = 1 / xp.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return x * r * weight + bias, (x, r, weight)


def rms_norm_backward(dy, cache):
    x, r, weight = cache
    n, g, rows = x * r, dy * weight, tuple(range(dy.ndim - 1))
    return r * (g - n * (g * n).mean(axis=-1, keepdims=True)), (dy * n).sum(axis=rows), dy.sum(axis=rows)


def rms_norms(config, place, items, step):
    for name in ("norm1", "norm2", "norm"):
        found = [each for each in items if each.name.split(".")[-1] == name]
        if found:
            norm = stage(found[0].name, rms_norm, rms_norm_backward, config.eps)
            items = instead(items, name, norm)
    return items


@pytest.fixture
def own_part(monkeypatch):
    parts = (*PARTS, Part({}, rms_norms, name="rms_norm"))
    for module in (later, assemble, cost):
        monkeypatch.setattr(module, "PARTS", parts)


def test_a_part_of_ones_own_trains_is_saved_and_loaded(own_part, tmp_path):
    config = tiny_config(image_size=(4, 8), width=6, heads=2, mlp_width=7, classes=3, parts=("rms_norm",))
    errors = ModelCheck("RMSNorm", config).errors(seed=1)
    assert max(errors.values()) < TOLERANCE
    plain = tiny_config(image_size=(4, 8), width=6, heads=2, mlp_width=7, classes=3)
    rng = np.random.default_rng(0)
    model = tinyvit.Model(config, random_params(config, rng, "float32"))
    images, labels = rng.integers(0, 256, (12, 4, 8, 3), dtype=np.uint8), np.arange(12) % 3
    before = model.logits(images)
    assert np.abs(before - tinyvit.Model(plain, model.params).logits(images)).max() > 1e-3
    model.save(tmp_path / "own.npz")
    np.testing.assert_array_equal(tinyvit.load(tmp_path / "own.npz").logits(images), before)
    model.fit(images, labels, epochs=60, batch_size=12, lr=0.01)
    assert model.score(images, labels) > 0.8
    with pytest.raises(UserError, match="rms_norm"):
        model.save(tmp_path / "own.onnx")


def test_a_part_that_does_not_exist_is_refused():
    with pytest.raises(UserError, match="there is no part 'rms_norm': see PARTS"):
        tiny_config(parts=["rms_norm"])


def test_the_last_block_is_the_papers_wherever_no_part_edits_it():
    for changes in ({"pool": "mean"}, {"position": "2d"}, {"registers": 2}, {"pre_logits": 5}):
        names = [
            type(each.forward).__name__ + each.forward.__qualname__ for each in stages(tiny_config(**changes))
        ]
        assert not [name for name in names if "later_block" in name]
