"""The derivations in the docstring of a library file stand in full in its lesson, with the same numbers."""

import re
from collections import defaultdict
from pathlib import Path

from tests.lessons.course import ROOT

# Which lesson derives the equations of a file. Every file in tinyvit/ops must be here.
DERIVED_IN = {
    "tinyvit/ops/softmax.py": "01_softmax_cross_entropy",
    "tinyvit/ops/cross_entropy.py": "01_softmax_cross_entropy",
    "tinyvit/ops/linear.py": "03_linear",
    "tinyvit/ops/gelu.py": "04_gelu_mlp",
    "tinyvit/ops/erf.py": "04_gelu_mlp",
    "tinyvit/ops/mlp.py": "04_gelu_mlp",
    "tinyvit/ops/layer_norm.py": "07_layer_norm",
    "tinyvit/ops/patches.py": "05_patches",
    "tinyvit/ops/embedding.py": "05_patches",
    "tinyvit/ops/attention.py": "06_attention",
    "tinyvit/model/block.py": "08_vit",
    "tinyvit/optim/sgd.py": "09_optimisers",
    "tinyvit/optim/adam.py": "09_optimisers",
    "tinyvit/optim/clip.py": "09_optimisers",
    "tinyvit/optim/schedule.py": "09_optimisers",
    "tinyvit/ops/dropout.py": "12_data",
    "tinyvit/ops/drop_path.py": "12_data",
    "tinyvit/insight/filters.py": "14_look_inside",
    "tinyvit/insight/positions.py": "14_look_inside",
    "tinyvit/ops/resize.py": "17_pretrained",
    "tinyvit/insight/few_shot.py": "18_transfer",
    "tinyvit/ops/windows.py": "19_convolution",
    "tinyvit/ops/convolution.py": "19_convolution",
    "tinyvit/ops/relu.py": "19_convolution",
    "tinyvit/ops/max_pool.py": "19_convolution",
    "tinyvit/ops/group_norm.py": "20_hybrids",
    "tinyvit/ops/weight_standardisation.py": "20_hybrids",
    "tinyvit/model/later/resnet.py": "20_hybrids",
    "tinyvit/ops/corruption.py": "23_masked_patches",
    "tinyvit/ops/squared_error.py": "23_masked_patches",
    "tinyvit/ops/position_tables.py": "21_positions",
    "tinyvit/ops/relative_scores.py": "21_positions",
    "tinyvit/ops/rotary.py": "22_rotary",
}
WITHOUT_EQUATIONS = {"tinyvit/ops/__init__.py", "tinyvit/ops/noise.py"}
# Derived in their own docstrings: no lesson has these operations of other ViTs.
OTHERS = ("gate", "layer_scale", "attention_pool", "relative_bias", "merging", "pooling", "tanh")
WITHOUT_LESSON = {f"tinyvit/ops/{name}.py" for name in OTHERS}


def test_every_operation_is_derived_in_a_lesson_with_the_same_equation_numbers():
    files = {str(path.relative_to(ROOT).as_posix()) for path in (ROOT / "tinyvit/ops").glob("*.py")}
    assert files - set(DERIVED_IN) == WITHOUT_EQUATIONS | WITHOUT_LESSON
    shared = defaultdict(list)
    for file, lesson in DERIVED_IN.items():
        shared[lesson].append(file)
    for file, lesson in DERIVED_IN.items():
        docstring = (ROOT / file).read_text("utf-8").split('"""')[1]
        numbers = set(re.findall(r" \((\d+)\)$", docstring, re.M))
        assert numbers, file
        prefix = f"{Path(file).stem} ".replace("_", " ") if len(shared[lesson]) > 1 else ""
        text = (ROOT / "lessons" / lesson / "README.md").read_text("utf-8")
        missing = {n for n in numbers if rf"\tag{{{prefix}{n}}}" not in text}
        assert not missing, f"{lesson} lacks equations {sorted(missing)} of {file} (as \\tag{{{prefix}N}})"


def test_comments_in_the_operations_refer_to_equations_that_exist():
    for path in [*(ROOT / "tinyvit/ops").glob("*.py"), *(ROOT / "tinyvit/optim").glob("*.py")]:
        _, docstring, code = path.read_text("utf-8").split('"""', 2)
        numbers = set(re.findall(r" \((\d+)\)$", docstring, re.M))
        for reference in re.findall(r"# .*?eqs?\. ([\d, ]+)", code):
            assert {n.strip() for n in reference.split(",")} <= numbers, f"{path.name}: eq. {reference}"
