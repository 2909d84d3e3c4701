"""The paper's model stands alone; every other part has one file, and edits the paper's lists."""

import ast
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import tinyvit
from tests.helpers import random_batch, tiny_config
from tinyvit import ops
from tinyvit.backend import array_module
from tinyvit.gradcheck import MODEL_CHECKS, TOLERANCE
from tinyvit.gradcheck.models import ModelCheck, random_params
from tinyvit.model import ViTConfig, cost, distributions, later, layout, preset, stages
from tinyvit.model.config import LATER_PARTS
from tinyvit.model.later import PARTS, assemble, fields_known_to
from tinyvit.model.later.part import Part, Place, instead
from tinyvit.model.layout import ParamSpec, linear_specs
from tinyvit.model.paper_config import PaperConfig
from tinyvit.model.stage import infer_through, stage
from tinyvit.objectives import loss_and_grads
from tinyvit.optim import AdamW
from tinyvit.support.errors import UserError

PACKAGE = Path(tinyvit.__file__).parent
PAPER = ("stage", "vit", "block", "paper_config", "params", "distributions")


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
    assert len(files) <= 19 and len(entered) <= 62
    assert sum(lines_of_code(PACKAGE / file) for file in files) <= 787


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


def test_a_place_names_its_block():
    assert (Place("stem").prefix, Place("mlp", 3).prefix) == ("", "blocks.3.")


def test_a_file_of_the_paper_has_no_later_field():
    assert tiny_config().as_dict().keys().isdisjoint({*LATER_PARTS, "parts"})


def test_every_part_is_in_a_model_whose_gradients_are_checked():
    configs = [check.config for check in MODEL_CHECKS]
    only_in_texts = {"causal"}
    missing = [part for part in PARTS if not any(part.is_in(config) for config in configs)]
    assert [part.name or part.fields for part in missing if part.fields.keys() != only_in_texts] == []


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
    assert fields_known_to("plain") == {"layer_scale", "qkv_bias", "position_on", "patch_dropout"}


# Parts of one's own: RMSNorm (Zhang and Sennrich 2019) in the place of every LayerNorm, and a gate on the MLP
# that mixes the tokens (squeeze and excitation, Hu et al. 2018).


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


def squeeze(x, weight1, bias1, weight2, bias2):
    h, mlp = ops.mlp(x.mean(axis=1), weight1, bias1, weight2, bias2)
    g = 1 / (1 + array_module(x).exp(-h[:, None]))  # (B, 1, D)
    return x * g, (x, g, mlp)


def squeeze_backward(dy, cache):
    x, g, mlp = cache
    dh = ((dy * x).sum(axis=1, keepdims=True) * g * (1 - g))[:, 0]
    dmean, *dparams = ops.mlp_backward(dh, mlp)
    return dy * g + dmean[:, None] / x.shape[1], *dparams


def squeezes(config, place, stages, step):
    return [*stages, stage(f"{place.prefix}squeeze", squeeze, squeeze_backward)]


def squeeze_specs(config, place, specs):
    name, D, init = f"{place.prefix}squeeze", config.width, distributions.xavier_uniform
    fc1 = linear_specs(f"{name}.fc1", D, 2, init, hidden=True)
    return [*specs, *fc1, *linear_specs(f"{name}.fc2", 2, D, init, hidden=True)]


OWN = (
    Part(name="rms_norm", stages=dict.fromkeys(("attention", "mlp", "readout"), rms_norms)),
    Part(name="squeeze", stages={"mlp": squeezes}, specs={"block": squeeze_specs}, needs_all_tokens=True),
    Part(name="misnamed", specs={"block": lambda config, place, specs: [*specs, ParamSpec("gain", (1,))]}),
)
SMALL = {"image_size": (4, 8), "width": 6, "heads": 2, "mlp_width": 7, "classes": 3}


@pytest.fixture
def own_parts(monkeypatch):
    for module in (later, assemble, cost):
        monkeypatch.setattr(module, "PARTS", (*PARTS, *OWN))


@pytest.mark.parametrize("name", ["rms_norm", "squeeze"])
def test_a_part_of_ones_own_trains_is_saved_and_loaded(name, own_parts, tmp_path):
    config = tiny_config(**SMALL, parts=(name,))
    errors = ModelCheck(name, config).errors(seed=1)
    assert max(errors.values()) < TOLERANCE
    rng = np.random.default_rng(0)
    model = tinyvit.Model(config, random_params(config, rng, "float32"))
    images, labels = rng.integers(0, 256, (12, 4, 8, 3), dtype=np.uint8), np.arange(12) % 3
    before = model.logits(images)
    plain = tiny_config(**SMALL)
    without = tinyvit.Model(plain, model.params.copy_to(layout(plain), ()))
    assert np.abs(before - without.logits(images)).max() > 1e-3
    model.save(tmp_path / "own.npz")
    np.testing.assert_array_equal(tinyvit.load(tmp_path / "own.npz").logits(images), before)
    model.fit(images, labels, epochs=60, batch_size=12, lr=0.01)
    assert model.score(images, labels) > 0.8
    for file, kind in (("a.onnx", None), ("a.safetensors", None), ("a", "timm"), ("a.npz", "official")):
        with pytest.raises(UserError, match=name) as refusal:
            model.save(tmp_path / file, kind)
        assert "write an .onnx file" not in str(refusal.value)


def test_a_part_that_needs_all_tokens_has_them_in_the_last_block(own_parts):
    """The check of the gradients would not notice: they are right for what is computed."""
    config = tiny_config(**SMALL, parts=("squeeze",))
    params, rng = random_params(config, np.random.default_rng(1)), np.random.default_rng(2)
    x = rng.standard_normal((2, *config.image_size, 3))
    whole = infer_through(stages(config, all_tokens=True), params, x)
    np.testing.assert_allclose(tinyvit.model.infer(config, params, x), whole, rtol=1e-12)
    assert config.tokens_needed_after(config.layers - 1) is None
    assert tiny_config(parts=("rms_norm",)).tokens_needed_after(config.layers - 1) == 1


def test_a_parameter_has_a_name_that_says_where_it_is(own_parts):
    """Otherwise all blocks would share it, and it would be frozen with the stem."""
    with pytest.raises(UserError, match="'gain' does not name a parameter of the block"):
        layout(tiny_config(parts=("misnamed",)))


def test_parts_that_do_not_exist_are_refused():
    with pytest.raises(UserError, match="there is no part 'rms_norm': see PARTS"):
        tiny_config(parts=["rms_norm"])
    for wrong in ("rms_norm", None, [["rms_norm"]]):
        with pytest.raises(UserError, match="expected names, as in"):
            tiny_config(parts=wrong)


def test_the_last_block_is_the_papers_wherever_no_part_edits_it():
    for changes in ({"pool": "mean"}, {"position": "2d"}, {"registers": 2}, {"pre_logits": 5}):
        names = [
            type(each.forward).__name__ + each.forward.__qualname__ for each in stages(tiny_config(**changes))
        ]
        assert not [name for name in names if "later_block" in name]
